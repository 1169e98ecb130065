// SPDX-License-Identifier: MIT
#include "base/toml_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

enum {
    DEPTH_MAX = 100 /* of arrays and tables in each other */
};

/* Parts of a key's path are ended by it; keys are UTF-8, which never holds it. */
#define PART_END '\xff'

struct reader {
    struct cunei_syntax syntax;
    struct cunei_buffer wanted; /* the path of the table that is visited */
    struct cunei_buffer table;  /* the one that the last header names */
    struct cunei_buffer path;   /* of the key in hand, its table's included */
    struct cunei_buffer scratch;
    size_t key_place;
    int arrays; /* that are open */
    cunei_toml_visitor *visit;
    void *context;
};

static int peek(const struct reader *reader)
{
    return cunei_syntax_peek(&reader->syntax);
}

static int expected(struct reader *reader, const char *wanted)
{
    return cunei_syntax_expected(&reader->syntax, wanted);
}

static void pass_blanks(struct reader *reader)
{
    while (peek(reader) == ' ' || peek(reader) == '\t')
        reader->syntax.place++;
}

static void pass_comment(struct reader *reader)
{
    if (peek(reader) == '#') {
        while (peek(reader) >= 0 && peek(reader) != '\n')
            reader->syntax.place++;
    }
}

/* Within brackets lines mean nothing. */
static void pass_lines(struct reader *reader)
{
    size_t before;

    do {
        before = reader->syntax.place;
        pass_blanks(reader);
        pass_comment(reader);
        if (peek(reader) == '\n' || peek(reader) == '\r')
            reader->syntax.place++;
    } while (reader->syntax.place != before);
}

/* How many parts of the path in hand lie below the table that is visited; -1: it is
 * elsewhere. */
static int count_below(const struct reader *reader)
{
    const struct cunei_buffer *wanted = &reader->wanted, *path = &reader->path;
    int count = 0;

    if (path->size < wanted->size ||
        memcmp(path->data, wanted->data, wanted->size) != 0)
        return -1;
    for (size_t i = wanted->size; i < path->size; i++)
        count += path->data[i] == PART_END;
    return count;
}

/* Visit the value at the current path: the table itself, or a key of it. */
static int visit_path(struct reader *reader, enum cunei_toml_kind kind,
                      const char *text, size_t place)
{
    const char *below = reader->path.data + reader->wanted.size;
    size_t size = reader->path.size - reader->wanted.size;
    const char *end = memchr(below, PART_END, size);

    char *key = end ? strndup(below, (size_t)(end - below)) : NULL;
    if (end && !key)
        return -ENOMEM;
    const struct cunei_toml_value value = {.key = key,
                                           .key_place = reader->key_place,
                                           .kind = kind,
                                           .in_array = reader->arrays > 0,
                                           .text = text,
                                           .place = place};
    int rc = reader->visit(reader->context, &reader->syntax, &value);
    free(key);
    return rc;
}

static int visit_value(struct reader *reader, enum cunei_toml_kind kind,
                       const char *text, size_t place)
{
    int below = count_below(reader);

    return (below == 0 && reader->arrays == 0) || (below == 1 && reader->arrays <= 1)
               ? visit_path(reader, kind, text, place)
               : 0;
}

/* A header, or a key with dots, that leads below the table's own keys. */
static int visit_deeper(struct reader *reader)
{
    return count_below(reader) > 1
               ? visit_path(reader, CUNEI_TOML_TABLE, NULL, reader->key_place)
               : 0;
}

