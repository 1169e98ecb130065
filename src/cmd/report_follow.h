// SPDX-License-Identifier: MIT
/* `cunei report --follow`: the report again and again while a program is recorded. */
#ifndef CUNEI_CMD_REPORT_FOLLOW_H
#define CUNEI_CMD_REPORT_FOLLOW_H

#include <stdint.h>

struct cunei_report_options;

/* Until the recording ends, or a signal asks for the last report.  Returns the exit
 * status. */
int cunei_report_follow(const char *path, const struct cunei_report_options *wanted,
                        uint64_t interval_ns);

#endif
