// SPDX-License-Identifier: MIT
#include "text/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define FLUSH_SIZE ((size_t)64 * 1024)

static void flush(struct cunei_json *json)
{
    json->failed |= json->text.failed;
    if (json->text.size > 0)
        (void)fwrite(json->text.data, 1, json->text.size, json->out);
    cunei_buffer_clear(&json->text);
}

static void begin(struct cunei_json *json, const char *key, bool has_parts)
{
    if (json->text.size > FLUSH_SIZE)
        flush(json);
    if (json->begun)
        cunei_buffer_append_text(&json->text, ",");
    /* Objects and arrays in the outermost lists begin on a new line. */
    if (!json->is_line && (json->depth == 1 || (json->depth == 2 && !key && has_parts)))
        cunei_buffer_append_text(&json->text, "\n");
    if (key) {
        cunei_text_json(&json->text, key, strlen(key));
        cunei_buffer_append_text(&json->text, ":");
    }
    json->begun = true;
}

static void begin_value(struct cunei_json *json, const char *key)
{
    begin(json, key, false);
}

void cunei_json_open(struct cunei_json *json, const char *key, char bracket)
{
    begin(json, key, true);
    cunei_buffer_append(&json->text, &bracket, 1);
    json->begun = false;
    json->depth++;
}

void cunei_json_close(struct cunei_json *json, char bracket)
{
    json->depth--;
    if (json->depth == 0 && !json->is_line)
        cunei_buffer_append_text(&json->text, "\n");
    cunei_buffer_append(&json->text, &bracket, 1);
    json->begun = true;
}

void cunei_json_number(struct cunei_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    cunei_buffer_format(&json->text, "%" PRIu64, value);
}

/* JSON has no infinity and no NaN. */
void cunei_json_number_or_null(struct cunei_json *json, const char *key, bool is_known,
                               uint64_t value)
{
    if (is_known)
        cunei_json_number(json, key, value);
    else
        cunei_json_text(json, key, NULL);
}

void cunei_json_real(struct cunei_json *json, const char *key, double value)
{
    begin_value(json, key);
    if (isfinite(value))
        cunei_buffer_format(&json->text, "%.6g", value);
    else
        cunei_buffer_append_text(&json->text, "null");
}

void cunei_json_count(struct cunei_json *json, const char *key, double value)
{
    begin_value(json, key);
    cunei_buffer_format(&json->text, "%.15g", value);
}

void cunei_json_flag(struct cunei_json *json, const char *key, bool value)
{
    begin_value(json, key);
    cunei_buffer_append_text(&json->text, value ? "true" : "false");
}

void cunei_json_text(struct cunei_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    if (value)
        cunei_text_json(&json->text, value, strlen(value));
    else
        cunei_buffer_append_text(&json->text, "null");
}

void cunei_json_texts(struct cunei_json *json, const char *key, char *const *values,
                      size_t count)
{
    cunei_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        cunei_json_text(json, NULL, values[i]);
    cunei_json_close(json, ']');
}

void cunei_json_raw(struct cunei_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    cunei_buffer_append_text(&json->text, value);
}

int cunei_json_end(struct cunei_json *json)
{
    cunei_buffer_append_text(&json->text, "\n");
    flush(json);
    cunei_buffer_fini(&json->text);
    return json->failed ? -ENOMEM : 0;
}
