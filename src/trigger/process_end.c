// SPDX-License-Identifier: MIT
#include "trigger/process_end.h"

#include <errno.h>

#include "base/buffer.h"
#include "trace/directory/open_options.h"
#include "trace/directory/trace.h"
#include "trigger/firing.h"
#include "trigger/kind.h"
#include "trigger/place.h"
#include "trigger/triggers.h"

bool cunei_process_end_is_known(const struct cunei_trace_process *process)
{
    const struct cunei_process *description = &process->description;

    switch (process->state) {
    case CUNEI_TRACE_ENDED:
    case CUNEI_TRACE_KILLED:
        return description->left || description->exited || description->signal > 0;
    default:
        return true;
    }
}

int cunei_process_ends_read(const char *path,
                            int (*look)(void *context,
                                        const struct cunei_trace_process *process),
                            void *context)
{
    const struct cunei_trace_open_options opening = {.without_ring = true};
    struct cunei_trace_error error;
    struct cunei_trace trace;

    int rc = cunei_trace_open_with(&trace, path, &opening, &error);
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    for (size_t i = 0; rc == 0 && i < trace.process_count; i++) {
        if (trace.processes[i].state != CUNEI_TRACE_RUNNING)
            rc = look(context, &trace.processes[i]);
    }
    cunei_trace_close(&trace);
    return rc;
}

/* A place without a thread. */
struct end_place {
    struct cunei_trigger_place place; /* first: its functions are called with it */
    const struct cunei_trace_process *process;
    const struct cunei_triggers *triggers;
    const struct cunei_trigger_listener *listener;
};

/* When it ended, or the last thing that is known of it. */
static uint64_t end_ns(const struct cunei_trace_process *process)
{
    return process->description.end_ns
               ? process->description.end_ns
               : cunei_metadata_wall_ns(&process->metadata, process->last_tick);
}

static void fire(struct cunei_trigger_place *place, const struct cunei_trigger *trigger,
                 const struct cunei_trigger_finding *finding)
{
    const struct end_place *end = (const void *)place;
    char none[] = "";
    struct cunei_buffer what = {0};

    cunei_buffer_append_text(&what, finding->what);
    const struct cunei_cause cause = {.time_ns = end_ns(end->process),
                                      .value = finding->value,
                                      .count = 1,
                                      .trigger = trigger->text,
                                      .what = what.data ? what.data : none,
                                      .function = none,
                                      .thread_name = none};
    const struct cunei_trigger_firing firing = {
        .trigger = (size_t)(trigger - end->triggers->items),
        .process = end->process,
        .cause = &cause,
    };
    end->listener->fired(end->listener->context, &firing);
    cunei_buffer_fini(&what);
}

int cunei_process_end_look(const struct cunei_trace_process *process,
                           const struct cunei_triggers *triggers,
                           const struct cunei_trigger_listener *listener)
{
    struct end_place end = {.place = {.fire = fire},
                            .process = process,
                            .triggers = triggers,
                            .listener = listener};

    for (size_t i = 0; i < triggers->count; i++) {
        const struct cunei_trigger *trigger = &triggers->items[i];
        if (trigger->kind->end)
            trigger->kind->end(&end.place, trigger, process);
    }
    return 0;
}
