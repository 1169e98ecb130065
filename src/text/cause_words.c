// SPDX-License-Identifier: MIT
#include "text/cause_words.h"

#include <inttypes.h>
#include <time.h>

#include "base/buffer.h"
#include "base/units.h"
#include "text/format.h"
#include "text/json.h"
#include "wire/cause.h"

void cunei_cause_words_format_place(const struct cunei_cause *cause,
                                    struct cunei_buffer *out)
{
    cunei_buffer_append_text(out, cause->function);
    if (cause->function[0] && cause->line > 0)
        cunei_buffer_format(out, ", line %" PRIu32, cause->line);
}

void cunei_cause_words_format(const struct cunei_cause *cause, struct cunei_buffer *out)
{
    cunei_buffer_format(out, "%s: %s", cause->trigger, cause->what);
    if (cause->function[0]) {
        cunei_buffer_append_text(out, " in ");
        cunei_cause_words_format_place(cause, out);
    }
    if (cause->thread_name[0])
        cunei_buffer_format(out, ", in thread %s", cause->thread_name);
    else if (cause->thread > 0)
        cunei_buffer_format(out, ", in thread %" PRIu32, cause->thread);
    if (cause->count > 1) {
        cunei_buffer_append_text(out, ", and ");
        cunei_format_count(out, cause->count - 1);
        cunei_buffer_append_text(out, cause->count > 2 ? " more times" : " more time");
    }
}

void cunei_cause_words_format_time(uint64_t wall_ns, struct cunei_buffer *out)
{
    time_t seconds = (time_t)(wall_ns / CUNEI_NS_PER_S);
    struct tm local = {0};
    char text[16] = "";

    (void)localtime_r(&seconds, &local);
    if (strftime(text, sizeof(text), "%T", &local) > 0)
        cunei_buffer_format(out, "%s.%03u", text,
                            (unsigned)(wall_ns % CUNEI_NS_PER_S / CUNEI_NS_PER_MS));
}

static void put_text_or_null(struct cunei_json *json, const char *key, const char *text)
{
    if (text[0])
        cunei_json_text(json, key, text);
    else
        cunei_json_raw(json, key, "null");
}

void cunei_cause_words_put(const struct cunei_cause *cause, struct cunei_json *json)
{
    cunei_json_text(json, "trigger", cause->trigger);
    cunei_json_number(json, "time_ns", cause->time_ns);
    cunei_json_text(json, "what", cause->what);
    cunei_json_number(json, "value", cause->value);
    cunei_json_number(json, "count", cause->count);
    cunei_json_number_or_null(json, "tid", cause->thread > 0, cause->thread);
    put_text_or_null(json, "thread", cause->thread_name);
    put_text_or_null(json, "function", cause->function);
    cunei_json_number_or_null(json, "line", cause->line > 0, cause->line);
}
