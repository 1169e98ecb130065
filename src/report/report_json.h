// SPDX-License-Identifier: MIT
/* The report as one JSON object. */
#ifndef CUNEI_REPORT_REPORT_JSON_H
#define CUNEI_REPORT_REPORT_JSON_H

struct cunei_report;

/* `contents`: what the analysis contains, CUNEI_REPORT_NEEDS_…; sections that need more
 * are left out.  0 or a negative errno. */
int cunei_report_print_json(const struct cunei_report *report, unsigned contents);

#endif
