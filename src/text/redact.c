// SPDX-License-Identifier: MIT
#include "text/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "text/secret_name.h"

/* Words behind `Basic` that are shorter are none that a server would take. */
#define CREDENTIALS_MIN 8

/* A part of a text that is read from its begin to its end. */
struct reader {
    const char *at, *end;
    const char *begin;
    struct cunei_buffer *out;
    bool is_source;
};

static size_t left(const struct reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static bool has(const struct reader *reader, const char *text)
{
    size_t size = strlen(text);

    return left(reader) >= size && memcmp(reader->at, text, size) == 0;
}

static bool is_letter(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || (letter & 0x80);
}

/* Append the next bytes as they are. */
static void keep(struct reader *reader, size_t size)
{
    cunei_buffer_append(reader->out, reader->at, size);
    reader->at += size;
}

/* Pass over the next bytes, up to `to`; line breaks stay. */
static void hide(struct reader *reader, const char *to)
{
    cunei_buffer_append_text(reader->out, CUNEI_REDACTED);
    for (; reader->at < to; reader->at++) {
        if (*reader->at == '\n')
            cunei_buffer_append_text(reader->out, "\n");
    }
}

static bool is_quote(char letter)
{
    return letter == '"' || letter == '\'';
}

/* The closing quote of a literal whose opening one ends before `at`; or the end. */
static const char *find_quote(const struct reader *reader, const char *at, char quote,
                              size_t count)
{
    for (; at < reader->end; at++) {
        size_t found = 0;
        if (*at == '\\' && at + 1 < reader->end) {
            at++;
            continue;
        }
        if (*at == '\n' && count == 1)
            return at;
        while (found < count && at + found < reader->end && at[found] == quote)
            found++;
        if (found == count)
            return at;
    }
    return reader->end;
}

/* A string literal, whose quotes stay. */
static void hide_literal(struct reader *reader)
{
    char quote = *reader->at;
    bool is_long =
        left(reader) >= 3 && reader->at[1] == quote && reader->at[2] == quote;
    size_t count = is_long ? 3 : 1;

    keep(reader, count);
    const char *to = find_quote(reader, reader->at, quote, count);
    if (to > reader->at)
        hide(reader, to);
    size_t rest = left(reader);
    keep(reader, rest < count ? rest : *reader->at == quote ? count : 0);
}

static const char *pass_blanks(const struct reader *reader, const char *at)
{
    while (at < reader->end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* The letters before a literal: b'', rb"", f''.  0: none follow. */
static size_t prefix_size(const struct reader *reader)
{
    size_t size = 0;

    while (size < 2 && size < left(reader) && reader->at[size] &&
           strchr("bBrRfFuU", reader->at[size]))
        size++;
    return size < left(reader) && is_quote(reader->at[size]) ? size : 0;
}

/* Whether a word stands here, and no longer one. */
static bool has_word(const struct reader *reader, const char *word)
{
    size_t size = strlen(word);

    return left(reader) >= size && strncasecmp(reader->at, word, size) == 0 &&
           (left(reader) == size || !is_letter(reader->at[size]));
}

static bool is_scheme(const struct reader *reader)
{
    return has_word(reader, "bearer") || has_word(reader, "basic") ||
           has_word(reader, "digest") || has_word(reader, "token");
}

/* The end of a value that is no literal: of the word, or of what brackets enclose. */
static const char *find_end(const struct reader *reader)
{
    const char *at = reader->at;
    bool has_scheme = is_scheme(reader);
    unsigned depth = 0;

    for (; at < reader->end; at++) {
        if (is_quote(*at) && depth > 0) {
            at = find_quote(reader, at + 1, *at, 1);
            if (at == reader->end)
                break;
        } else if (strchr("([{<", *at) && *at) {
            depth++;
        } else if (strchr(")]}>", *at) && *at && depth > 0) {
            if (--depth == 0)
                return at + 1;
        } else if (depth == 0 && ((*at && strchr(",;&)]}>'\"\n", *at)) ||
                                  (!has_scheme && *at == ' '))) {
            break;
        }
    }
    return at;
}

/* The size of a word that is no secret, whatever its name is; 0: none stands here. */
static size_t plain_size(const struct reader *reader)
{
    static const char *const words[] = {"None", "True", "False", "null"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (has_word(reader, words[i]))
            return strlen(words[i]);
    }
    return 0;
}

static void hide_value(struct reader *reader)
{
    keep(reader, prefix_size(reader));
    keep(reader, plain_size(reader));
    if (reader->at < reader->end && is_quote(*reader->at))
        hide_literal(reader);
    else if (find_end(reader) > reader->at)
        hide(reader, find_end(reader));
}

/* Whether an expression ends before a letter that is inside of `depth` brackets. */
static bool ends_before(char letter, unsigned depth)
{
    return letter && depth == 0 && strchr(")]},\n#;", letter);
}

/* The literals of an expression in source, up to its end. */
static void hide_literals(struct reader *reader)
{
    unsigned depth = 0;

    while (reader->at < reader->end && !ends_before(*reader->at, depth)) {
        char letter = *reader->at;
        if (is_quote(letter)) {
            hide_literal(reader);
            continue;
        }
        depth += letter && strchr("([{", letter);
        depth -= letter && strchr(")]}", letter);
        keep(reader, 1);
    }
}

/* Behind the name of a secret: the begin of its value; NULL: none follows. */
static const char *find_value(const struct reader *reader, bool is_option)
{
    const char *at = reader->at, *end = reader->end;

    while (at < end && (is_quote(*at) || *at == ']' || *at == '\\'))
        at++;
    at = pass_blanks(reader, at);
    /* An annotation: `token: str = "…"`. */
    if (reader->is_source && at < end && *at == ':') {
        const char *type = at + 1;
        while (type < end && (is_letter(*type) || (*type && strchr(" .|[]", *type))))
            type++;
        at = type < end && *type == '=' ? type : at;
    }
    if (at < end && (*at == '=' || *at == ':')) {
        bool is_compared = at + 1 < end && at[0] == '=' && at[1] == '=';
        at += at + 1 < end && at[1] == '>' ? 2 : 1;
        return is_compared ? NULL : pass_blanks(reader, at);
    }
    /* A pair: ("password", "…"). */
    bool is_pair = at > reader->at && is_quote(at[-1]) && at < end && *at == ',';
    if (is_pair) {
        const char *value = pass_blanks(reader, at + 1);
        return value < end && is_quote(*value) ? value : NULL;
    }
    if (!is_option || at == reader->at)
        return NULL;
    at = pass_blanks(reader, at < end && *at == ',' ? at + 1 : at);
    const char *word = at < end && is_quote(*at) ? at + 1 : at;
    return word < end && *word != '-' ? at : NULL;
}

/* `Bearer eyJhb…`, whatever stands before it. */
static bool read_credentials(struct reader *reader)
{
    bool has_digit = false;
    size_t scheme = has_word(reader, "bearer") ? 6 : has_word(reader, "basic") ? 5 : 0;
    if (scheme == 0 || scheme + 1 >= left(reader) || reader->at[scheme] != ' ')
        return false;

    const char *value = reader->at + scheme + 1, *at = value;
    for (; at < reader->end && (is_letter(*at) || (*at && strchr("+/=.-~", *at))); at++)
        has_digit |= isdigit((unsigned char)*at) || *at == '=';
    if (!has_digit || at - value < CREDENTIALS_MIN)
        return false;
    keep(reader, scheme + 1);
    hide(reader, at);
    return true;
}

/* A word that may be the name of a secret, and its value. */
static void read_word(struct reader *reader)
{
    bool is_option = reader->at > reader->begin && reader->at[-1] == '-';
    size_t size = 0;

    if (!reader->is_source && read_credentials(reader))
        return;
    while (size < left(reader) &&
           (is_letter(reader->at[size]) || reader->at[size] == '-'))
        size++;
    bool is_secret = cunei_is_secret_name(reader->at, size);
    keep(reader, size);
    const char *value = is_secret ? find_value(reader, is_option) : NULL;
    if (!value)
        return;
    keep(reader, (size_t)(value - reader->at));
    if (reader->is_source)
        hide_literals(reader);
    else
        hide_value(reader);
}

/* The password of `://user:password@host`. */
static void read_address(struct reader *reader)
{
    keep(reader, 3);
    const char *at = reader->at, *colon = NULL;

    while (at < reader->end && !is_quote(*at) && (!*at || !strchr("/@ \n", *at))) {
        if (*at == ':' && !colon)
            colon = at;
        at++;
    }
    if (!colon || at == reader->end || *at != '@' || colon + 1 == at)
        return;
    keep(reader, (size_t)(colon + 1 - reader->at));
    hide(reader, at);
}

/* Of -----BEGIN RSA PRIVATE KEY-----, everything up to the last line. */
static bool read_key(struct reader *reader)
{
    static const char first[] = "-----BEGIN ", last[] = "-----END ";

    if (!has(reader, first))
        return false;
    const char *at = reader->at;
    while (at < reader->end && *at != '\n' && *at != '\\')
        at++;
    keep(reader, (size_t)(at - reader->at));
    while (at < reader->end && (size_t)(reader->end - at) >= sizeof(last) - 1 &&
           memcmp(at, last, sizeof(last) - 1) != 0)
        at++;
    hide(reader, (size_t)(reader->end - at) >= sizeof(last) - 1 ? at : reader->end);
    return true;
}

static void redact(struct cunei_buffer *out, const char *text, size_t size,
                   bool is_source)
{
    struct reader reader = {.at = text,
                            .end = text + size,
                            .begin = text,
                            .out = out,
                            .is_source = is_source};

    while (reader.at < reader.end) {
        bool is_begin =
            is_letter(*reader.at) && (reader.at == text || !is_letter(reader.at[-1]));
        if (is_begin)
            read_word(&reader);
        else if (has(&reader, "://"))
            read_address(&reader);
        else if (!read_key(&reader))
            keep(&reader, 1);
    }
}

void cunei_redact_text(struct cunei_buffer *out, const char *text, size_t size)
{
    redact(out, text, size, false);
}

void cunei_redact_source(struct cunei_buffer *out, const char *text, size_t size)
{
    redact(out, text, size, true);
}

void cunei_redact_value(struct cunei_buffer *out, const char *name, size_t name_size,
                        const char *text, size_t size)
{
    struct reader reader = {.at = text, .end = text + size, .begin = text, .out = out};

    if (!cunei_is_secret_name(name, name_size))
        cunei_redact_text(out, text, size);
    else if (plain_size(&reader) == size)
        keep(&reader, size);
    else
        hide(&reader, reader.end);
}
