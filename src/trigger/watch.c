// SPDX-License-Identifier: MIT
#include "trigger/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/vector.h"
#include "trace/directory/trace.h"
#include "trace/follow/follow.h"
#include "trace/packet/packet_part.h"
#include "trigger/kind.h"
#include "trigger/process_end.h"
#include "trigger/triggers.h"
#include "trigger/watch_thread.h"

/* So many can be looked at in each poll. */
#define PROCESSES 64u

struct process {
    struct cunei_watch_thread **threads; /* owned, as each: by index of the streams */
    size_t count;
    struct cunei_watch_functions functions;
    bool has_ended; /* its threads have */
    bool is_done;   /* its end was looked at */
};

struct cunei_trigger_watch {
    const struct cunei_triggers *triggers; /* borrowed */
    struct cunei_trigger_listener listener;
    struct cunei_trace_follow *trace; /* owned */
    struct process *processes;        /* owned: by index in the trace */
    size_t process_count;
    uint64_t functions[CUNEI_TRIGGERS_MAX]; /* that each trigger looks at */
    uint64_t since_ns;                      /* what was before does not fire … */
    char **past; /* … nor the ends of processes in these folders; owned */
    size_t past_count;
    bool has_events; /* a trigger looks at events; otherwise none is walked */
    bool has_lag, has_ends;
    unsigned polls;     /* since the last end of a process … */
    unsigned all_polls; /* … and of all */
};

int cunei_trigger_watch_open(struct cunei_trigger_watch **watch, const char *path,
                             const struct cunei_triggers *triggers,
                             const struct cunei_trigger_listener *listener,
                             struct cunei_trace_error *error)
{
    struct cunei_trigger_watch *opened = calloc(1, sizeof(*opened));

    *error = (struct cunei_trace_error){0};
    if (!opened)
        return -ENOMEM;
    opened->triggers = triggers;
    opened->listener = *listener;
    for (size_t i = 0; i < triggers->count; i++) {
        const struct cunei_trigger_kind *kind = triggers->items[i].kind;
        opened->has_events |= kind->event || kind->call || kind->busy;
        opened->has_lag |= kind->busy != NULL;
        opened->has_ends |= kind->end != NULL;
    }
    int rc = cunei_trace_follow_open(&opened->trace, path, NULL, error);
    if (rc < 0) {
        cunei_trigger_watch_close(opened);
        return rc;
    }
    *watch = opened;
    return 0;
}

static void end_threads(struct process *process)
{
    for (size_t i = 0; i < process->count; i++)
        cunei_watch_thread_free(process->threads[i]);
    free(process->threads);
    free(process->functions.triggers);
    free(process->functions.roles);
    process->threads = NULL;
    process->count = 0;
    process->functions = (struct cunei_watch_functions){0};
}

void cunei_trigger_watch_close(struct cunei_trigger_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->process_count; i++)
        end_threads(&watch->processes[i]);
    free(watch->processes);
    for (size_t i = 0; i < watch->past_count; i++)
        free(watch->past[i]);
    free(watch->past);
    cunei_trace_follow_close(watch->trace);
    free(watch);
}

static int note_past(void *context, const struct cunei_trace_process *process)
{
    struct cunei_trigger_watch *watch = context;

    if (!CUNEI_VECTOR_RESERVE_ONE(watch->past, watch->past_count))
        return -ENOMEM;
    char *path = strdup(process->path);
    if (!path)
        return -ENOMEM;
    watch->past[watch->past_count++] = path;
    return 0;
}

int cunei_trigger_watch_skip(struct cunei_trigger_watch *watch, uint64_t now_ns)
{
    watch->since_ns = now_ns;
    return cunei_process_ends_read(cunei_trace_follow_trace(watch->trace)->path,
                                   note_past, watch);
}

static bool is_past(const struct cunei_trigger_watch *watch, const char *path)
{
    for (size_t i = 0; i < watch->past_count; i++) {
        if (strcmp(watch->past[i], path) == 0)
            return true;
    }
    return false;
}

