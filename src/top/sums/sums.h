// SPDX-License-Identifier: MIT
/*
 * What recordings add up to at one moment: a copy of one or several analyses that does
 * not change while these continue.  Items are in the order of their numbers in a struct
 * cunei_top_known, so that two sums can be subtracted (top/sums/rates.h).  Tasks, of
 * which there is no end, are in the order of their own numbers.
 *
 *     struct cunei_top_sums sums = {.time_ns = now_ns};
 *     for each recording:
 *         cunei_top_sums_add(&sums, &known, &analysis);
 *     …
 *     cunei_top_sums_fini(&sums);
 *
 * An analysis ends with the last event.  A thread of a running process has been in its
 * innermost open function since then: that time is added here, up to `time_ns`.
 */
#ifndef CUNEI_TOP_SUMS_SUMS_H
#define CUNEI_TOP_SUMS_SUMS_H

#include "top/sums/sums_data.h"

struct cunei_top_known;

/* -ENOMEM; the sums can then only be released. */
int cunei_top_sums_add(struct cunei_top_sums *sums, struct cunei_top_known *known,
                       const struct cunei_analysis *analysis);
void cunei_top_sums_fini(struct cunei_top_sums *sums);

/* The same task in these sums; NULL: it has not begun by then, or was forgotten. */
const struct cunei_top_task *cunei_top_sums_find_task(
    const struct cunei_top_sums *sums, const struct cunei_top_task *wanted);

#endif
