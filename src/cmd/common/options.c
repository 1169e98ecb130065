// SPDX-License-Identifier: MIT
#include "cmd/common/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/filter_file.h"
#include "base/measure.h"
#include "base/pattern.h"
#include "base/regular_file.h"
#include "base/vector.h"
#include "cmd/common/command.h"
#include "cmd/common/message.h"
#include "cmd/suggest/suggestion.h"

/* A row that was found, its table, and the struct its offset counts from. */
struct match {
    const struct cunei_option *option, *table;
    char *values;
};

const struct cunei_option cunei_options_patterns[] = {
    {.name = "include",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "only functions that match; see 'cunei help record'"},
    {.name = "exclude",
     .kind = CUNEI_OPTION_EXCLUDE,
     .value = "PATTERN",
     .help = "without functions that match; the last pattern decides"},
    {.name = "only-project",
     .kind = CUNEI_OPTION_PROJECT,
     .help = "only functions of the program's own project"},
    {0},
};

const struct cunei_option cunei_options_process[] = {
    {.name = "process",
     .letter = 'p',
     .kind = CUNEI_OPTION_LIST,
     .value = "P",
     .help = "only this process: its pid, its folder in the trace,\n"
             "its name in multiprocessing, its program, or a glob of\n"
             "these; may be repeated"},
    {0},
};

void cunei_option_list_fini(struct cunei_option_list *list)
{
    free(list->items);
    *list = (struct cunei_option_list){0};
}

static bool is_row(const struct cunei_option *option)
{
    return option && (option->name || option->kind >= CUNEI_OPTION_TABLE);
}

static const struct cunei_option *rows_of(const struct cunei_option *table)
{
    return table->make_table ? table->make_table() : table->table;
}

/* The row with that name, or if it is NULL with that letter. */
static struct match find(const struct cunei_option *table, char *values,
                         const char *name, size_t size, char letter)
{
    for (const struct cunei_option *o = table; is_row(o); o++) {
        if (o->kind == CUNEI_OPTION_TABLE) {
            struct match match =
                find(rows_of(o), values + o->offset, name, size, letter);
            if (match.option)
                return match;
        } else if (o->name &&
                   (name ? strlen(o->name) == size && strncmp(o->name, name, size) == 0
                         : o->letter == letter))
            return (struct match){o, table, values};
    }
    return (struct match){0};
}

static void offer_names(struct cunei_suggestion *nearest,
                        const struct cunei_option *options)
{
    for (const struct cunei_option *o = options; is_row(o); o++) {
        if (o->kind == CUNEI_OPTION_TABLE)
            offer_names(nearest, rows_of(o));
        else if (o->help)
            cunei_suggestion_offer(nearest, o->name);
    }
}

static bool parse_number(const char *text, uint64_t *value)
{
    char *end = NULL;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end || errno)
        return false;
    *value = number;
    return true;
}

static int set_choice(const struct cunei_option *option, int *slot, const char *text)
{
    struct cunei_suggestion nearest = {.word = text};
    struct cunei_buffer all = {0}, advice = {0};

    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *slot = i;
            cunei_buffer_fini(&all);
            return CUNEI_OPTIONS_CONTINUE;
        }
        cunei_suggestion_offer(&nearest, option->choices[i]);
        cunei_buffer_format(&all, "%s%s",
                            i ? ", " : "choose one of: ", option->choices[i]);
    }
    cunei_suggestion_format(&nearest, "", all.data, &advice);
    int status =
        cunei_cmd_usage("--%s cannot be '%s'%s", option->name, text, advice.data);
    cunei_buffer_fini(&all);
    cunei_buffer_fini(&advice);
    return status;
}

/* Whether the folder of a project pattern exists; true for other patterns. */
static bool has_folder(const struct cunei_option *option, const char *pattern)
{
    static const size_t prefix = sizeof(CUNEI_PATTERN_PROJECT) - 1;

    pattern += pattern[0] == '!';
    if (option->kind == CUNEI_OPTION_PROJECT ||
        strncmp(pattern, CUNEI_PATTERN_PROJECT, prefix) != 0)
        return true;
    return cunei_is_directory(pattern + prefix);
}

static int add_pattern(const struct cunei_option *option,
                       struct cunei_patterns *patterns, const char *text)
{
    char error[200] = "";

    if (!*text || strcmp(text, ":") == 0)
        return cunei_cmd_usage("--%s needs a pattern, not an empty text", option->name);
    bool include = option->kind != CUNEI_OPTION_EXCLUDE;
    int rc = cunei_patterns_add(patterns, include, text, error, sizeof(error));
    if (rc == -EINVAL)
        return cunei_cmd_usage("--%s '%s' is not a valid pattern: %s", option->name,
                               text, error);
    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot add --%s '%s'", option->name, text);
    if (!has_folder(option, text))
        return cunei_cmd_usage(
            "--%s '%s' is not a valid pattern: there is no such directory",
            option->name, text);
    return CUNEI_OPTIONS_CONTINUE;
}

