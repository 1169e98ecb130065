// SPDX-License-Identifier: MIT
#include "trigger/place.h"

#include "base/buffer.h"

void cunei_trigger_fire(struct cunei_trigger_place *place,
                        const struct cunei_trigger *trigger,
                        struct cunei_trigger_finding finding, struct cunei_buffer *what)
{
    finding.what = cunei_buffer_text(what);
    place->fire(place, trigger, &finding);
    cunei_buffer_fini(what);
}
