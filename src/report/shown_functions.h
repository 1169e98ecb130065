// SPDX-License-Identifier: MIT
/*
 * The numbers of functions as a report shows them: with the time of what is folded into
 * them, and the modules of a library as one import.
 */
#ifndef CUNEI_REPORT_SHOWN_FUNCTIONS_H
#define CUNEI_REPORT_SHOWN_FUNCTIONS_H

struct cunei_report;

/* Fill in `shown` of the report, after the tree (report/shown_tree.h).  -ENOMEM. */
int cunei_shown_functions_init(struct cunei_report *report);
void cunei_shown_functions_fini(struct cunei_report *report);

#endif