/* Add the patterns of a filter file. */
static int add_filter(struct cunei_patterns *patterns, const char *path)
{
    struct cunei_syntax_error error;
    size_t before = patterns->count;
    int rc = cunei_filter_file_read(patterns, path, &error);

    if (rc == -EINVAL)
        return cunei_cmd_fail(0, "%s:%zu:%zu: %s", path, error.line, error.column,
                              error.text);
    if (rc == -EBADMSG)
        return cunei_cmd_fail(0,
                              "cannot read the filter '%s': %s; write the patterns to "
                              "a file first",
                              path, cunei_regular_file_problem(rc));
    if (rc == -EFBIG)
        return cunei_cmd_fail(0, "the filter '%s' is longer than 1 MiB", path);
    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot read the filter '%s'", path);
    if (patterns->count == before)
        cunei_cmd_note(
            "the filter '%s' has no patterns: neither lines with '+' or '-' nor "
            "exclude_timers, exclude_files, include_timers or include_files",
            path);
    return CUNEI_OPTIONS_CONTINUE;
}

static int add_word(struct cunei_option_list *list, const char *text)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(list->items, list->count))
        return cunei_cmd_fail(-ENOMEM, "cannot add '%s'", text);
    list->items[list->count++] = text;
    return CUNEI_OPTIONS_CONTINUE;
}

int cunei_options_set(const struct cunei_option *option, void *values, const char *text)
{
    void *slot = (char *)values + option->offset;

    switch (option->kind) {
    case CUNEI_OPTION_FLAG:
        *(bool *)slot = true;
        return CUNEI_OPTIONS_CONTINUE;
    case CUNEI_OPTION_ONCE:
        if (*(const char **)slot)
            return cunei_cmd_usage("--%s can be given only once, not as '%s' and '%s'",
                                   option->name, *(const char **)slot, text);
        *(const char **)slot = text;
        return CUNEI_OPTIONS_CONTINUE;
    case CUNEI_OPTION_TEXT:
        *(const char **)slot = text;
        return CUNEI_OPTIONS_CONTINUE;
    case CUNEI_OPTION_NUMBER:
        if (parse_number(text, slot))
            return CUNEI_OPTIONS_CONTINUE;
        return cunei_cmd_usage("--%s needs a number, not '%s'", option->name, text);
    case CUNEI_OPTION_SIZE:
        if (cunei_measure_size(text, slot))
            return CUNEI_OPTIONS_CONTINUE;
        return cunei_cmd_usage("--%s needs a size such as 500M or 2G, not '%s'",
                               option->name, text);
    case CUNEI_OPTION_DURATION:
        if (cunei_measure_duration(text, slot))
            return CUNEI_OPTIONS_CONTINUE;
        return cunei_cmd_usage("--%s needs a time such as 10ms or 1.5s, not '%s'",
                               option->name, text);
    case CUNEI_OPTION_CHOICE:
        return set_choice(option, slot, text);
    case CUNEI_OPTION_LIST:
        return add_word(slot, text);
    case CUNEI_OPTION_INCLUDE:
    case CUNEI_OPTION_EXCLUDE:
        return add_pattern(option, slot, text);
    case CUNEI_OPTION_FILTER:
        return add_filter(slot, text);
    case CUNEI_OPTION_PROJECT:
        return add_pattern(option, slot, CUNEI_PATTERN_PROJECT);
    case CUNEI_OPTION_TABLE:
    case CUNEI_OPTION_TYPED:
        break;
    }
    return CUNEI_OPTIONS_CONTINUE;
}

static int take(struct match match, const char *text)
{
    for (const struct cunei_option *o = match.table; is_row(o); o++) {
        if (o->kind == CUNEI_OPTION_TYPED)
            *(uint64_t *)(void *)(match.values + o->offset) |=
                UINT64_C(1) << (match.option - match.table);
    }
    return cunei_options_set(match.option, match.values, text);
}

static int unknown_option(const struct cunei_cmd *command, const char *word)
{
    struct cunei_suggestion nearest = {.word = word};
    struct cunei_buffer help = {0}, advice = {0};
    char name[64];

    if (word[0] == '-' && word[1] == '-') {
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="),
                       word + 2);
        nearest.word = name;
        offer_names(&nearest, command->options);
        cunei_suggestion_offer(&nearest, "help");
    }
    cunei_buffer_format(&help, "see 'cunei help %s'", command->name);
    cunei_suggestion_format(&nearest, "--", help.data, &advice);
    int status =
        cunei_cmd_usage("%s has no option '%s'%s", command->name, word, advice.data);
    cunei_buffer_fini(&help);
    cunei_buffer_fini(&advice);
    return status;
}

static bool takes_value(const struct cunei_option *option)
{
    return option->kind != CUNEI_OPTION_FLAG && option->kind != CUNEI_OPTION_PROJECT;
}

/* The state of parsing: argv[next] is the next word. */
struct cursor {
    const struct cunei_cmd *command;
    char **argv;
    int argc;
    int next;
    void *values;
};

