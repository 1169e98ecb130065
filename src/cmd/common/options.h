// SPDX-License-Identifier: MIT
/*
 * The options of a command: a table with a row for each: its name, the kind of its
 * value, where the value is stored, and its help.
 *
 *     struct values { uint64_t limit; int sort; bool json; };
 *     static const char *const sort_names[] = {"self", "total", "calls", NULL};
 *     static const struct cunei_option options[] = {
 *         {.name = "limit", .letter = 'n', .kind = CUNEI_OPTION_NUMBER, .value = "N",
 *          .help = "show the first N", .offset = offsetof(struct values, limit)},
 *         {.name = "sort", .kind = CUNEI_OPTION_CHOICE, .value = "KEY",
 *          .choices = sort_names, .help = "…",
 *          .offset = offsetof(struct values, sort)},
 *         {.name = "json", .kind = CUNEI_OPTION_FLAG, .help = "…",
 *          .offset = offsetof(struct values, json)},
 *         {0},
 *     };
 *
 * Long options take their value behind `=` or as the next word, letters as the rest of
 * their word or the next one; flags' letters may be joined.  Options stand before or
 * after the other words, `--` ends them.  What was not typed keeps the value that the
 * caller put there.
 */
#ifndef CUNEI_CMD_COMMON_OPTIONS_H
#define CUNEI_CMD_COMMON_OPTIONS_H

#include <stddef.h>

struct cunei_cmd;
struct cunei_patterns;

enum {
    CUNEI_OPTIONS_CONTINUE = -1
};

enum cunei_option_kind {
    CUNEI_OPTION_FLAG,     /* bool, set to true */
    CUNEI_OPTION_TEXT,     /* const char *, borrowed from argv; of several the last */
    CUNEI_OPTION_ONCE,     /* the same; several are refused */
    CUNEI_OPTION_NUMBER,   /* uint64_t */
    CUNEI_OPTION_SIZE,     /* uint64_t, bytes: 4096, 10M, 2G, 1.5GiB */
    CUNEI_OPTION_DURATION, /* uint64_t, nanoseconds: 250us, 10ms, 1.5s, 2min */
    CUNEI_OPTION_CHOICE,   /* int, the index in `choices` */
    CUNEI_OPTION_LIST,     /* struct cunei_option_list, one word more each time */
    CUNEI_OPTION_INCLUDE,  /* struct cunei_patterns, owned by the caller */
    CUNEI_OPTION_EXCLUDE,  /* the same; both may share one, order is kept */
    CUNEI_OPTION_FILTER,   /* the same: those of a file */
    CUNEI_OPTION_PROJECT,  /* the same, without a value: see cmd/record/project.h */
    CUNEI_OPTION_TABLE,    /* no option: more rows, whose values begin at `offset` */
    CUNEI_OPTION_TYPED,    /* no option: uint64_t, bits of its table's rows that were
                              typed, the first row's first */
};

struct cunei_option {
    const char *name; /* without dashes; NULL: the end, or no option */
    char letter;      /* or 0 */
    enum cunei_option_kind kind;
    const char *value;                /* how the help calls it; NULL for a flag */
    const char *help;                 /* one line or two, no full stop; NULL: hidden */
    size_t offset;                    /* of the value in the caller's struct */
    const char *const *choices;       /* of a CHOICE, ends with NULL */
    const struct cunei_option *table; /* of a TABLE; or what makes its rows: */
    const struct cunei_option *(*make_table)(void);
};

/* --include and --exclude of a command that reads a trace; the offset of this table is
 * that of a struct cunei_patterns. */
extern const struct cunei_option cunei_options_patterns[];

/* --process; the offset of this table is that of a struct cunei_option_list. */
extern const struct cunei_option cunei_options_process[];

struct cunei_option_list {
    const char **items; /* owned; the words are borrowed from argv */
    size_t count;
};

void cunei_option_list_fini(struct cunei_option_list *list);

/*
 * Take the command's options out of argv and store their values; what is left stands
 * from argv[1] to argv[*argc - 1], in order, with a NULL behind it.  Returns
 * CUNEI_OPTIONS_CONTINUE, or the exit status to leave with: help was asked for and
 * shown, or an error message was printed.
 */
int cunei_options_parse(const struct cunei_cmd *command, int *argc, char **argv,
                        void *values);

/*
 * After it, for a command that takes one trace directory: whether argv[1] is there and
 * nothing else is.  Returns as above.
 */
int cunei_options_directory(const struct cunei_cmd *command, int argc, char **argv);

/*
 * The same for one option and a text that was not typed, into the struct that its
 * offset counts from.  Texts are borrowed but for patterns.
 */
int cunei_options_set(const struct cunei_option *option, void *values,
                      const char *text);

/* Print the usage line, the help and the options of a command. */
void cunei_options_print_help(const struct cunei_cmd *command);

#endif
