// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/recording/selection.h"

#include "probe/budget/budget.h"
#include "probe/code/code_resolve.h"
#include "probe/code/frames.h"
#include "probe/core/compat.h"
#include "probe/events/c_call.h"
#include "probe/events/function_event.h"
#include "probe/events/line_event.h"
#include "probe/events/process.h"
#include "probe/events/process_call_hooks.h"
#include "probe/recording/probe_state.h"
#include "probe/recording/source_choice.h"
#include "probe/user/decorated.h"
#if PY_VERSION_HEX >= 0x030c0000
#include "probe/sources/monitoring/exception_infer.h"
#endif

/* A thread may come here after the recording has ended. */
static void when_selected(PyCodeObject *code)
{
    struct cunei_probe *state = cunei_probe_active();

    if (state)
        state->source->methods->select(state->source, code);
}

#if PY_VERSION_HEX >= 0x030c0000
static void when_reached(PyCodeObject *code)
{
    struct cunei_probe *state = cunei_probe_active();

    if (state && state->source->methods->follow_exceptions)
        state->source->methods->follow_exceptions(state->source, code);
}

/* An exception may end there that comes through code which is not selected. */
static void when_left_out(PyCodeObject *code)
{
    if (cunei_exception_infer_is_outermost(code))
        when_reached(code);
}
#endif

static void when_watched(PyCodeObject *code)
{
    struct cunei_probe *state = cunei_probe_active();

    if (state && state->source->methods->watch_calls)
        state->source->methods->watch_calls(state->source, code);
}

static void when_lined(PyCodeObject *code)
{
    struct cunei_probe *state = cunei_probe_active();

    if (state)
        state->source->methods->add_lines(state->source, code);
}

static void forget_lined(PyCodeObject *code)
{
    struct cunei_source *source = cunei_probe_active()->source;
    source->methods->remove_lines(source, code);
}

static void forget_watched(PyCodeObject *code)
{
    struct cunei_source *source = cunei_probe_active()->source;
    source->methods->unwatch_calls(source, code);
}

static void forget_code(PyCodeObject *code)
{
    struct cunei_source *source = cunei_probe_active()->source;
    source->methods->forget(source, code);
}

static void unmute(PyCodeObject *code)
{
    struct cunei_source *source = cunei_probe_active()->source;
    source->methods->enable(source, code);
}

/* Whether events are set for each code object that is selected.  Not without a GIL:
 * each change of events would stop the world. */
static bool is_selective(const struct cunei_probe *state)
{
    return CUNEI_COMPAT_HAS_GIL && state->source->methods->select &&
           (state->session.patterns.count > 0 || state->session.budget > 0);
}

struct cunei_source_config cunei_selection_config(const struct cunei_probe *state)
{
    return (struct cunei_source_config){
        .is_selective = is_selective(state),
        .has_patterns = state->session.patterns.count > 0,
        .has_budget = state->session.budget > 0,
        .c_calls = state->session.c_calls,
        .lines = state->session.lines.count > 0,
    };
}

void cunei_selection_remove(struct cunei_probe *state)
{
    const struct cunei_source_methods *methods = state->source->methods;

    methods->pause(state->source);
    if (methods->unwatch_calls)
        cunei_code_visit(CUNEI_CODE_SET_WATCHED, forget_watched);
    if (methods->remove_lines && state->source->config.lines)
        cunei_code_visit(CUNEI_CODE_SET_LINED, forget_lined);
    if (is_selective(state))
        cunei_code_visit(CUNEI_CODE_SET_ALL, forget_code);
    if (cunei_code_has_muted() && !methods->enable_all(state->source))
        cunei_code_visit(CUNEI_CODE_SET_MUTED, unmute);
}

/* Frames that are open already need the events of their code when they end. */
static void resolve_open(void *unused, PyCodeObject *code, PyObject *globals)
{
    (void)unused;
    (void)cunei_code_resolve(code, globals);
}

void cunei_selection_resolve_open(void)
{
    cunei_frames_visit_all(resolve_open, NULL);
}

/* Python has imported the function that starts programs by now, but not before. */
static bool is_watched(PyCodeObject *code)
{
    if (cunei_process_starts_programs(code))
        cunei_process_call_hooks_watch();
    return cunei_process_watches(code);
}

/* Before there is a recording: late events of the one before get no tags then. */
void cunei_selection_apply(struct cunei_probe *state)
{
    const struct cunei_code_hooks hooks = {
        .flags = cunei_function_event_flags,
        .is_watched = is_watched,
        .has_lines = cunei_line_event_is_selected,
        .is_decorated = cunei_decorated_is_recorded,
        .set_id = cunei_decorated_set_id,
        .took = cunei_budget_charge,
        .selected = is_selective(state) ? when_selected : NULL,
        .level = state->session.budget ? cunei_budget_level : NULL,
        .levelled = cunei_budget_apply_level,
        .watched = when_watched,
        .lined = state->source->methods->add_lines ? when_lined : NULL,
#if PY_VERSION_HEX >= 0x030c0000
        .left_out = CUNEI_EXCEPTION_INFER_IS_LOCAL && is_selective(state)
                        ? when_left_out
                        : NULL,
#endif
    };

#if PY_VERSION_HEX >= 0x030c0000
    cunei_exception_infer_notify(is_selective(state) ? when_reached : NULL);
#endif
    cunei_code_reset(cunei_source_choice_patterns(&state->session), &hooks);
    cunei_c_call_reset();
}
