// SPDX-License-Identifier: MIT
/*
 * A subcommand is one file that defines one `struct cunei_cmd`, one declaration here
 * and one line in the table in main.c.  Usage, help and suggestions are all made from
 * the tables.
 *
 *     static int run_info(int argc, char **argv)
 *     {
 *         struct info_values values = {0};
 *
 *         int status = cunei_options_parse(&cunei_cmd_info, &argc, argv, &values);
 *         if (status != CUNEI_OPTIONS_CONTINUE)
 *             return status;
 *         …
 *     }
 */
#ifndef CUNEI_CMD_CMD_H
#define CUNEI_CMD_CMD_H

#include <stdbool.h>

enum {
    CUNEI_EXIT_USAGE = 2 /* EXIT_FAILURE is for what was tried and failed */
};

struct cunei_buffer;
struct cunei_option;

struct cunei_cmd {
    const char *name;
    const char *args;                   /* as the usage line shows them */
    const char *summary;                /* one line, no full stop */
    const char *help;                   /* what to know, with examples */
    const struct cunei_option *options; /* ends with an empty row; or NULL */
    bool takes_program; /* the first word that is no option of ours, -m or -c begins a
                           program, and nothing behind it is ours; such a command deals
                           with SIGPIPE itself */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns an exit status */
};

extern const struct cunei_cmd cunei_cmd_record;
extern const struct cunei_cmd cunei_cmd_run;
extern const struct cunei_cmd cunei_cmd_report;
extern const struct cunei_cmd cunei_cmd_compare;
extern const struct cunei_cmd cunei_cmd_export;
extern const struct cunei_cmd cunei_cmd_filter;
extern const struct cunei_cmd cunei_cmd_replay;
extern const struct cunei_cmd cunei_cmd_dump;
extern const struct cunei_cmd cunei_cmd_info;
extern const struct cunei_cmd cunei_cmd_recover;
extern const struct cunei_cmd cunei_cmd_doctor;

/*
 * Say on stderr what could not be done and, where `rc` is a negative errno, why.
 * Returns the exit status for it, so a command can end with `return
 * cunei_cmd_fail(...)`.
 */
int cunei_cmd_fail(int rc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for words that make no sense: what was typed, and what would. */
int cunei_cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A sentence on stderr that is no failure. */
void cunei_cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * From now on sentences go there, one behind the other; NULL: to stderr.  Returns where
 * they went before.
 */
struct cunei_buffer *cunei_cmd_catch(struct cunei_buffer *sentences);

/* The Python that started us as `python -m cunei`, or NULL. */
const char *cunei_cmd_python(void);

/* The options that Python was started with itself, as `-X dev`, and how many words. */
int cunei_cmd_python_words(char ***words);

/* Print the usage line, the help and the options of a command. */
void cunei_cmd_help(const struct cunei_cmd *command);

#endif
