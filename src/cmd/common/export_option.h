// SPDX-License-Identifier: MIT
/*
 * --to FORMAT[:FILE], --open and --hide-source: export a recording at its end.
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

/* A warning for call trees that were too large to keep. */
#define CUNEI_EXPORTING_FOLDED                                                      \
    "there are too many different call paths to keep; the time of some is counted " \
    "for their nearest kept caller"

/* What a pattern can be, for errors. */
#define CUNEI_EXPORTING_PATTERNS \
    "a pattern is a module, module:qualname, a file or re:…"

struct cunei_export_option {
    const char *to;   /* as typed; NULL: nothing is exported */
    bool open;        /* the file in a viewer */
    bool hide_source; /* of the page */
    bool force;       /* overwrite a file */
    bool has_stdout;  /* - is stdout, which no program uses */

    /* Private. */
    const struct cunei_export_format *format;
    char *file; /* owned */
};

extern const struct cunei_option cunei_export_option_options[];

/* A trace directory's own name, for files that are made of it; owned by the caller.
 * NULL: not enough memory. */
char *cunei_export_option_name(const char *path);

/*
 * Parse --to and check that the file can be written; its name comes from `name` unless
 * --to has one.  Returns as cunei_options_parse.
 */
int cunei_export_option_prepare(struct cunei_export_option *exporting, const char *name,
                                bool force);

/* Export the trace and print what was written, or an error; `options` may be NULL.
 * Returns the exit status. */
int cunei_export_option_write(const struct cunei_export_option *exporting,
                              const char *path,
                              const struct cunei_export_options *options);
void cunei_export_option_fini(struct cunei_export_option *exporting);

#endif
