// SPDX-License-Identifier: MIT
/* Any bytes as text of each kind, and back. */
#include <stdbool.h>

#include "base/buffer.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "fuzz.h"
#include "text/redact.h"
#include "wellformed.h"

static void check_same(struct cunei_buffer *out, size_t length, const uint8_t *data,
                       size_t size)
{
    FUZZ_CHECK(length == size && (size == 0 || memcmp(out->data, data, size) == 0));
    cunei_buffer_fini(out);
}

static void check_quotes(const uint8_t *data, size_t size)
{
    struct cunei_buffer out = {0};

    cunei_text_quote(&out, (const char *)data, size);
    FUZZ_CHECK(!out.failed);
    for (size_t i = 0; i < out.size; i++)
        FUZZ_CHECK((unsigned char)out.data[i] > ' ' && out.data[i] != 0x7f);
    check_same(&out, cunei_text_unquote(out.data, out.size), data, size);
    cunei_text_escape(&out, (const char *)data, size);
    FUZZ_CHECK(!out.failed && cunei_text_is_safe(cunei_buffer_text(&out), out.size));
    check_same(&out, cunei_text_unescape(out.data, out.size), data, size);
}

static void check_json(const uint8_t *data, size_t size)
{
    struct cunei_buffer out = {0}, back = {0};
    struct cunei_syntax_error error = {0};

    cunei_text_json(&out, (const char *)data, size);
    FUZZ_CHECK(!out.failed && out.size >= 2);
    struct cunei_syntax syntax = {out.data, out.size, 0, &error};
    int rc = cunei_json_reader_string(&syntax, &back);
    FUZZ_CHECK((rc == 0 && syntax.place == out.size) || error.text[0]);
    wellformed_check(out.data, out.size, true);
    cunei_buffer_fini(&back);
    cunei_buffer_fini(&out);
}

/* Characters follow one another without a hole, and no cut goes through one. */
static void check_characters(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t limit = size / 2;
    size_t cut = cunei_text_cut(text, size, limit);
    bool is_cut_between = cut == limit;

    FUZZ_CHECK(cut <= limit);
    for (size_t at = 0; at < size;) {
        size_t length = cunei_text_character(text + at, size - at);
        FUZZ_CHECK(length <= 4 && length <= size - at);
        is_cut_between |= at == cut;
        at += length ? length : 1;
    }
    FUZZ_CHECK(is_cut_between);
}

static size_t count_lines(const char *text, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    return count;
}

/* Every line of source stays in its place. */
static void check_redaction(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct cunei_buffer source = {0}, redacted = {0};

    cunei_redact_source(&source, text, size);
    FUZZ_CHECK(count_lines(source.data, source.size) == count_lines(text, size));
    cunei_redact_text(&redacted, text, size);
    FUZZ_CHECK(!source.failed && !redacted.failed);
    cunei_buffer_fini(&source);
    cunei_buffer_fini(&redacted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy =
        malloc(size ? size : 1); /* of its size, so that its end is watched */

    FUZZ_CHECK(copy);
    if (size > 0)
        memcpy(copy, data, size);
    check_quotes(copy, size);
    check_json(copy, size);
    check_characters(copy, size);
    check_redaction(copy, size);
    free(copy);
    return 0;
}
