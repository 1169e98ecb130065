// SPDX-License-Identifier: MIT
/* The notes below a report: what it leaves out, what went wrong, what to do next. */
#ifndef CUNEI_REPORT_NOTES_H
#define CUNEI_REPORT_NOTES_H

struct cunei_report;
struct cunei_report_rows;

/* `rows` are those of the section above.  -ENOMEM. */
int cunei_report_print_notes(const struct cunei_report *report,
                             const struct cunei_report_rows *rows);

#endif
