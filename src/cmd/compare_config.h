// SPDX-License-Identifier: MIT
/*
 * The options of a recording that change its times and contents: traces that were
 * recorded with different options differ for that reason alone.
 *
 *     struct cunei_compare_config first = {0}, config = {0};
 *     cunei_compare_config_take(&first, path, &trace);
 *     …
 *     cunei_compare_config_print_differences(&first, &config);
 *     cunei_compare_config_fini(&first);
 */
#ifndef CUNEI_CMD_COMPARE_CONFIG_H
#define CUNEI_CMD_COMPARE_CONFIG_H

#include <stdbool.h>

struct cunei_trace;

struct cunei_compare_config {
    const char *path; /* borrowed; NULL: no trace */
    bool c_calls;
    char *directory; /* owned, as all that follow; NULL: unknown */
    char *python;
    char *instrumenter;
    char *patterns;
};

/* Those of the first process. */
void cunei_compare_config_take(struct cunei_compare_config *config, const char *path,
                               const struct cunei_trace *trace);
void cunei_compare_config_fini(struct cunei_compare_config *config);

/* A note on stderr for each difference. */
void cunei_compare_config_print_differences(const struct cunei_compare_config *one,
                                            const struct cunei_compare_config *two);

/* The same for what a trace lacks next to a cProfile file. */
void cunei_compare_config_print_cprofile_limits(
    const struct cunei_compare_config *config);

#endif
