// SPDX-License-Identifier: MIT
/*
 * --to FORMAT[:FILE] and --open: a recording that is exported when it is done.
 *
 *     struct cunei_export_option exporting = {0};   of cunei_export_option_options
 *     status = cunei_export_option_prepare(&exporting, program, force);
 *     … run the program …
 *     status = cunei_export_option_write(&exporting, directory, NULL);
 *     cunei_export_option_fini(&exporting);
 */
#ifndef CUNEI_CMD_COMMON_EXPORT_OPTION_H
#define CUNEI_CMD_COMMON_EXPORT_OPTION_H

#include <stdbool.h>

#include "cmd/common/options.h"

struct cunei_export_format;
struct cunei_export_options;

/* Of a tree that did not keep all paths: what is wrong with a picture of it. */
#define CUNEI_EXPORTING_FOLDED                                                        \
    "there were more different paths of calls than are kept: the time of the others " \
    "counts to their last common caller"

/* Of functions: no pattern leaves one. */
#define CUNEI_EXPORTING_NONE                                                         \
    "--include and --exclude leave; a pattern is a module, module:qualname, a file " \
    "or re:…"

struct cunei_export_option {
    const char *to;  /* as typed; NULL: nothing is exported */
    bool open;       /* in what opens such files here */
    bool force;      /* over a file that exists */
    bool has_stdout; /* which is no program's: - is it */

    /* Private. */
    const struct cunei_export_format *format;
    char *file; /* owned */
};

extern const struct cunei_option cunei_export_option_options[];

/*
 * Understand what was typed, and whether the file can be made, which is called as
 * `name` where no other name was given.  Returns as cunei_options_parse.
 */
int cunei_export_option_prepare(struct cunei_export_option *exporting, const char *name,
                                bool force);

/* Export the trace; `options` may be NULL.  What was written, or why not, is said;
 * returns the exit status. */
int cunei_export_option_write(const struct cunei_export_option *exporting,
                              const char *path,
                              const struct cunei_export_options *options);
void cunei_export_option_fini(struct cunei_export_option *exporting);

#endif
