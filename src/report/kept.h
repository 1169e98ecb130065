// SPDX-License-Identifier: MIT
/* The note of a recording of which only the last part was kept, or copied. */
#ifndef CUNEI_REPORT_KEPT_H
#define CUNEI_REPORT_KEPT_H

#include <stdint.h>

struct cunei_analysis;
struct cunei_report;

/* Since when nothing is missing of any process, on the wall clock; 0: nothing is. */
uint64_t cunei_report_complete_ns(const struct cunei_analysis *analysis);

/* -ENOMEM. */
int cunei_report_print_kept(const struct cunei_report *report);

#endif
