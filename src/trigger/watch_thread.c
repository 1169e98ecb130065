// SPDX-License-Identifier: MIT
#include "trigger/watch_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "model/walk/walk.h"
#include "text/names.h"
#include "trace/packet/packet_part.h"
#include "trace/process/process.h"
#include "trigger/kind.h"
#include "trigger/triggers.h"
#include "wire/event.h"

/* The name that patterns have: module:qualname, or that of a region. */
static void format_name(const struct cunei_watch_thread *thread, uint32_t id,
                        struct cunei_buffer *out)
{
    const struct cunei_function *function =
        id ? cunei_trace_function(thread->process, id) : NULL;

    if (!function || !function->module)
        return;
    if (cunei_definition_of(function) == CUNEI_DEFINITION_REGION)
        cunei_buffer_format(out, "region %s", function->qualname);
    else
        cunei_buffer_format(out, "%s:%s", function->module, function->qualname);
}

/* The structs of a place and of its thread begin at the same address. */
static struct cunei_watch_thread *thread_of(struct cunei_trigger_place *place)
{
    return (struct cunei_watch_thread *)(void *)place;
}

static void fire(struct cunei_trigger_place *place, const struct cunei_trigger *trigger,
                 const struct cunei_trigger_finding *finding)
{
    struct cunei_watch_thread *thread = thread_of(place);
    uint64_t time_ns = cunei_metadata_wall_ns(&thread->process->metadata, thread->now);
    struct cunei_buffer function = {0}, what = {0};

    if (time_ns < thread->since_ns)
        return;
    format_name(thread, finding->function, &function);
    cunei_buffer_append_text(&what, finding->what);
    const struct cunei_cause cause = {
        .time_ns = time_ns,
        .value = finding->value,
        .count = 1,
        .thread = thread->tid,
        .line = finding->line,
        .trigger = trigger->text,
        .what = what.data ? what.data : thread->name,
        .function = function.data ? function.data : (char[]){""},
        .thread_name = thread->name,
    };
    const struct cunei_trigger_firing firing = {
        .trigger = (size_t)(trigger - thread->triggers->items),
        .process = thread->process,
        .cause = &cause,
    };
    thread->listener->fired(thread->listener->context, &firing);
    cunei_buffer_fini(&function);
    cunei_buffer_fini(&what);
}

static void offer(struct cunei_trigger_place *place,
                  const struct cunei_trigger *trigger, const char *name)
{
    const struct cunei_watch_thread *thread = thread_of(place);

    if (thread->listener->offered)
        thread->listener->offered(thread->listener->context,
                                  (size_t)(trigger - thread->triggers->items), name);
}

static const struct cunei_function *find(const struct cunei_trigger_place *place,
                                         uint32_t id)
{
    const struct cunei_watch_thread *thread = (const void *)place;

    return cunei_trace_function(thread->process, id);
}

static uint64_t ticks_ns(const struct cunei_watch_thread *thread, uint64_t ticks)
{
    return cunei_ticks_ns(ticks, thread->process->metadata.frequency);
}

static void set_name(struct cunei_watch_thread *thread, const char *name, size_t size)
{
    size = cunei_text_cut(name, strnlen(name, size), CUNEI_WATCH_NAME_MAX);
    memcpy(thread->name, name, size);
    thread->name[size] = '\0';
}

static void begin_thread(struct cunei_watch_thread *thread,
                         const struct cunei_packet *packet)
{
    thread->tid = packet->vtid;
    thread->serial = packet->thread;
    thread->has_fired_lag = false;
    set_name(thread, packet->thread_name, CUNEI_PACKET_THREAD_NAME);
}

/* The triggers that look at a function; a bit for each. */
static uint32_t triggers_of(const struct cunei_watch_thread *thread, uint32_t function)
{
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    return index < thread->functions->count ? thread->functions->triggers[index] : 0;
}

/* Whether one of the triggers of a function fires for a call of it. */
static bool look_at_call(struct cunei_watch_thread *thread,
                         const struct cunei_trigger_span *span)
{
    bool has_fired = false;

    for (uint32_t rest = triggers_of(thread, span->function); rest; rest &= rest - 1) {
        const struct cunei_trigger *trigger =
            &thread->triggers->items[__builtin_ctz(rest)];
        has_fired |= trigger->kind->call(&thread->place, trigger, span);
    }
    return has_fired;
}

/* How long a frame has run without other greenlets. */
static uint64_t age_ns(const struct cunei_watch_thread *thread,
                       const struct cunei_walk_frame *frame, uint64_t now)
{
    uint64_t since = frame->entered + frame->suspended;

    return now > since ? ticks_ns(thread, now - since) : 0;
}

static void end_call(struct cunei_watch_thread *thread,
                     const struct cunei_walk_step *step)
{
    struct cunei_walk_frame *frame = &step->frames[step->depth - 1];

    if (triggers_of(thread, step->function) == 0 || frame->mark || step->is_suspended)
        return;
    const struct cunei_trigger_span span = {.ns = age_ns(thread, frame, step->time),
                                            .function = step->function,
                                            .is_open = step->kind == CUNEI_WALK_OPEN};
    (void)look_at_call(thread, &span);
}

