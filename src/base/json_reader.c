// SPDX-License-Identifier: MIT
#include "base/json_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

enum {
    DEPTH_MAX = 100 /* of values in each other */
};

void cunei_json_reader_space(struct cunei_syntax *syntax)
{
    int next;

    while ((next = cunei_syntax_peek(syntax)) == ' ' || next == '\t' || next == '\n' ||
           next == '\r')
        syntax->place++;
}

static int take_digits(struct cunei_syntax *syntax, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int next = cunei_syntax_peek(syntax);
        if (next < 0 || !isxdigit(next))
            return cunei_syntax_expected(syntax, "four hexadecimal digits after \\u");
        int digit = tolower(next);
        *unit =
            *unit * 16 + (uint32_t)(isdigit(digit) ? digit - '0' : digit - 'a' + 10);
        syntax->place++;
    }
    return 0;
}

/* Behind \u: one unit, or two that belong together. */
static int take_unicode(struct cunei_syntax *syntax, struct cunei_buffer *out)
{
    size_t begin = syntax->place - 2;
    uint32_t point = 0, second = 0;

    int rc = take_digits(syntax, &point);
    if (rc < 0)
        return rc;
    if (point >= 0xd800 && point < 0xdc00 && cunei_syntax_peek(syntax) == '\\' &&
        cunei_syntax_ahead(syntax, 1) == 'u') {
        syntax->place += 2;
        rc = take_digits(syntax, &second);
        if (rc < 0)
            return rc;
        if (second >= 0xdc00 && second < 0xe000)
            point = 0x10000 + ((point - 0xd800) << 10) + (second - 0xdc00);
    }
    if (point == 0)
        return cunei_syntax_fail(syntax, begin, "a string must not contain a NUL here");
    if (point >= 0xd800 && point < 0xe000)
        return cunei_syntax_fail(syntax, begin, "this is half of a surrogate pair");
    cunei_text_put_character(out, point);
    return 0;
}

static int take_escape(struct cunei_syntax *syntax, struct cunei_buffer *out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";

    int letter = cunei_syntax_ahead(syntax, 1);
    const char *found = letter > 0 ? strchr(letters, letter) : NULL;
    if (letter == 'u') {
        syntax->place += 2;
        return take_unicode(syntax, out);
    }
    if (!found) {
        syntax->place++;
        return cunei_syntax_expected(syntax, "one of \" \\ / b f n r t u after the "
                                             "backslash (write \\\\ for a backslash)");
    }
    cunei_buffer_append(out, &meant[found - letters], 1);
    syntax->place += 2;
    return 0;
}

int cunei_json_reader_string(struct cunei_syntax *syntax, struct cunei_buffer *out)
{
    if (cunei_syntax_peek(syntax) != '"')
        return cunei_syntax_expected(syntax, "a string in double quotes");
    syntax->place++;
    for (;;) {
        const char *at = syntax->text + syntax->place;
        int next = cunei_syntax_peek(syntax);
        if (next == '"')
            break;
        if (next < ' ') /* also the end */
            return cunei_syntax_expected(syntax, "'\"' at the end of the string");
        size_t size = cunei_text_character(at, syntax->size - syntax->place);
        if (size == 0)
            return cunei_syntax_expected(syntax, "UTF-8");
        if (next == '\\') {
            int rc = take_escape(syntax, out);
            if (rc < 0)
                return rc;
            continue;
        }
        cunei_buffer_append(out, at, size);
        syntax->place += size;
    }
    syntax->place++;
    return out->failed ? -ENOMEM : 0;
}

int cunei_json_reader_first(struct cunei_syntax *syntax, char close)
{
    syntax->place++;
    cunei_json_reader_space(syntax);
    if (cunei_syntax_peek(syntax) != close)
        return 1;
    syntax->place++;
    return 0;
}

