// SPDX-License-Identifier: MIT
#include "cmd/common/time_range.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/message.h"
#include "cmd/common/options.h"

const struct cunei_option cunei_time_range_options[] = {
    {.name = "from",
     .kind = CUNEI_OPTION_TEXT,
     .value = "TIME",
     .help =
         "start this long after the first event: seconds, or\nfor example 10ms or 2min",
     .offset = offsetof(struct cunei_time_range_values, from)},
    {.name = "until",
     .kind = CUNEI_OPTION_TEXT,
     .value = "TIME",
     .help = "end this long after the first event",
     .offset = offsetof(struct cunei_time_range_values, until)},
    {0},
};

/* A point in time: seconds where no unit is named. */
static bool parse_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9},   {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                 {"µs", 1e3}, {"ns", 1e0}, {"min", 6e10}, {"h", 3.6e12}};
    char *end = NULL;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double product = number * units[i].ns;
        if (strcmp(end, units[i].name) == 0 && product < 0x1p63) {
            *ns = (uint64_t)(product + 0.5);
            return true;
        }
    }
    return false;
}

int cunei_time_range_settle(struct cunei_time_range_values *values)
{
    values->from_ns = 0;
    values->until_ns = UINT64_MAX;
    if (values->from && !parse_time(values->from, &values->from_ns))
        return cunei_cmd_usage(
            "--from needs a time such as 0.25, 10ms or 2min, not '%s'", values->from);
    if (values->until && !parse_time(values->until, &values->until_ns))
        return cunei_cmd_usage(
            "--until needs a time such as 0.25, 10ms or 2min, not '%s'", values->until);
    if (values->until_ns < values->from_ns)
        return cunei_cmd_usage("--until %s is before --from %s", values->until,
                               values->from);
    return CUNEI_OPTIONS_CONTINUE;
}
