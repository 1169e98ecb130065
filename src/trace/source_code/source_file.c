// SPDX-License-Identifier: MIT
#include "trace/source_code/source_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_stamp.h"
#include "base/regular_file.h"
#include "trace/source_code/zip_member.h"

#define SIZE_MAX_BYTES ((size_t)64 << 20)
#define TAB            8u

static int find_lines(struct cunei_source_file *source, size_t size)
{
    size_t count = 1;

    for (size_t i = 0; i < size; i++)
        count += source->text[i] == '\n';
    source->begins = malloc((count + 1) * sizeof(*source->begins));
    if (!source->begins)
        return -ENOMEM;
    source->begins[0] = 0;
    for (size_t i = 0; i < size; i++) {
        if (source->text[i] == '\n')
            source->begins[++source->count] = i + 1;
    }
    if (source->begins[source->count] < size)
        source->begins[++source->count] =
            size + 1; /* the last line has no line break */
    return 0;
}

/* The text of a file inside a zip archive, whose name is the first part of the path. */
static int read_member(const char *path, char **text, size_t *size)
{
    size_t length = cunei_file_stamp_archive(path), zip_size = 0;
    char *zip = NULL;

    char *archive = length > 0 ? strndup(path, length) : NULL;
    if (!archive)
        return length > 0 ? -ENOMEM : -ENOENT;
    int rc = cunei_regular_file_read(archive, SIZE_MAX_BYTES, &zip, &zip_size);
    if (rc == 0)
        rc = cunei_zip_member_read(zip, zip_size, path + length + 1, SIZE_MAX_BYTES,
                                   text, size);
    free(zip);
    free(archive);
    return rc;
}

int cunei_source_file_take(struct cunei_source_file *source, char *text, size_t size)
{
    *source = (struct cunei_source_file){0};
    source->text = text;
    int rc = find_lines(source, size);
    if (rc < 0)
        cunei_source_file_fini(source);
    return rc;
}

int cunei_source_file_read(struct cunei_source_file *source, const char *path)
{
    char *text = NULL;
    size_t size = 0;

    *source = (struct cunei_source_file){0};
    int rc = cunei_regular_file_read(path, SIZE_MAX_BYTES, &text, &size);
    if (rc == -ENOTDIR)
        rc = read_member(path, &text, &size);
    return rc == 0 ? cunei_source_file_take(source, text, size) : rc;
}

void cunei_source_file_fini(struct cunei_source_file *source)
{
    free(source->text);
    free(source->begins);
    *source = (struct cunei_source_file){0};
}

const char *cunei_source_file_line(const struct cunei_source_file *source,
                                   uint32_t line, size_t *size)
{
    if (line == 0 || line > source->count)
        return NULL;
    const char *text = source->text + source->begins[line - 1];
    *size = source->begins[line] - source->begins[line - 1] - 1;
    if (*size > 0 && text[*size - 1] == '\r')
        --*size;
    return text;
}

unsigned cunei_source_file_indent(const struct cunei_source_file *source, uint32_t line)
{
    size_t size = 0;
    const char *text = cunei_source_file_line(source, line, &size);
    unsigned columns = 0;

    for (size_t i = 0; text && i < size; i++) {
        if (text[i] == '\t')
            columns += TAB - columns % TAB;
        else if (text[i] == ' ')
            columns++;
        else
            break;
    }
    return columns;
}

void cunei_source_file_put(const struct cunei_source_file *source, uint32_t line,
                           struct cunei_buffer *out)
{
    unsigned column = cunei_source_file_indent(source, line);
    size_t size = 0;
    const char *text = cunei_source_file_line(source, line, &size);

    while (size > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        size--;
    }
    for (size_t i = 0; i < size && text[i]; i++) {
        unsigned blanks = TAB - column % TAB;
        if (text[i] == '\t')
            cunei_buffer_format(out, "%*s", (int)blanks, "");
        else
            cunei_buffer_append(out, text + i, 1);
        if (text[i] == '\t')
            column += blanks;
        else if ((text[i] & 0xc0) != 0x80) /* not inside a UTF-8 character */
            column++;
    }
}