int cunei_json_reader_next(struct cunei_syntax *syntax, char close)
{
    cunei_json_reader_space(syntax);
    int next = cunei_syntax_peek(syntax);
    if (next == close) {
        syntax->place++;
        return 0;
    }
    if (next != ',')
        return cunei_syntax_expected(syntax,
                                     close == ']' ? "',' or ']'" : "',' or '}'");
    syntax->place++;
    cunei_json_reader_space(syntax);
    if (cunei_syntax_peek(syntax) == close)
        return cunei_syntax_expected(syntax,
                                     "another element after the ',' (JSON needs one)");
    return 1;
}

int cunei_json_reader_key(struct cunei_syntax *syntax, struct cunei_buffer *out)
{
    int rc = cunei_json_reader_string(syntax, out);

    if (rc < 0)
        return rc;
    cunei_json_reader_space(syntax);
    if (cunei_syntax_peek(syntax) != ':')
        return cunei_syntax_expected(syntax, "':' after the key");
    syntax->place++;
    cunei_json_reader_space(syntax);
    return 0;
}

/* A string, or with `is_key` a key. */
static int skip_string(struct cunei_syntax *syntax, bool is_key)
{
    struct cunei_buffer unused = {0};
    int rc = is_key ? cunei_json_reader_key(syntax, &unused)
                    : cunei_json_reader_string(syntax, &unused);

    cunei_buffer_fini(&unused);
    return rc;
}

/* Digits, at least one of them. */
static bool take_number_part(struct cunei_syntax *syntax)
{
    size_t begin = syntax->place;
    int next;

    while ((next = cunei_syntax_peek(syntax)) >= '0' && next <= '9')
        syntax->place++;
    return syntax->place > begin;
}

static int skip_number(struct cunei_syntax *syntax)
{
    if (cunei_syntax_peek(syntax) == '-')
        syntax->place++;
    if (!take_number_part(syntax))
        return cunei_syntax_expected(syntax, "a digit");
    if (cunei_syntax_peek(syntax) == '.') {
        syntax->place++;
        if (!take_number_part(syntax))
            return cunei_syntax_expected(syntax, "a digit after the '.'");
    }
    if (cunei_syntax_peek(syntax) == 'e' || cunei_syntax_peek(syntax) == 'E') {
        syntax->place++;
        if (cunei_syntax_peek(syntax) == '+' || cunei_syntax_peek(syntax) == '-')
            syntax->place++;
        if (!take_number_part(syntax))
            return cunei_syntax_expected(syntax, "a digit of the exponent");
    }
    return 0;
}

static int skip_word(struct cunei_syntax *syntax)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < 3; i++) {
        size_t size = strlen(words[i]);
        if (syntax->size - syntax->place >= size &&
            memcmp(syntax->text + syntax->place, words[i], size) == 0) {
            syntax->place += size;
            return 0;
        }
    }
    return cunei_syntax_expected(syntax, "a value: a string, number, array, object, "
                                         "true, false or null");
}

static int skip(struct cunei_syntax *syntax, int depth);

static int skip_many(struct cunei_syntax *syntax, char close, int depth)
{
    if (depth >= DEPTH_MAX)
        return cunei_syntax_fail(syntax, syntax->place,
                                 "values are nested deeper than %d", DEPTH_MAX);
    int rc = cunei_json_reader_first(syntax, close);
    while (rc == 1) {
        rc = close == '}' ? skip_string(syntax, true) : 0;
        if (rc == 0)
            rc = skip(syntax, depth + 1);
        if (rc == 0)
            rc = cunei_json_reader_next(syntax, close);
    }
    return rc;
}

// NOLINTNEXTLINE(misc-no-recursion): to DEPTH_MAX
static int skip(struct cunei_syntax *syntax, int depth)
{
    int next = cunei_syntax_peek(syntax);

    if (next == '"')
        return skip_string(syntax, false);
    if (next == '[' || next == '{')
        return skip_many(syntax, next == '[' ? ']' : '}', depth);
    if (next == '-' || (next >= '0' && next <= '9'))
        return skip_number(syntax);
    return skip_word(syntax);
}

int cunei_json_reader_skip(struct cunei_syntax *syntax)
{
    return skip(syntax, 0);
}
