// SPDX-License-Identifier: MIT
#include "cmd/doctor_output.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/text.h"

static const char *const state_names[] = {"ok", "note", "missing", "bad"};

void cunei_doctor_output_begin(struct cunei_doctor_output *output)
{
    cunei_buffer_format(&output->json, "{\"version\":1,\"cunei\":\"%s\",\"checks\":[",
                        CUNEI_VERSION);
}

static void print_row(const struct cunei_doctor_output *output, const char *name,
                      const struct cunei_finding *finding)
{
    struct cunei_version_limit limit = {0};
    struct cunei_buffer text = {0}, advice = {0};

    cunei_text_show(&text, cunei_buffer_text(&finding->text), finding->text.size);
    cunei_text_show(&advice, cunei_buffer_text(&finding->advice), finding->advice.size);
    printf("%-12s %-8s %s\n", name, state_names[finding->state],
           cunei_buffer_text(&text));
    while (finding->lists_limits && cunei_doctor_next_limit(output->doctor, &limit))
        printf("%-21s · %s\n", "", limit.text);
    if (advice.size)
        printf("%-21s → %s\n", "", advice.data);
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&advice);
}

static void add_json(struct cunei_buffer *json, const char *name,
                     const struct cunei_finding *finding)
{
    const struct cunei_buffer *texts[] = {&finding->text, &finding->advice};
    static const char *const keys[] = {"text", "advice"};

    cunei_buffer_format(json, "%s{\"name\":\"%s\",\"state\":\"%s\"",
                        json->data[json->size - 1] == '[' ? "" : ",", name,
                        state_names[finding->state]);
    for (size_t i = 0; i < 2; i++) {
        cunei_buffer_format(json, ",\"%s\":", keys[i]);
        cunei_text_json(json, cunei_buffer_text(texts[i]), texts[i]->size);
    }
    cunei_buffer_append_text(json, "}");
}

void cunei_doctor_output_add(struct cunei_doctor_output *output, const char *name,
                             struct cunei_finding *finding)
{
    output->is_bad |= finding->state == CUNEI_FINDING_BAD;
    if (output->as_json && !output->json.failed)
        add_json(&output->json, name, finding);
    else if (!output->as_json)
        print_row(output, name, finding);
    cunei_buffer_fini(&finding->text);
    cunei_buffer_fini(&finding->advice);
}

int cunei_doctor_output_end(struct cunei_doctor_output *output, const char *verdict)
{
    struct cunei_buffer *json = &output->json;

    cunei_buffer_append_text(json, "]");
    if (output->doctor)
        cunei_doctor_put_json(output->doctor, json);
    cunei_buffer_format(json, ",\"%s\":%s}", verdict,
                        output->is_bad ? "false" : "true");
    if (output->as_json)
        puts(json->failed ? "{}" : json->data);
    cunei_buffer_fini(json);
    return output->is_bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
