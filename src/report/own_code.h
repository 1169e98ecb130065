// SPDX-License-Identifier: MIT
/* Where the table begins with libraries: what the project's own functions took. */
#ifndef CUNEI_REPORT_OWN_CODE_H
#define CUNEI_REPORT_OWN_CODE_H

#include <stdint.h>

struct cunei_report;

/*
 * Print the line about the project's functions that took the most time, with the
 * libraries that they call, unless the first row of the table is one of them.  0 or
 * -ENOMEM.
 */
int cunei_report_print_own_code(const struct cunei_report *report, uint32_t first_row);

#endif
