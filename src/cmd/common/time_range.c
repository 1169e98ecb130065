// SPDX-License-Identifier: MIT
#include "cmd/common/time_range.h"

#include <stddef.h>

#include "base/measure.h"
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

int cunei_time_range_settle(struct cunei_time_range_values *values)
{
    values->from_ns = 0;
    values->until_ns = UINT64_MAX;
    if (values->from && !cunei_measure_moment(values->from, &values->from_ns))
        return cunei_cmd_usage(
            "--from needs a time such as 0.25, 10ms or 2min, not '%s'", values->from);
    if (values->until && !cunei_measure_moment(values->until, &values->until_ns))
        return cunei_cmd_usage(
            "--until needs a time such as 0.25, 10ms or 2min, not '%s'", values->until);
    if (values->until_ns < values->from_ns)
        return cunei_cmd_usage("--until %s is before --from %s", values->until,
                               values->from);
    return CUNEI_OPTIONS_CONTINUE;
}