static int reserve_processes(struct cunei_trigger_watch *watch, size_t count)
{
    while (watch->process_count < count) {
        if (!CUNEI_VECTOR_RESERVE_ONE(watch->processes, watch->process_count))
            return -ENOMEM;
        watch->processes[watch->process_count++] = (struct process){0};
    }
    return 0;
}

/* The triggers that look at calls of a function. */
static uint32_t find_triggers(struct cunei_trigger_watch *watch,
                              const struct cunei_function *function)
{
    uint32_t found = 0;

    for (size_t i = 0; i < watch->triggers->count; i++) {
        const struct cunei_trigger *trigger = &watch->triggers->items[i];
        if (!trigger->kind->matches || !trigger->kind->matches(trigger, function))
            continue;
        found |= UINT32_C(1) << i;
        watch->functions[i]++;
    }
    return found;
}

/* Look at the functions that came since the last part. */
static int update_functions(struct cunei_trigger_watch *watch,
                            struct cunei_watch_functions *functions,
                            const struct cunei_trace_process *process)
{
    uint32_t count = process->function_count;

    if (!CUNEI_VECTOR_RESERVE(functions->triggers, functions->capacity, count) ||
        (watch->has_lag &&
         !CUNEI_VECTOR_RESERVE(functions->roles, functions->role_capacity, count)))
        return -ENOMEM;
    for (; functions->count < count; functions->count++) {
        const struct cunei_function *function = &process->functions[functions->count];
        bool is_known = function->module != NULL;
        functions->triggers[functions->count] =
            is_known ? find_triggers(watch, function) : 0;
        if (watch->has_lag)
            functions->roles[functions->count] =
                (uint8_t)(is_known ? cunei_loop_role_of(function) : CUNEI_LOOP_NONE);
    }
    return 0;
}

/* The threads of a stream, made if it is new; NULL: no memory. */
static struct cunei_watch_thread *find_thread(struct cunei_trigger_watch *watch,
                                              size_t process_index, size_t index)
{
    if (reserve_processes(watch, process_index + 1) < 0)
        return NULL;
    struct process *process = &watch->processes[process_index];
    while (process->count <= index) {
        if (!CUNEI_VECTOR_RESERVE_ONE(process->threads, process->count))
            return NULL;
        process->threads[process->count++] = NULL;
    }
    if (!process->threads[index])
        process->threads[index] =
            cunei_watch_thread_new(watch->triggers, &watch->listener);
    return process->threads[index];
}

static int read_part(void *context, const struct cunei_trace_part *part)
{
    struct cunei_trigger_watch *watch = context;
    const struct cunei_trace_process *process =
        &cunei_trace_follow_trace(watch->trace)->processes[part->process];

    if (part->head->stream_class != CUNEI_STREAM_EVENTS || !watch->has_events)
        return 0;
    struct cunei_watch_thread *thread =
        find_thread(watch, part->process, (size_t)(part->stream - process->streams));
    if (!thread)
        return -ENOMEM;
    struct cunei_watch_functions *functions =
        &watch->processes[part->process].functions;
    int rc = update_functions(watch, functions, process);
    if (rc < 0)
        return rc;
    thread->process = process;
    thread->functions = functions;
    thread->since_ns = watch->since_ns;
    return cunei_watch_thread_read(thread, part);
}

/* What is open in a process that has ended, was so until its end. */
static int end_process(struct cunei_trigger_watch *watch, size_t index)
{
    struct process *process = &watch->processes[index];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < process->count; i++) {
        struct cunei_watch_thread *thread = process->threads[i];
        if (!thread)
            continue;
        thread->process = &cunei_trace_follow_trace(watch->trace)->processes[index];
        thread->functions = &process->functions;
        rc = cunei_watch_thread_end(thread);
    }
    end_threads(process);
    process->has_ended = true;
    watch->polls = 0;
    return rc;
}

bool cunei_trigger_watch_is_waiting(const struct cunei_trigger_watch *watch)
{
    for (size_t i = 0; watch->has_ends && i < watch->process_count; i++) {
        if (watch->processes[i].has_ended && !watch->processes[i].is_done)
            return true;
    }
    return false;
}

/* What the ends of processes are looked at with. */
struct end_context {
    struct cunei_trigger_watch *watch;
    bool is_last;
};