static int take_value(struct cursor *cursor, struct match match, const char *inside)
{
    const struct cunei_option *option = match.option;

    if (!inside && cursor->next < cursor->argc)
        inside = cursor->argv[cursor->next++];
    if (!inside)
        return cunei_cmd_usage("--%s needs a value: --%s %s", option->name,
                               option->name, option->value ? option->value : "VALUE");
    return take(match, inside);
}

static int take_long(struct cursor *cursor, const char *word)
{
    size_t size = strcspn(word + 2, "=");
    const char *inside = word[2 + size] ? word + 3 + size : NULL;

    struct match match =
        find(cursor->command->options, cursor->values, word + 2, size, 0);
    if (!match.option && strcmp(word, "--help") == 0) {
        cunei_options_print_help(cursor->command);
        return EXIT_SUCCESS;
    }
    if (!match.option)
        return unknown_option(cursor->command, word);
    if (takes_value(match.option))
        return take_value(cursor, match, inside);
    if (inside)
        return cunei_cmd_usage("--%s does not take a value", match.option->name);
    return take(match, "");
}

/* A word of letters: flags, and at most one option with a value, which ends it. */
static int take_letters(struct cursor *cursor, const char *word)
{
    int status = CUNEI_OPTIONS_CONTINUE;

    for (const char *c = word + 1; *c && status == CUNEI_OPTIONS_CONTINUE; c++) {
        struct match match =
            find(cursor->command->options, cursor->values, NULL, 0, *c);
        if (!match.option && *c == 'h') {
            cunei_options_print_help(cursor->command);
            return EXIT_SUCCESS;
        }
        if (!match.option)
            return unknown_option(cursor->command, word);
        if (takes_value(match.option))
            return take_value(cursor, match, c[1] ? c + 1 : NULL);
        status = take(match, "");
    }
    return status;
}

static bool begins_program(const struct cunei_cmd *command, const char *word)
{
    if (!command->takes_program)
        return false;
    return word[0] != '-' || word[1] == '\0' || word[1] == 'm' || word[1] == 'c';
}

int cunei_options_parse(const struct cunei_cmd *command, int *argc, char **argv,
                        void *values)
{
    struct cursor cursor = {command, argv, *argc, 1, values};
    int kept = 1;

    while (cursor.next < cursor.argc) {
        char *word = argv[cursor.next];
        if (begins_program(command, word))
            break;
        cursor.next++;
        if (strcmp(word, "--") == 0)
            break;
        int status = CUNEI_OPTIONS_CONTINUE;
        if (word[0] == '-' && word[1] == '-')
            status = take_long(&cursor, word);
        else if (word[0] == '-' && word[1])
            status = take_letters(&cursor, word);
        else
            argv[kept++] = word;
        if (status != CUNEI_OPTIONS_CONTINUE)
            return status;
    }
    while (cursor.next < cursor.argc)
        argv[kept++] = argv[cursor.next++];
    argv[kept] = NULL;
    *argc = kept;
    return CUNEI_OPTIONS_CONTINUE;
}

int cunei_options_directory(const struct cunei_cmd *command, int argc, char **argv)
{
    if (argc < 2)
        return cunei_cmd_usage("missing trace directory, which 'cunei record' creates: "
                               "cunei %s DIR",
                               command->name);
    if (argc > 2)
        return cunei_cmd_usage("unexpected argument '%s': 'cunei %s' reads one trace",
                               argv[2], command->name);
    return CUNEI_OPTIONS_CONTINUE;
}

enum {
    HELP_COLUMN = 26 /* where an option's description begins */
};

static void help_row(const struct cunei_option *option)
{
    char left[80];

    const char *value = option->value ? option->value : "";
    char letter[] = {'-', option->letter, ',', ' ', '\0'};
    (void)snprintf(left, sizeof(left), "  %s--%s%s%s", option->letter ? letter : "    ",
                   option->name, *value ? " " : "", value);
    printf("%-*s", HELP_COLUMN, left);
    if (strlen(left) >= HELP_COLUMN)
        printf("\n%-*s", HELP_COLUMN, "");
    for (const char *line = option->help; *line;) {
        size_t size = strcspn(line, "\n");
        printf("%.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
        if (*line)
            printf("%-*s", HELP_COLUMN, "");
    }
    if (option->choices) {
        printf("%-*s", HELP_COLUMN, "");
        for (size_t i = 0; option->choices[i]; i++)
            printf("%s%s", i ? ", " : "", option->choices[i]);
        putchar('\n');
    }
}

static void print_rows(const struct cunei_option *options)
{
    for (const struct cunei_option *o = options; is_row(o); o++) {
        if (o->kind == CUNEI_OPTION_TABLE)
            print_rows(rows_of(o));
        else if (o->help)
            help_row(o);
    }
}

void cunei_options_print_help(const struct cunei_cmd *command)
{
    printf("usage: cunei %s %s\n\n%s\n", command->name, command->args,
           command->help ? command->help : command->summary);
    if (command->options) {
        printf("\nOptions\n");
        print_rows(command->options);
    }
}
