// SPDX-License-Identifier: MIT
/* The note of a report about --budget: which functions were sampled, how exact the
 * estimates are, and whether the budget was kept. */
#ifndef CUNEI_REPORT_BUDGET_ESTIMATES_H
#define CUNEI_REPORT_BUDGET_ESTIMATES_H

struct cunei_report;

/* -ENOMEM. */
int cunei_report_print_estimates(const struct cunei_report *report);

#endif
