// SPDX-License-Identifier: MIT
/* Sentences for the user, on stderr. */
#ifndef CUNEI_CMD_COMMON_MESSAGE_H
#define CUNEI_CMD_COMMON_MESSAGE_H

enum {
    CUNEI_EXIT_USAGE = 2 /* EXIT_FAILURE is for what was tried and failed */
};

struct cunei_buffer;

/*
 * Print what failed and, where `rc` is a negative errno, why.  Returns the exit status,
 * so that a command can end with `return cunei_cmd_fail(...)`.
 */
int cunei_cmd_fail(int rc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a wrong command line: what is wrong with it, and what would be right. */
int cunei_cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a sentence that is not an error. */
void cunei_cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * From now on append the sentences there, separated by semicolons; NULL: print them.
 * Returns where they went before.
 */
struct cunei_buffer *cunei_cmd_catch(struct cunei_buffer *sentences);

#endif
