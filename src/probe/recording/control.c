// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/recording/control.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/budget/budget.h"
#include "probe/budget/event_cost.h"
#include "probe/code/code_resolve.h"
#include "probe/code/frames.h"
#include "probe/core/compat.h"
#include "probe/core/world.h"
#include "probe/events/argument.h"
#include "probe/events/c_call.h"
#include "probe/events/exception.h"
#include "probe/events/exception_track.h"
#include "probe/events/greenlet.h"
#include "probe/events/line_event.h"
#include "probe/events/process.h"
#include "probe/events/task.h"
#include "probe/events/thread_name.h"
#include "probe/recording/describe.h"
#include "probe/recording/probe_state.h"
#include "probe/recording/selection.h"
#include "probe/recording/source_choice.h"
#include "probe/user/decorated.h"
#include "probe/user/region.h"
#include "probe/user/user_event.h"
#include "python/refusal_reason.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/refusal.h"

/* Set by the fork handler of the C library, before Python runs in the child. */
static bool forked;

static void when_forked(void)
{
    forked = true;
}

/* A thread has begun a packet, or was asked to look. */
static void when_poked(bool top_is_open)
{
    struct cunei_probe *state = cunei_probe_active();

    cunei_thread_name_check(top_is_open);
    cunei_greenlet_attach();
    if (state)
        cunei_gc_hook(&state->collect);
}

/* Switch everything off and give it back; the recording itself has ended. */
static void release(struct cunei_probe *state)
{
    const struct cunei_code_hooks none = {0};

    cunei_budget_forget();
    cunei_gc_end(&state->collect);
    cunei_greenlet_detach();
    if (state->source->is_taken)
        cunei_selection_remove(state);
    state->source->methods->release(state->source);
    cunei_code_reset(NULL, &none);
    cunei_argument_choose(NULL);
    cunei_line_event_choose(NULL);
    cunei_task_reset();
    cunei_process_call_later(NULL);
    cunei_record_env_fini(&state->session);
    state->pauses = 0;
    state->is_lost = false;
    cunei_probe_set_active(NULL);
}

/* 0, or a negative errno with nothing started and no exception set. */
static int start_recorder(struct cunei_probe *state, bool is_forked)
{
    struct cunei_process process = {.event_cost_ps = state->cost.event_ps,
                                    .started_inside = state->inside,
                                    .attached = state->session.attached,
                                    .c_calls = state->session.c_calls,
                                    .budget = state->session.budget,
                                    .keep = state->session.keep.size,
                                    .keep_ns = state->session.keep.ns,
                                    .forked = is_forked};
    struct cunei_recorder_options options = {
        .directory = state->session.directory,
        .directory_id = state->session.directory_id,
        /* The launcher has created it, and may have removed it by now. */
        .make_directory = !is_forked && !state->session.frequency,
        .frequency = state->session.frequency,
        .max_bytes = state->session.max_bytes,
        .keep = state->session.keep,
        .launcher = state->session.launcher,
        .has_lines = state->session.lines.count > 0,
        .hooks = {.stack = cunei_greenlet_stack,
                  .name = cunei_thread_name_copy,
                  .poked = when_poked,
                  .closing = cunei_budget_closing,
                  .alarmed = cunei_budget_alarmed,
                  .forked = when_forked},
    };

    cunei_task_reset();
    cunei_greenlet_begin(state->tracer_type);
    cunei_exception_tracks_reset();
    cunei_describe(&process, &state->session);
    process.instrumenter =
        strdup(cunei_instrumenter_name(cunei_source_choice_of(&state->session)));
    if (is_forked)
        process.name = cunei_process_forked_name();
    int rc = cunei_recorder_start(&options, &process);
    cunei_process_fini(&process);
    const struct cunei_budget_options budget = {
        .source = state->source,
        .millionths = state->session.budget,
        .cost = state->cost,
    };
    if (rc == 0)
        cunei_budget_begin(&budget);
    return rc;
}

static void reset_code(struct cunei_probe *state)
{
    cunei_selection_apply(state);
    cunei_argument_choose(&state->session);
    cunei_line_event_choose(&state->session);
    cunei_region_reset(!state->source->kind->only_decorated);
    cunei_decorated_begin();
    cunei_decorated_enable(!state->source->kind->only_decorated);
}

static int start_events(struct cunei_probe *state)
{
    const struct cunei_source *source = state->source;

    if (source->methods->record(state->source) < 0)
        return -1;
    if (source->config.is_selective || source->config.lines)
        cunei_selection_resolve_open();
    cunei_gc_begin(&state->collect);
    cunei_greenlet_attach(); /* the first event may be a switch */
    cunei_user_event_write_metadata(false);
    return 0;
}

