// SPDX-License-Identifier: MIT
#include "base/filter_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/ecmascript_regex.h"
#include "base/json_reader.h"
#include "base/regular_file.h"

static bool is_blank(int byte)
{
    return byte == ' ' || byte == '\t';
}

/* Add a pattern that stands at `place`. */
static int add(struct cunei_syntax *syntax, struct cunei_patterns *patterns,
               size_t place, bool include, const char *text)
{
    char reason[128] = "";
    int rc = cunei_patterns_add(patterns, include, text, reason, sizeof(reason));

    return rc == -EINVAL
               ? cunei_syntax_fail(syntax, place, "invalid pattern: %s", reason)
               : rc;
}

/* The pattern from `begin` on, up to white space at the end, or before a comment. */
static int take_pattern(struct cunei_syntax *syntax, struct cunei_patterns *patterns,
                        bool include, size_t end)
{
    size_t begin = syntax->place;
    const char *text = syntax->text;

    for (size_t i = begin + 1; i < end; i++) {
        if (text[i] == '#' && is_blank(text[i - 1]))
            end = i;
    }
    while (end > begin && (is_blank(text[end - 1]) || text[end - 1] == '\r'))
        end--;
    if (end == begin || text[begin] == '#')
        return cunei_syntax_expected(syntax, include ? "a pattern after the '+'"
                                                     : "a pattern after the '-'");
    const char *nul = memchr(text + begin, '\0', end - begin);
    if (nul)
        return cunei_syntax_fail(syntax, (size_t)(nul - text),
                                 "a pattern cannot contain a NUL");
    char *pattern = strndup(text + begin, end - begin);
    int rc = pattern ? add(syntax, patterns, begin, include, pattern) : -ENOMEM;
    free(pattern);
    return rc;
}

static void pass_blanks(struct cunei_syntax *syntax)
{
    while (is_blank(cunei_syntax_peek(syntax)))
        syntax->place++;
}

static int take_line(struct cunei_syntax *syntax, struct cunei_patterns *patterns,
                     size_t end)
{
    pass_blanks(syntax);
    int sign = syntax->place < end ? cunei_syntax_peek(syntax) : '#';
    if (sign == '#' || (sign == '\r' && syntax->place + 1 == end))
        return 0;
    if (sign != '+' && sign != '-')
        return cunei_syntax_expected(syntax, "'+ PATTERN', '- PATTERN' or a comment "
                                             "with '#'");
    syntax->place++;
    pass_blanks(syntax);
    return take_pattern(syntax, patterns, sign == '+', end);
}

static int parse_lines(struct cunei_syntax *syntax, struct cunei_patterns *patterns)
{
    int rc = 0;

    for (size_t line = 1; rc == 0 && syntax->place < syntax->size; line++) {
        size_t before = patterns->count;
        const char *at = syntax->text + syntax->place;
        const char *newline = memchr(at, '\n', syntax->size - syntax->place);
        size_t end = newline ? (size_t)(newline - syntax->text) : syntax->size;
        rc = take_line(syntax, patterns, end);
        if (patterns->count > before)
            cunei_patterns_set_line(patterns, line);
        syntax->place = end + (newline != NULL);
    }
    return rc;
}

/* An array of the JSON, as it is read. */
struct list {
    bool include; /* all in one pattern, for what none of them matches */
    const char *prefix;
    struct cunei_buffer all;
};

static const struct {
    const char *key;
    bool include;
    const char *prefix;
} keys[] = {
    {"exclude_timers", false, "re-name:"},
    {"exclude_files", false, "re-file:"},
    {"include_timers", true, "!re-name:"},
    {"include_files", true, "!re-file:"},
};

/* One expression, translated, as the pattern that it is or as part of the array's. */
static int take_expression(struct cunei_syntax *syntax, struct cunei_patterns *patterns,
                           struct list *list)
{
    struct cunei_buffer text = {0}, posix = {0};
    const char *problem = NULL;
    size_t begin = syntax->place, place = 0;