static bool look_at_busy(struct cunei_watch_thread *thread,
                         const struct cunei_loop_busy *busy, bool is_open)
{
    const struct cunei_trigger_span span = {.ns = ticks_ns(thread, busy->ticks),
                                            .function = busy->function,
                                            .is_open = is_open};
    bool has_fired = false;

    for (size_t i = 0; i < thread->triggers->count; i++) {
        const struct cunei_trigger *trigger = &thread->triggers->items[i];
        if (trigger->kind->busy)
            has_fired |= trigger->kind->busy(&thread->place, trigger, &span);
    }
    return has_fired;
}

static void follow_loop(struct cunei_watch_thread *thread,
                        const struct cunei_walk_step *step)
{
    struct cunei_loop_busy busy;

    if (!cunei_loop_lag_step(&thread->loop, step, thread->functions->roles,
                             thread->functions->count, &busy))
        return;
    if (!thread->has_fired_lag)
        (void)look_at_busy(thread, &busy, step->kind == CUNEI_WALK_OPEN);
    thread->has_fired_lag = false;
}

static void look_at_event(struct cunei_watch_thread *thread,
                          const struct cunei_walk_step *step)
{
    uint32_t class = cunei_record_class(step->event[0]);

    if (class == CUNEI_CLASS_THREAD_NAME) {
        const struct cunei_thread_name *name = (const void *)step->event;
        if (name->thread == thread->serial)
            set_name(thread, name->name, name->length);
    }
    thread->place.function =
        step->depth > 0 ? step->frames[step->depth - 1].function : 0;
    for (size_t i = 0; i < thread->triggers->count; i++) {
        const struct cunei_trigger *trigger = &thread->triggers->items[i];
        if (trigger->kind->event && trigger->kind->event_class == class)
            trigger->kind->event(&thread->place, trigger, step->event);
    }
}

static int take_step(void *context, const struct cunei_walk_step *step)
{
    struct cunei_watch_thread *thread = context;

    thread->now = step->time;
    if (thread->functions->roles)
        follow_loop(thread, step);
    if (step->kind == CUNEI_WALK_THREAD)
        begin_thread(thread, step->packet);
    else if (step->kind == CUNEI_WALK_LEAVE || step->kind == CUNEI_WALK_OPEN)
        end_call(thread, step);
    else if (step->kind == CUNEI_WALK_EVENT)
        look_at_event(thread, step);
    return 0;
}

struct cunei_watch_thread *cunei_watch_thread_new(
    const struct cunei_triggers *triggers,
    const struct cunei_trigger_listener *listener)
{
    struct cunei_watch_thread *thread = malloc(sizeof(*thread));

    if (!thread)
        return NULL;
    *thread = (struct cunei_watch_thread){
        .place = {.fire = fire, .offer = offer, .find = find},
        .triggers = triggers,
        .listener = listener};
    thread->walk = cunei_walk_new(take_step, thread, (struct cunei_id_kinds){0});
    if (thread->walk)
        return thread;
    free(thread);
    return NULL;
}

void cunei_watch_thread_free(struct cunei_watch_thread *thread)
{
    if (!thread)
        return;
    cunei_walk_free(thread->walk);
    free(thread);
}

int cunei_watch_thread_read(struct cunei_watch_thread *thread,
                            const struct cunei_trace_part *part)
{
    int rc = 0;

    cunei_walk_set_kinds(thread->walk, cunei_trace_kinds(thread->process));
    thread->has_begun &= !part->is_first;
    if (part->word_count > 0) {
        rc = thread->has_begun ? cunei_walk_continue(thread->walk, part->head,
                                                     part->words, part->word_count)
                               : cunei_walk_packet(thread->walk, part->head,
                                                   part->words, part->word_count);
        thread->has_begun = true;
    }
    if (part->is_cut)
        cunei_walk_cut_packet(thread->walk);
    return rc;
}

int cunei_watch_thread_end(struct cunei_watch_thread *thread)
{
    return cunei_walk_end(thread->walk);
}

static void look_at_loop(struct cunei_watch_thread *thread, uint64_t now)
{
    struct cunei_loop_busy busy;

    if (thread->functions->roles && !thread->has_fired_lag &&
        cunei_loop_lag_now(&thread->loop, now, &busy) &&
        ticks_ns(thread, busy.ticks) >= CUNEI_TRIGGER_PATIENCE_NS)
        thread->has_fired_lag = look_at_busy(thread, &busy, true);
}

void cunei_watch_thread_look(struct cunei_watch_thread *thread, uint64_t now)
{
    uint32_t depth = 0;
    struct cunei_walk_frame *frames = cunei_walk_frames(thread->walk, &depth);

    thread->now = now;
    look_at_loop(thread, now);
    for (uint32_t i = 0; i < depth; i++) {
        struct cunei_walk_frame *frame = &frames[i];
        uint64_t ns = age_ns(thread, frame, now);
        if (ns < CUNEI_TRIGGER_PATIENCE_NS || frame->mark ||
            triggers_of(thread, frame->function) == 0)
            continue;
        frame->mark = look_at_call(
            thread, &(struct cunei_trigger_span){
                        .ns = ns, .function = frame->function, .is_open = true});
    }
}