static void stop_recorder(void *unused)
{
    (void)unused;
    (void)cunei_recorder_stop();
}

/*
 * The recording cannot begin: report it to the launcher and, with CUNEI_DEBUG, to
 * stderr.  The program does not notice.
 */
static void refuse(struct cunei_probe *state, int error)
{
    const char *debug = getenv("CUNEI_DEBUG");

    cunei_refusal_leave(&state->session, getpid(), error);
    if (debug && strcmp(debug, "1") == 0)
        (void)dprintf(STDERR_FILENO, "cunei: not recording into '%s': %s\n",
                      state->session.directory, cunei_refusal_reason_text(error));
    release(state);
}

/* Why the source failed. */
static int refusal_of(const struct cunei_probe *state)
{
    int refusal = state == cunei_probe_active()
                      ? state->source->refusal
                      : cunei_source_choice_refusal(&state->session);
    return refusal ? refusal : CUNEI_REFUSAL_FORBIDDEN;
}

/* In a process that was launched to be recorded. */
static void begin_main(struct cunei_probe *state)
{
    const struct cunei_source_config config = cunei_selection_config(state);
    int rc = state->source->methods->prepare(state->source, &config);
    reset_code(state);
    rc = rc < 0 ? -refusal_of(state) : start_recorder(state, false);
    if (rc == 0 && start_events(state) < 0) {
        cunei_world_stop(stop_recorder, NULL);
        rc = -refusal_of(state);
    }
    PyErr_Clear();
    if (rc < 0)
        refuse(state, -rc);
}

/* Called in __main__'s first frame. */
bool cunei_control_main_begins(void)
{
    if (!cunei_world_take_control())
        return false;
    if (cunei_probe_active())
        begin_main(cunei_probe_active());
    bool is_wanted = cunei_probe_active() &&
                     !cunei_probe_active()->source->kind->only_decorated &&
                     cunei_recorder_is_on();
    cunei_world_leave_control();
    return is_wanted;
}

/* Continue in another folder: in a forked child, or if os._exit returned. */
static void begin_again(bool is_forked)
{
    if (!cunei_world_take_control())
        return;
    if (cunei_probe_active()) {
        cunei_budget_forget();
        cunei_code_renew();
        cunei_c_call_reset();
        int rc = start_recorder(cunei_probe_active(), is_forked);
        if (rc < 0)
            refuse(cunei_probe_active(), -rc);
        else
            cunei_user_event_write_metadata(cunei_frames_top_is_open());
    }
    cunei_world_leave_control();
}

static void begin_forked(void)
{
    begin_again(true);
}

static void begin_staying(void)
{
    begin_again(false);
}

/* While the program has paused the recording, no other tool has disabled our events. */
static void report_losses(struct cunei_probe *state)
{
    if (state->pauses > 0)
        return;
    int reason = cunei_source_choice_report_losses(state->source);
    if (reason)
        cunei_refusal_leave(&state->session, getpid(), reason);
}

void cunei_control_child_unrecorded(pid_t pid, int reason)
{
    struct cunei_probe *state = cunei_probe_active();

    /* A recording of cunei.start() or --no-children excludes all children. */
    if (state && !state->inside && !state->session.only_pid && cunei_recorder_is_on())
        cunei_refusal_leave(&state->session, pid, reason);
}

static void leave_recorder(void *status)
{
    (void)cunei_recorder_stop_at_exit(*(int *)status);
}

void cunei_control_exiting(int status)
{
    if (!cunei_world_take_control())
        return;
    if (cunei_probe_active() && cunei_recorder_is_on()) {
        report_losses(cunei_probe_active());
        cunei_budget_end();
        cunei_process_record_end();
        cunei_exception_end();
        cunei_world_stop(leave_recorder, &status);
        /* os._exit returns if it gets too many arguments. */
        cunei_process_call_later(begin_staying);
    }
    cunei_world_leave_control();
}

void cunei_control_stop(struct cunei_probe *state)
{
    if (!cunei_world_take_control())
        return;
    if (state == cunei_probe_active()) {
        report_losses(state);
        /* Events first: after that hardly any thread is inside one. */
        state->source->methods->pause(state->source);
        cunei_budget_end();
        cunei_decorated_write();
        cunei_process_record_end();
        cunei_exception_end();
        cunei_world_stop(stop_recorder, NULL);
        release(state);
    }
    cunei_world_leave_control();
}

