// SPDX-License-Identifier: MIT
#include "trigger/over_limit.h"

#include "base/buffer.h"
#include "text/format.h"
#include "trigger/kind.h"
#include "trigger/place.h"
#include "trigger/triggers.h"

bool cunei_trigger_over_limit(struct cunei_trigger_place *place,
                              const struct cunei_trigger *trigger,
                              const struct cunei_trigger_span *span,
                              const char *running, const char *ended)
{
    struct cunei_buffer what = {0};

    if (span->ns <= trigger->limit_ns)
        return false;
    cunei_buffer_append_text(&what, span->is_open ? running : ended);
    cunei_format_duration(&what, span->ns);
    cunei_trigger_fire(
        place, trigger,
        (struct cunei_trigger_finding){.value = span->ns, .function = span->function},
        &what);
    return true;
}
