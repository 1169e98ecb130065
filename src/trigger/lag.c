// SPDX-License-Identifier: MIT
/* The trigger `lag>TIME`: an asyncio event loop is busy for longer. */
#include "base/buffer.h"
#include "text/format.h"
#include "trigger/kind.h"
#include "trigger/parse.h"
#include "trigger/place.h"
#include "trigger/triggers.h"

static bool look_at_busy(struct cunei_trigger_place *place,
                         const struct cunei_trigger *trigger,
                         const struct cunei_trigger_span *span)
{
    struct cunei_buffer what = {0};

    if (span->ns <= trigger->limit_ns)
        return false;
    cunei_buffer_append_text(&what, span->is_open ? "event loop still busy after "
                                                  : "event loop busy for ");
    cunei_format_duration(&what, span->ns);
    cunei_trigger_fire(
        place, trigger,
        (struct cunei_trigger_finding){.value = span->ns, .function = span->function},
        &what);
    return true;
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
