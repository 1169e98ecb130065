// SPDX-License-Identifier: MIT
/*
 * How a trace was recorded, as far as that changes its times and what is in it: two
 * that were recorded in different manners differ for that reason alone.
 *
 *     struct cunei_compare_config first = {0}, manner = {0};
 *     cunei_compare_config_take(&first, path, &trace);
 *     …
 *     cunei_compare_config_say_differences(&first, &manner);
 *     cunei_compare_config_fini(&first);
 */
#ifndef CUNEI_CMD_COMPARE_CONFIG_H
#define CUNEI_CMD_COMPARE_CONFIG_H

#include <stdbool.h>

struct cunei_trace;

struct cunei_compare_config {
    const char *path; /* borrowed; NULL: there is none */
    bool c_calls;
    char *directory; /* owned, as all that follow; NULL: unknown */
    char *python;
    char *instrumenter;
    char *patterns;
};

/* As its first process was. */
void cunei_compare_config_take(struct cunei_compare_config *manner, const char *path,
                               const struct cunei_trace *trace);
void cunei_compare_config_fini(struct cunei_compare_config *manner);

/* In notes on stderr, one for each. */
void cunei_compare_config_say_differences(const struct cunei_compare_config *one,
                                          const struct cunei_compare_config *two);

/* The same for one beside what cProfile wrote. */
void cunei_compare_config_say_beside_prof(const struct cunei_compare_config *manner);

#endif
