// SPDX-License-Identifier: MIT
/* The trigger `exception:TYPE`: an exception of a type is raised. */
#include <string.h>

#include "base/buffer.h"
#include "base/glob.h"
#include "model/facts/import_system.h"
#include "text/names.h"
#include "trigger/kind.h"
#include "trigger/parse.h"
#include "trigger/place.h"
#include "trigger/triggers.h"
#include "wire/event.h"
#include "wire/metadata.h"

/* The whole name of the type, or the part behind its last dot. */
static bool matches_type(const char *glob, const char *type)
{
    const char *dot = strrchr(type, '.');

    return cunei_glob_matches(glob, type) || (dot && cunei_glob_matches(glob, dot + 1));
}

/*
 * The import system raises and catches exceptions of its own, hundreds in a program's
 * start.  Only those about modules are meant for others.
 */
static bool is_internal(const struct cunei_trigger_place *place, uint32_t function,
                        const char *type)
{
    const struct cunei_function *raiser = place->find(place, function);

    return raiser && raiser->module && cunei_is_import_system(raiser) &&
           strcmp(type, "ImportError") != 0 && strcmp(type, "ModuleNotFoundError") != 0;
}

static void look_at_event(struct cunei_trigger_place *place,
                          const struct cunei_trigger *trigger, const uint64_t *event)
{
    const struct cunei_exception *exception = (const void *)event;
    struct cunei_buffer type = {0}, what = {0};

    if (cunei_record_phase(event[0]) != CUNEI_PHASE_ENTER)
        return;
    cunei_buffer_append(&type, exception->type,
                        strnlen(exception->type, exception->length));
    const char *name = cunei_buffer_text(&type);
    if (!matches_type(trigger->argument, name))
        place->offer(place, trigger, name);
    else if (!is_internal(place, exception->function, name)) {
        cunei_buffer_format(&what, "%s raised", cunei_format_type(name));
        cunei_trigger_fire(
            place, trigger,
            (struct cunei_trigger_finding){.function = exception->function,
                                           .line = exception->line},
            &what);
    }
    cunei_buffer_fini(&type);
}

const struct cunei_trigger_kind cunei_trigger_kind_exception = {
    .name = "exception",
    .form = "exception:TYPE",
    .example = "exception:ValueError",
    .help = "an exception of this type is raised",
    .names = "exception raised",
    .parse = cunei_trigger_parse_name,
    .event_class = CUNEI_CLASS_EXCEPTION,
    .event = look_at_event,
};
