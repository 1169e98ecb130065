// SPDX-License-Identifier: MIT
/* The line above a report: the program, its Python, times, calls, cost of recording. */
#ifndef CUNEI_REPORT_TITLE_H
#define CUNEI_REPORT_TITLE_H

struct cunei_report;

/* -ENOMEM. */
int cunei_report_print_title(const struct cunei_report *report);

#endif
