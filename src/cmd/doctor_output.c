// SPDX-License-Identifier: MIT
#include "cmd/doctor_output.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/text.h"
#include "text/json.h"

static const char *const state_names[] = {"ok", "note", "missing", "bad"};

void cunei_doctor_output_begin(struct cunei_doctor_output *output)
{
    if (!output->json)
        return;
    cunei_json_open(output->json, NULL, '{');
    cunei_json_number(output->json, "version", 1);
    cunei_json_text(output->json, "cunei", CUNEI_VERSION);
    cunei_json_open(output->json, "checks", '[');
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

static void put_json(struct cunei_json *json, const char *name,
                     const struct cunei_finding *finding)
{
    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "name", name);
    cunei_json_text(json, "state", state_names[finding->state]);
    cunei_json_text(json, "text", cunei_buffer_text(&finding->text));
    cunei_json_text(json, "advice", cunei_buffer_text(&finding->advice));
    cunei_json_close(json, '}');
}

void cunei_doctor_output_add(struct cunei_doctor_output *output, const char *name,
                             struct cunei_finding *finding)
{
    output->is_bad |= finding->state == CUNEI_FINDING_BAD;
    if (output->json)
        put_json(output->json, name, finding);
    else
        print_row(output, name, finding);
    cunei_buffer_fini(&finding->text);
    cunei_buffer_fini(&finding->advice);
}

int cunei_doctor_output_end(struct cunei_doctor_output *output, const char *verdict)
{
    struct cunei_json *json = output->json;

    if (json) {
        cunei_json_close(json, ']');
        if (output->doctor)
            cunei_doctor_put_json(output->doctor, json);
        cunei_json_flag(json, verdict, !output->is_bad);
        cunei_json_close(json, '}');
        (void)cunei_json_end(json);
    }
    return output->is_bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
