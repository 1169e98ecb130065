// SPDX-License-Identifier: MIT
/* Where the table does not begin with it: what the project's own functions took. */
#ifndef CUNEI_REPORT_OWN_CODE_H
#define CUNEI_REPORT_OWN_CODE_H

struct cunei_ranking;
struct cunei_report;

/*
 * Print the line about the project's functions that took the most time, with the
 * libraries that they call, unless the first rows of the table name all of them.  0 or
 * -ENOMEM.
 */
int cunei_report_print_own_code(const struct cunei_report *report,
                                const struct cunei_ranking *rows);

#endif
