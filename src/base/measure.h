// SPDX-License-Identifier: MIT
/* Sizes and durations as people type them: a decimal number and a unit. */
#ifndef CUNEI_BASE_MEASURE_H
#define CUNEI_BASE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes, such as "4096", "10M" or "1.5GiB"; false: it is none. */
bool cunei_measure_size(const char *text, uint64_t *bytes);

/* Nanoseconds, such as "250us", "1.5s" or "2min"; false: it is none. */
bool cunei_measure_duration(const char *text, uint64_t *ns);

/* The same for a point in time, in seconds where no unit is named: "0.25". */
bool cunei_measure_moment(const char *text, uint64_t *ns);

#endif
