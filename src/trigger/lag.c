// SPDX-License-Identifier: MIT
/* The trigger `lag>TIME`: an asyncio event loop is busy for longer. */
#include "trigger/kind.h"
#include "trigger/over_limit.h"
#include "trigger/parse.h"
#include "trigger/triggers.h"

static bool look_at_busy(struct cunei_trigger_place *place,
                         const struct cunei_trigger *trigger,
                         const struct cunei_trigger_span *span)
{
    return cunei_trigger_over_limit(
        place, trigger, span, "event loop still busy after ", "event loop busy for ");
}

const struct cunei_trigger_kind cunei_trigger_kind_lag = {
    .name = "lag",
    .form = "lag>TIME",
    .example = "lag>100ms",
    .help = "an asyncio event loop is busy for longer",
    .unit = "ns",
    .parse = cunei_trigger_parse_limit,
    .busy = look_at_busy,
};