void cunei_control_forked(struct cunei_probe *state)
{
    uint64_t now = cunei_clock_read();

    if (state == cunei_probe_active() && state->session.only_pid)
        release(state); /* and must not pay for it */
    else if (state == cunei_probe_active() && forked &&
             !cunei_process_defer(begin_forked)) {
        begin_forked();
        (void)cunei_recorder_room(&now, 0, true);
    }
    forked = false;
}

/* Take from the interpreter what the source needs; the session is set already. */
static int prepare(struct cunei_probe *state)
{
    struct cunei_source *source =
        cunei_source_choice_make(&state->session, state->sources);

    if (!source)
        return -1;
    state->source = source;
    cunei_probe_set_active(state);
    cunei_process_set_has_calls(source->methods->watch_calls != NULL);
    const struct cunei_source_config config = cunei_selection_config(state);
    if (source->methods->take(source, &config) < 0)
        return -1;
    cunei_event_cost_measure(source, &state->cost);
    return PyErr_Occurred() ? -1 : source->methods->prepare(source, &config);
}

static bool take_control(void)
{
    if (cunei_world_take_control())
        return true;
    PyErr_SetString(PyExc_RuntimeError,
                    "this thread is already starting or stopping a recording");
    return false;
}

/* Whether this interpreter can be recorded now; else an exception is set. */
static bool may_start(void)
{
    if (!cunei_probe_is_main())
        PyErr_SetString(PyExc_RuntimeError,
                        "only the main interpreter of a process can be recorded");
    else if (cunei_probe_active())
        PyErr_Format(
            PyExc_RuntimeError,
            "this process is being recorded already, into '%s'; stop that first",
            cunei_probe_active()->session.directory);
    else
        return true;
    return false;
}

/* Keep the exception that says why. */
static void undo_start(struct cunei_probe *state)
{
    struct cunei_compat_error error = cunei_compat_put_aside();

    release(state);
    cunei_compat_put_back(&error);
}

/* The session is set already; -1 with an exception set, and not undone. */
static int start(struct cunei_probe *state)
{
    if (prepare(state) < 0)
        return -1;
    reset_code(state);
    int rc = start_recorder(state, false);
    if (rc < 0) {
        bool is_ours = rc == -CUNEI_REFUSAL_RING || rc == -CUNEI_REFUSAL_MEMORY;
        PyErr_Format(PyExc_OSError, "cannot record into '%s': %s",
                     state->session.directory,
                     is_ours ? cunei_refusal_reason_text(-rc) : strerror(-rc));
        return -1;
    }
    if (start_events(state) == 0)
        return 0;
    struct cunei_compat_error error = cunei_compat_put_aside();
    cunei_world_stop(stop_recorder, NULL);
    cunei_compat_put_back(&error);
    return -1;
}

int cunei_control_start(struct cunei_probe *state, struct cunei_record_env *session)
{
    int rc = -1;

    if (!take_control())
        return -1;
    if (may_start()) {
        state->session = *session;
        *session = (struct cunei_record_env){0};
        state->inside = true;
        rc = start(state);
        if (rc < 0)
            undo_start(state);
    }
    cunei_world_leave_control();
    return rc;
}

/* As the environment asks; -1 with an exception set. */
static int boot(struct cunei_probe *state, const char *text)
{
    if (!may_start())
        return -1;
    int rc = cunei_record_env_parse(&state->session, text);
    if (rc < 0) {
        PyErr_Format(PyExc_RuntimeError, "%s is not understood: %s",
                     CUNEI_RECORD_ENV_VARIABLE, strerror(-rc));
        return -1;
    }
    bool is_for_another =
        state->session.only_pid && state->session.only_pid != (uint64_t)getpid();
    if (is_for_another || !state->session.directory) {
        cunei_record_env_fini(&state->session);
        return 0;
    }
    state->inside = false;
    if (prepare(state) < 0 || (!state->session.startup &&
                               state->source->methods->await_main(state->source) < 0)) {
        cunei_refusal_leave(&state->session, getpid(), refusal_of(state));
        undo_start(state);
        return -1;
    }
    if (state->session.startup)
        begin_main(state);
    return 0;
}

int cunei_control_boot(struct cunei_probe *state, const char *text)
{
    if (!cunei_probe_is_main())
        cunei_recorder_count_interpreter();
    if (!take_control())
        return -1;
    int rc = boot(state, text);
    cunei_world_leave_control();
    return rc;
}
