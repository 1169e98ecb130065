// SPDX-License-Identifier: MIT
/* The notes of a report about what was lost, damaged, killed or not recorded. */
#ifndef CUNEI_REPORT_LOSSES_H
#define CUNEI_REPORT_LOSSES_H

struct cunei_report;

/* -ENOMEM. */
int cunei_report_print_losses(const struct cunei_report *report);

#endif
