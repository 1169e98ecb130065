// SPDX-License-Identifier: MIT
#include "cmd/info_causes.h"

#include "base/buffer.h"
#include "base/text.h"
#include "text/cause_words.h"
#include "text/json.h"
#include "wire/process.h"

void cunei_info_causes_put(struct cunei_buffer *out,
                           const struct cunei_process *description)
{
    struct cunei_buffer words = {0};

    for (size_t i = 0; i < description->cause_count; i++) {
        cunei_buffer_clear(&words);
        cunei_cause_words_format(&description->causes[i], 0, &words);
        cunei_buffer_format(out, "\n  %-10s", "trigger");
        cunei_text_show(out, cunei_buffer_text(&words), words.size);
        out->failed |= words.failed;
    }
    cunei_buffer_fini(&words);
}

void cunei_info_causes_put_json(struct cunei_json *json,
                                const struct cunei_process *description)
{
    cunei_json_open(json, "causes", '[');
    for (size_t i = 0; i < description->cause_count; i++) {
        cunei_json_open(json, NULL, '{');
        cunei_cause_words_put(&description->causes[i], json);
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
}
