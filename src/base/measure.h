// SPDX-License-Identifier: MIT
/*
 * Numbers as people type them, most of them with a unit.  Each function returns false
 * for anything else, and leaves its output as it is.
 */
#ifndef CUNEI_BASE_MEASURE_H
#define CUNEI_BASE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes, such as "4096", "10M" or "1.5GiB". */
bool cunei_measure_size(const char *text, uint64_t *bytes);

/* Nanoseconds, such as "250us", "1.5s" or "2min". */
bool cunei_measure_duration(const char *text, uint64_t *ns);

/* The same for a point in time, in seconds where no unit is named: "0.25". */
bool cunei_measure_moment(const char *text, uint64_t *ns);

/* A number without a unit. */
bool cunei_measure_number(const char *text, double *number);

/* "5", "5%" or "0.5 %", from `least` to `most`. */
bool cunei_measure_percent(const char *text, double least, double most,
                           double *percent);

#endif
