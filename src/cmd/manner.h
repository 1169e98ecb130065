// SPDX-License-Identifier: MIT
/*
 * How a trace was recorded, as far as that changes its times and what is in it: two
 * that were recorded in different manners differ for that reason alone.
 *
 *     struct cunei_manner first = {0}, manner = {0};
 *     cunei_manner_take(&first, path, &trace);
 *     …
 *     cunei_manner_say_differences(&first, &manner);
 *     cunei_manner_fini(&first);
 */
#ifndef CUNEI_CMD_MANNER_H
#define CUNEI_CMD_MANNER_H

#include <stdbool.h>

struct cunei_trace;

struct cunei_manner {
    const char *path; /* borrowed; NULL: there is none */
    bool c_calls;
    char *directory; /* owned, as all that follow; NULL: unknown */
    char *python;
    char *instrumenter;
    char *patterns;
};

/* As its first process was. */
void cunei_manner_take(struct cunei_manner *manner, const char *path,
                       const struct cunei_trace *trace);
void cunei_manner_fini(struct cunei_manner *manner);

/* In notes on stderr, one for each. */
void cunei_manner_say_differences(const struct cunei_manner *one,
                                  const struct cunei_manner *two);

/* The same for one beside what cProfile wrote. */
void cunei_manner_say_beside_prof(const struct cunei_manner *manner);

#endif
