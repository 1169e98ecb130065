// SPDX-License-Identifier: MIT
/* The options of a report, for `cunei report` and `cunei run`. */
#ifndef CUNEI_CMD_REPORT_H
#define CUNEI_CMD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/options.h"
#include "report/report.h"

/* The value of a section's option, of one of these kinds. */
struct cunei_report_section_value {
    bool is_asked;
    const char *name;
    struct cunei_option_list names; /* owned */
};

/* What the options fill in; begins as CUNEI_REPORT_VALUES_DEFAULTS. */
struct cunei_report_values {
    struct cunei_report_options report;
    const char *min_percent;
    bool follow;
    uint64_t interval_ns;               /* 0: not given */
    struct cunei_option_list processes; /* owned */
    struct cunei_report_section_value sections[CUNEI_REPORT_SECTIONS_MAX];
};

#define CUNEI_REPORT_VALUES_DEFAULTS    \
    {                                   \
        .report = CUNEI_REPORT_DEFAULTS \
    }

/* What to show and how, for `cunei run`: without the options that choose functions. */
extern const struct cunei_option cunei_report_run_options[];

/* Check the values and put them into `report`.  As cunei_options_parse. */
int cunei_report_settle(struct cunei_report_values *values);

void cunei_report_values_fini(struct cunei_report_values *values);

#endif