static int take_point(struct reader *reader, int digits, struct cunei_buffer *out)
{
    size_t begin = reader->syntax.place - 2;
    uint32_t point = 0;

    for (int i = 0; i < digits; i++) {
        int next = peek(reader);
        if (next < 0 || !isxdigit(next))
            return expected(reader, "hexadecimal digits: four after \\u, eight "
                                    "after \\U, two after \\x");
        int digit = tolower(next);
        point =
            point * 16 + (uint32_t)(isdigit(digit) ? digit - '0' : digit - 'a' + 10);
        reader->syntax.place++;
    }
    if (point == 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return cunei_syntax_fail(&reader->syntax, begin,
                                 "a string must not contain this character");
    cunei_text_put_character(out, point);
    return 0;
}

/* Behind a backslash that ends a line: white space up to the next word. */
static bool pass_folded(struct reader *reader)
{
    size_t begin = reader->syntax.place;

    pass_blanks(reader);
    if (peek(reader) != '\n' && peek(reader) != '\r') {
        reader->syntax.place = begin;
        return false;
    }
    while (peek(reader) >= 0 && strchr(" \t\r\n", peek(reader)))
        reader->syntax.place++;
    return true;
}

static int take_escape(struct reader *reader, bool several, struct cunei_buffer *out)
{
    static const char letters[] = "btnfre\"\\", meant[] = "\b\t\n\f\r\033\"\\";

    reader->syntax.place++;
    int letter = peek(reader);
    const char *found = letter > 0 ? strchr(letters, letter) : NULL;
    if (found) {
        cunei_buffer_append(out, &meant[found - letters], 1);
        reader->syntax.place++;
        return 0;
    }
    if (letter == 'u' || letter == 'U' || letter == 'x') {
        reader->syntax.place++;
        return take_point(reader, letter == 'u' ? 4 : letter == 'U' ? 8 : 2, out);
    }
    if (several && pass_folded(reader))
        return 0;
    return expected(reader, "one of b t n f r e u U x \" \\ after the backslash "
                            "(in '…' a backslash is literal)");
}

/* Whether three of them stand here. */
static bool are_three(const struct reader *reader, int quote)
{
    return peek(reader) == quote && cunei_syntax_ahead(&reader->syntax, 1) == quote &&
           cunei_syntax_ahead(&reader->syntax, 2) == quote;
}

/* The text that begins here, in any of the four kinds of quotes. */
static int take_text(struct reader *reader, struct cunei_buffer *out)
{
    int quote = peek(reader);
    bool several = are_three(reader, quote);
    struct cunei_syntax *syntax = &reader->syntax;

    syntax->place += several ? 3 : 1;
    if (several && peek(reader) == '\r')
        syntax->place++;
    if (several && peek(reader) == '\n')
        syntax->place++;
    while (several ? !are_three(reader, quote) : peek(reader) != quote) {
        int next = peek(reader);
        if (next < 0 || next == '\0' || (!several && next == '\n'))
            return expected(reader, several ? "three quotes at the end of the string"
                                    : quote == '"' ? "'\"' at the end of the string"
                                                   : "\"'\" at the end of the string");
        if (next == '\\' && quote == '"') {
            int rc = take_escape(reader, several, out);
            if (rc < 0)
                return rc;
            continue;
        }
        size_t size = cunei_text_character(syntax->text + syntax->place,
                                           syntax->size - syntax->place);
        if (size == 0)
            return expected(reader, "UTF-8");
        cunei_buffer_append(out, syntax->text + syntax->place, size);
        syntax->place += size;
    }
    /* One or two more belong to the text. */
    while (several && cunei_syntax_ahead(syntax, 3) == quote)
        cunei_buffer_append(out, syntax->text + syntax->place++, 1);
    syntax->place += several ? 3 : 1;
    return out->failed ? -ENOMEM : 0;
}

static bool is_bare(int byte)
{
    return byte > 0 && byte < 0x80 && (isalnum(byte) || byte == '_' || byte == '-');
}

/* One part of a key, appended to the path. */
static int take_part(struct reader *reader)
{
    int next = peek(reader);

    if (next == '"' || next == '\'') {
        if (are_three(reader, next))
            return expected(reader, "a key in one pair of quotes");
        int rc = take_text(reader, &reader->path);
        if (rc < 0)
            return rc;
    } else if (is_bare(next)) {
        while (is_bare(peek(reader)))
            cunei_buffer_append(&reader->path,
                                reader->syntax.text + reader->syntax.place++, 1);
    } else
        return expected(reader, "a key");
    cunei_buffer_append(&reader->path, &(char){PART_END}, 1);
    return 0;
}

static int take_path(struct reader *reader)
{
    reader->key_place = reader->syntax.place;
    for (;;) {
        int rc = take_part(reader);
        if (rc < 0)
            return rc;
        pass_blanks(reader);
        if (peek(reader) != '.')
            return 0;
        reader->syntax.place++;
        pass_blanks(reader);
    }
}

static int take_value(struct reader *reader, int depth);

/* `key = value`, in the table whose path is there. */
static int take_pair(struct reader *reader, int depth)
{
    size_t before = reader->path.size, key_place = reader->key_place;

    int rc = take_path(reader);
    if (rc == 0 && peek(reader) != '=')
        rc = expected(reader, "'=' after the key");
    if (rc == 0 && depth == 0)
        rc = visit_deeper(reader);
    if (rc < 0)
        return rc;
    reader->syntax.place++;
    pass_blanks(reader);
    rc = take_value(reader, depth);
    reader->path.size = before;
    reader->key_place = key_place;
    return rc;
}

/* What stands in brackets, one after the other. */
static int take_many(struct reader *reader, char close, int depth)
{
    if (depth >= DEPTH_MAX)
        return cunei_syntax_fail(&reader->syntax, reader->syntax.place,
                                 "values are nested deeper than %d", DEPTH_MAX);
    reader->syntax.place++;
    pass_lines(reader);
    while (peek(reader) != close) {
        int rc =
            close == '}' ? take_pair(reader, depth + 1) : take_value(reader, depth + 1);
        if (rc < 0)
            return rc;
        pass_lines(reader);
        if (peek(reader) == ',') {
            reader->syntax.place++;
            pass_lines(reader);
        } else if (peek(reader) != close)
            return expected(reader, close == ']' ? "',' or ']'" : "',' or '}'");
    }
    reader->syntax.place++;
    return 0;
}

static int take_array(struct reader *reader, int depth)
{
    int rc = visit_value(reader, CUNEI_TOML_ARRAY, NULL, reader->syntax.place);

    reader->arrays++;
    if (rc == 0)
        rc = take_many(reader, ']', depth);
    reader->arrays--;
    return rc;
}

static int take_table(struct reader *reader, int depth)
{
    int arrays = reader->arrays;
    int rc = visit_value(reader, CUNEI_TOML_TABLE, NULL, reader->syntax.place);

    reader->arrays = 0;
    if (rc == 0)
        rc = take_many(reader, '}', depth);
    reader->arrays = arrays;
    return rc;
}

static bool is_of_word(int byte)
{
    return is_bare(byte) || byte == '+' || byte == '.' || byte == ':';
}

/* A number, a date with or without its time, true, false. */
static int take_word(struct reader *reader)
{
    struct cunei_syntax *syntax = &reader->syntax;
    size_t begin = syntax->place;

    while (is_of_word(peek(reader)))
        syntax->place++;
    size_t size = syntax->place - begin;
    const char *text = syntax->text + begin;
    int after = cunei_syntax_ahead(syntax, 1);
    if (size == 10 && text[4] == '-' && peek(reader) == ' ' && after >= 0 &&
        isdigit(after)) {
        syntax->place++;
        while (is_of_word(peek(reader)))
            syntax->place++;
        size = syntax->place - begin;
    }
    bool is_flag = (size == 4 && memcmp(text, "true", 4) == 0) ||
                   (size == 5 && memcmp(text, "false", 5) == 0);
    size_t sign = size > 0 && (text[0] == '+' || text[0] == '-');
    bool is_number =
        size > sign && (isdigit((unsigned char)text[sign]) ||
                        (size == sign + 3 && (memcmp(text + sign, "inf", 3) == 0 ||
                                              memcmp(text + sign, "nan", 3) == 0)));
    if (!is_flag && !is_number) {
        syntax->place = begin;
        return expected(reader,
                        "a value: a string in quotes, a number, true, false, an "
                        "array or a table");
    }
    cunei_buffer_clear(&reader->scratch);
    cunei_buffer_append(&reader->scratch, text, size);
    if (reader->scratch.failed)
        return -ENOMEM;
    return visit_value(reader, is_flag ? CUNEI_TOML_FLAG : CUNEI_TOML_WORD,
                       reader->scratch.data, begin);
}

// NOLINTNEXTLINE(misc-no-recursion): to DEPTH_MAX
static int take_value(struct reader *reader, int depth)
{
    size_t begin = reader->syntax.place;
    int next = peek(reader);

    if (next == '[')
        return take_array(reader, depth);
    if (next == '{')
        return take_table(reader, depth);
    if (next != '"' && next != '\'')
        return take_word(reader);
    cunei_buffer_clear(&reader->scratch);
    int rc = take_text(reader, &reader->scratch);
    return rc < 0 ? rc
                  : visit_value(reader, CUNEI_TOML_TEXT,
                                cunei_buffer_text(&reader->scratch), begin);
}

/* [a.b] or [[a.b]]. */
static int take_header(struct reader *reader)
{
    struct cunei_syntax *syntax = &reader->syntax;
    bool is_double = cunei_syntax_ahead(syntax, 1) == '[';

    syntax->place += is_double ? 2 : 1;
    pass_blanks(reader);
    cunei_buffer_clear(&reader->path);
    int rc = take_path(reader);
    if (rc < 0)
        return rc;
    if (peek(reader) != ']' || (is_double && cunei_syntax_ahead(syntax, 1) != ']'))
        return expected(reader, is_double ? "']]'" : "']'");
    syntax->place += is_double ? 2 : 1;
    cunei_buffer_clear(&reader->table);
    cunei_buffer_append(&reader->table, reader->path.data, reader->path.size);
    if (count_below(reader) > 0)
        return visit_path(reader, CUNEI_TOML_TABLE, NULL, reader->key_place);
    return visit_value(reader, is_double ? CUNEI_TOML_ARRAY : CUNEI_TOML_TABLE, NULL,
                       reader->key_place);
}

static int take_line(struct reader *reader)
{
    int rc = 0;

    if (peek(reader) == '[')
        rc = take_header(reader);
    else {
        cunei_buffer_clear(&reader->path);
        cunei_buffer_append(&reader->path, cunei_buffer_text(&reader->table),
                            reader->table.size);
        rc = take_pair(reader, 0);
    }
    if (rc < 0)
        return rc;
    pass_blanks(reader);
    pass_comment(reader);
    if (peek(reader) == '\r')
        reader->syntax.place++;
    if (peek(reader) >= 0 && peek(reader) != '\n')
        return expected(reader, "the end of the line");
    return 0;
}

static void put_table(struct cunei_buffer *out, const char *table)
{
    for (const char *c = table; *c; c++)
        cunei_buffer_append(out, *c == '.' ? &(char){PART_END} : c, 1);
    cunei_buffer_append(out, &(char){PART_END}, 1);
}

int cunei_toml_parse(const char *text, size_t size, const char *table,
                     cunei_toml_visitor *visit, void *context,
                     struct cunei_syntax_error *error)
{
    struct reader reader = {
        .syntax = {text, size, 0, error}, .visit = visit, .context = context};
    int rc = 0;

    *error = (struct cunei_syntax_error){0};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        reader.syntax.text += 3;
        reader.syntax.size -= 3;
    }
    put_table(&reader.wanted, table);
    pass_lines(&reader);
    while (rc == 0 && peek(&reader) >= 0) {
        rc = take_line(&reader);
        pass_lines(&reader);
    }
    if (rc == 0 && (reader.wanted.failed || reader.path.failed || reader.table.failed))
        rc = -ENOMEM;
    cunei_buffer_fini(&reader.wanted);
    cunei_buffer_fini(&reader.table);
    cunei_buffer_fini(&reader.path);
    cunei_buffer_fini(&reader.scratch);
    return rc;
}