/* The state of a Python lexer between two lines. */
struct lexer {
    unsigned brackets;
    char quote;   /* of a string that continues on the next line; 0: none */
    bool is_long; /* a triple-quoted string */
    bool is_continued;
};

static bool has_three(const char *text, size_t size, size_t at)
{
    return at + 2 < size && text[at + 1] == text[at] && text[at + 2] == text[at];
}

/* `at` is inside a string; returns the index after its part on this line. */
static size_t pass_string(struct lexer *lexer, const char *text, size_t size, size_t at)
{
    for (; at < size; at++) {
        if (text[at] == '\\')
            at++;
        else if (text[at] == lexer->quote &&
                 (!lexer->is_long || has_three(text, size, at))) {
            lexer->quote = 0;
            return at + (lexer->is_long ? 3 : 1);
        }
    }
    /* A string with single quotes continues only after a backslash. */
    if (!lexer->is_long && at == size)
        lexer->quote = 0;
    return at;
}

static void pass_line(struct lexer *lexer, const char *text, size_t size)
{
    size_t at = lexer->quote ? pass_string(lexer, text, size, 0) : 0;

    lexer->is_continued = false;
    while (at < size && !lexer->quote) {
        char letter = text[at];
        if (letter == '#')
            return;
        if (letter == '"' || letter == '\'') {
            lexer->quote = letter;
            lexer->is_long = has_three(text, size, at);
            at = pass_string(lexer, text, size, at + (lexer->is_long ? 3 : 1));
            continue;
        }
        if (strchr("([{", letter) && letter)
            lexer->brackets++;
        else if (strchr(")]}", letter) && letter && lexer->brackets > 0)
            lexer->brackets--;
        lexer->is_continued = letter == '\\' && at + 1 == size;
        at++;
    }
}

/* The last line of the statement that begins at `line`. */
static uint32_t statement_end(const struct cunei_source_file *source, uint32_t line)
{
    struct lexer lexer = {0};

    for (;; line++) {
        size_t size = 0;
        const char *text = cunei_source_file_line(source, line, &size);
        if (!text)
            return line - 1;
        pass_line(&lexer, text, size);
        if (!lexer.quote && lexer.brackets == 0 && !lexer.is_continued)
            return line;
    }
}

/* A line without its indentation. */
static const char *words_of(const struct cunei_source_file *source, uint32_t line,
                            size_t *size)
{
    const char *text = cunei_source_file_line(source, line, size);

    while (text && *size > 0 && (*text == ' ' || *text == '\t' || *text == '\f')) {
        text++;
        --*size;
    }
    return text;
}

static bool begins_with(const char *text, size_t size, const char *word)
{
    size_t length = strlen(word);
    return size > length && memcmp(text, word, length) == 0 &&
           isspace((unsigned char)text[length]);
}

static bool is_definition(const char *text, size_t size)
{
    return begins_with(text, size, "def") || begins_with(text, size, "class") ||
           begins_with(text, size, "async");
}

uint32_t cunei_source_file_block(const struct cunei_source_file *source, uint32_t first)
{
    unsigned indent = cunei_source_file_indent(source, first);
    uint32_t line = first, last;
    size_t size = 0;
    const char *text = words_of(source, line, &size);

    while (text && (size == 0 || *text == '@' || *text == '#')) {
        line = statement_end(source, line) + 1;
        text = words_of(source, line, &size);
    }
    if (!text || !is_definition(text, size))
        return first;
    last = statement_end(source, line);
    for (line = last + 1; (text = words_of(source, line, &size)); line++) {
        if (size == 0 || *text == '#')
            continue;
        if (cunei_source_file_indent(source, line) <= indent)
            break;
        last = line = statement_end(source, line);
    }
    return last;
}