    int rc = cunei_json_reader_string(syntax, &text);
    cunei_buffer_append_text(&posix, list->prefix);
    if (rc == 0 && text.size == 0)
        rc = cunei_syntax_fail(syntax, begin,
                               "an empty expression matches every name; write \".\" "
                               "to match all");
    if (rc == 0)
        rc = cunei_ecmascript_regex_translate(text.data, &posix, &place, &problem);
    if (rc == -EINVAL && problem)
        rc = cunei_syntax_fail(syntax, begin,
                               "invalid regular expression: at its byte %zu, %s",
                               place + 1, problem);
    if (rc == 0 && list->include)
        cunei_buffer_format(&list->all, "%s(%s)", list->all.size ? "|" : list->prefix,
                            posix.data + strlen(list->prefix));
    /* Checked by itself even where it will be a part: for its place. */
    struct cunei_patterns alone = {0};
    if (rc == 0)
        rc = add(syntax, list->include ? &alone : patterns, begin, false, posix.data);
    cunei_patterns_fini(&alone);
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&posix);
    return rc;
}

static int take_array(struct cunei_syntax *syntax, struct cunei_patterns *patterns,
                      size_t key)
{
    struct list list = {.include = keys[key].include, .prefix = keys[key].prefix};
    size_t begin = syntax->place;

    if (cunei_syntax_peek(syntax) != '[')
        return cunei_syntax_expected(syntax, "'[' and an array of strings");
    int rc = cunei_json_reader_first(syntax, ']');
    while (rc == 1) {
        rc = take_expression(syntax, patterns, &list);
        if (rc == 0)
            rc = cunei_json_reader_next(syntax, ']');
    }
    /* An empty array matches nothing. */
    if (rc == 0 && list.include)
        rc = list.all.failed ? -ENOMEM
                             : add(syntax, patterns, begin, false,
                                   list.all.size ? list.all.data : "re:.");
    cunei_buffer_fini(&list.all);
    return rc;
}

static int take_member(struct cunei_syntax *syntax, struct cunei_patterns *patterns)
{
    struct cunei_buffer key = {0};
    size_t found = sizeof(keys) / sizeof(keys[0]);

    int rc = cunei_json_reader_key(syntax, &key);
    for (size_t i = 0; rc == 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (key.data && strcmp(keys[i].key, key.data) == 0)
            found = i;
    }
    cunei_buffer_fini(&key);
    if (rc < 0)
        return rc;
    return found < sizeof(keys) / sizeof(keys[0]) ? take_array(syntax, patterns, found)
                                                  : cunei_json_reader_skip(syntax);
}

static int parse_json(struct cunei_syntax *syntax, struct cunei_patterns *patterns)
{
    int rc = cunei_json_reader_first(syntax, '}');

    while (rc == 1) {
        rc = take_member(syntax, patterns);
        if (rc == 0)
            rc = cunei_json_reader_next(syntax, '}');
    }
    if (rc < 0)
        return rc;
    cunei_json_reader_space(syntax);
    return syntax->place < syntax->size
               ? cunei_syntax_expected(syntax, "the end of the file")
               : 0;
}

int cunei_filter_file_parse(struct cunei_patterns *patterns, const char *text,
                            size_t size, struct cunei_syntax_error *error)
{
    struct cunei_syntax syntax = {text, size, 0, error};

    *error = (struct cunei_syntax_error){0};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* of some editors */
        syntax.text += 3;
        syntax.size -= 3;
    }
    cunei_json_reader_space(&syntax);
    int first = cunei_syntax_peek(&syntax);
    if (first == '{')
        return parse_json(&syntax, patterns);
    if (first == '[' || first == '"')
        return cunei_syntax_expected(&syntax, "'{' where JSON begins, or '+ PATTERN'");
    syntax.place = 0;
    return parse_lines(&syntax, patterns);
}

int cunei_filter_file_read(struct cunei_patterns *patterns, const char *path,
                           struct cunei_syntax_error *error)
{
    size_t before = patterns->count, size = 0;
    char *text = NULL;

    *error = (struct cunei_syntax_error){0};
    int rc = cunei_regular_file_read(path, CUNEI_FILTER_MAX, &text, &size);
    if (rc == 0)
        rc = cunei_filter_file_parse(patterns, text, size, error);
    if (rc == 0)
        rc = cunei_patterns_set_file(patterns, before, path);
    free(text);
    return rc;
}
