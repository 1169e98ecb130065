// SPDX-License-Identifier: MIT
/* The trigger `mark:NAME`: the program calls cunei.mark with this name. */
#include "base/buffer.h"
#include "base/glob.h"
#include "text/typed_value.h"
#include "trigger/kind.h"
#include "trigger/parse.h"
#include "trigger/place.h"
#include "trigger/triggers.h"
#include "wire/user_event.h"

/* The mark with its value. */
static void format(const struct cunei_user_value *mark, const char *name,
                   struct cunei_buffer *what)
{
    cunei_buffer_format(what, "mark '%s'", name);
    if (mark->kind == CUNEI_VALUE_NONE)
        return;
    cunei_buffer_append_text(what, " = ");
    cunei_typed_value_format_event(mark, false, what);
}

static void look_at_event(struct cunei_trigger_place *place,
                          const struct cunei_trigger *trigger, const uint64_t *event)
{
    const struct cunei_user_value *mark = (const void *)event;
    struct cunei_user_event_text text = cunei_user_event_name(mark);
    struct cunei_buffer name = {0}, what = {0};

    if (mark->kind == CUNEI_VALUE_ERROR)
        return;
    cunei_buffer_append(&name, text.data, text.size);
    if (cunei_glob_matches(trigger->argument, cunei_buffer_text(&name))) {
        format(mark, cunei_buffer_text(&name), &what);
        cunei_trigger_fire(place, trigger,
                           (struct cunei_trigger_finding){.function = place->function},
                           &what);
    } else
        place->offer(place, trigger, cunei_buffer_text(&name));
    cunei_buffer_fini(&name);
}

const struct cunei_trigger_kind cunei_trigger_kind_mark = {
    .name = "mark",
    .form = "mark:NAME",
    .example = "mark:checkout",
    .help = "the program records a mark of this name",
    .names = "mark recorded",
    .parse = cunei_trigger_parse_name,
    .event_class = CUNEI_CLASS_MARK,
    .event = look_at_event,
};
