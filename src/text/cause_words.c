// SPDX-License-Identifier: MIT
#include "text/cause_words.h"

#include <inttypes.h>
#include <stdbool.h>
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

/* The time of day, in the local time zone, to the millisecond. */
static void put_time(uint64_t wall_ns, struct cunei_buffer *out)
{
    time_t seconds = (time_t)(wall_ns / CUNEI_NS_PER_S);
    struct tm local = {0};
    char text[16] = "";

    (void)localtime_r(&seconds, &local);
    if (strftime(text, sizeof(text), "%T", &local) > 0)
        cunei_buffer_format(out, ", at %s.%03u", text,
                            (unsigned)(wall_ns % CUNEI_NS_PER_S / CUNEI_NS_PER_MS));
}

static void put_thread(const struct cunei_cause *cause, uint32_t pid,
                       struct cunei_buffer *out)
{
    bool has_thread = cause->thread_name[0] || cause->thread > 0;

    if (cause->thread_name[0])
        cunei_buffer_format(out, ", thread %s", cause->thread_name);
    else if (has_thread)
        cunei_buffer_format(out, ", thread %" PRIu32, cause->thread);
    if (pid > 0)
        cunei_buffer_format(out, "%s process %" PRIu32, has_thread ? " of" : ",", pid);
}

void cunei_cause_words_format(const struct cunei_cause *cause, uint32_t pid,
                              struct cunei_buffer *out)
{
    cunei_buffer_format(out, "%s: %s", cause->trigger, cause->what);
    if (cause->function[0]) {
        cunei_buffer_append_text(out, " in ");
        cunei_cause_words_format_place(cause, out);
    }
    put_thread(cause, pid, out);
    put_time(cause->time_ns, out);
    if (cause->count > 1) {
        cunei_buffer_append_text(out, ", and ");
        cunei_format_several(out, cause->count - 1, "more time");
    }
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
