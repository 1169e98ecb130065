// SPDX-License-Identifier: MIT
/* Why a snapshot was made: the triggers that fired, below the title. */
#ifndef CUNEI_REPORT_CAUSES_H
#define CUNEI_REPORT_CAUSES_H

struct cunei_json;
struct cunei_report;

/* -ENOMEM. */
int cunei_report_print_causes(const struct cunei_report *report);

/* The key `causes`, if there are any. */
void cunei_report_put_causes(const struct cunei_report *report,
                             struct cunei_json *json);

#endif