static int look_at_end(void *context, const struct cunei_trace_process *ended)
{
    const struct end_context *ends = context;
    struct cunei_trigger_watch *watch = ends->watch;
    const struct cunei_trace *trace = cunei_trace_follow_trace(watch->trace);

    for (size_t i = 0; i < watch->process_count; i++) {
        struct process *process = &watch->processes[i];
        if (process->is_done || (!process->has_ended && !ends->is_last) ||
            strcmp(trace->processes[i].path, ended->path) != 0)
            continue;
        if (!ends->is_last && !cunei_process_end_is_known(ended))
            return 0;
        process->is_done = true;
        return is_past(watch, ended->path)
                   ? 0
                   : cunei_process_end_look(ended, watch->triggers, &watch->listener);
    }
    return 0;
}

/*
 * How a process ended is often described some time after its last event: by itself in
 * exit(3), by its parent, or by the launcher.  So look again, less and less often; and
 * the more processes there are, the longer a look takes.
 */
static bool is_time_to_look(struct cunei_trigger_watch *watch)
{
    unsigned polls = watch->polls++;
    bool is_power = (polls & (polls - 1)) == 0;
    bool is_turn = watch->all_polls++ % (1 + watch->process_count / PROCESSES) == 0;

    watch->polls -= is_power && !is_turn;
    return is_power && is_turn && cunei_trigger_watch_is_waiting(watch);
}

static int look_at_ends(struct cunei_trigger_watch *watch, bool is_last)
{
    struct end_context context = {watch, is_last};

    if (!watch->has_ends || (!is_last && !is_time_to_look(watch)))
        return 0;
    return cunei_process_ends_read(cunei_trace_follow_trace(watch->trace)->path,
                                   look_at_end, &context);
}

int cunei_trigger_watch_poll(struct cunei_trigger_watch *watch)
{
    int more = cunei_trace_follow_poll(watch->trace, read_part, watch);
    const struct cunei_trace *trace = cunei_trace_follow_trace(watch->trace);
    int rc = more < 0 ? more : reserve_processes(watch, trace->process_count);

    for (size_t i = 0; rc >= 0 && i < watch->process_count; i++) {
        if (!watch->processes[i].has_ended &&
            cunei_trace_follow_has_ended(watch->trace, i))
            rc = end_process(watch, i);
    }
    if (rc >= 0)
        rc = look_at_ends(watch, false);
    return rc < 0 ? rc : more;
}

int cunei_trigger_watch_finish(struct cunei_trigger_watch *watch)
{
    return look_at_ends(watch, true);
}

/* The tick of a process at a time of the wall clock. */
static uint64_t tick_at(const struct cunei_metadata *metadata, uint64_t now_ns)
{
    uint64_t begin_ns = cunei_metadata_wall_ns(metadata, 0);

    return now_ns <= begin_ns ? 0
                              : (uint64_t)((unsigned __int128)(now_ns - begin_ns) *
                                           metadata->frequency / CUNEI_NS_PER_S);
}

void cunei_trigger_watch_look(struct cunei_trigger_watch *watch, uint64_t now_ns)
{
    const struct cunei_trace *trace = cunei_trace_follow_trace(watch->trace);

    for (size_t i = 0; i < watch->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (size_t j = 0; j < watch->processes[i].count; j++) {
            struct cunei_watch_thread *thread = watch->processes[i].threads[j];
            if (!thread)
                continue;
            thread->process = process;
            thread->functions = &watch->processes[i].functions;
            cunei_watch_thread_look(thread, tick_at(&process->metadata, now_ns));
        }
    }
}

const struct cunei_trace *cunei_trigger_watch_trace(
    const struct cunei_trigger_watch *watch)
{
    return cunei_trace_follow_trace(watch->trace);
}

uint64_t cunei_trigger_watch_functions(const struct cunei_trigger_watch *watch,
                                       size_t trigger)
{
    return watch->functions[trigger];
}

uint64_t cunei_trigger_watch_missed(const struct cunei_trigger_watch *watch)
{
    return cunei_trace_follow_missed(watch->trace);
}
