// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/hooks/hook.h"

#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/world.h"
#include "probe/events/function_event.h"
#include "probe/events/process_call_hooks.h"
#include "probe/sources/hooks/hook_frame.h"
#include "probe/sources/hooks/thread_start_end.h"
#include "python/refusal_reason.h"
#include "rt/recorder.h"

/* The one that new threads get; NULL: none. */
static struct cunei_hook *_Atomic present;

static unsigned recordings; /* so far */
static bool (*main_begins)(void);

static Py_tracefunc of_thread(const struct cunei_hook *hook,
                              const PyThreadState *thread)
{
    return hook->kind == CUNEI_HOOK_PROFILE ? thread->c_profilefunc
                                            : thread->c_tracefunc;
}

/* What is found with the world stopped. */
struct counting {
    const struct cunei_hook *hook;
    const PyThreadState *own;
    unsigned others; /* threads with a hook of another tool */
    unsigned taken;  /* threads without ours */
};

/*
 * Another thread that runs nothing is about to end: without a GIL it is still there.
 * The list of threads is locked there, so that the API cannot be asked.
 */
static void count_threads(void *context)
{
    struct counting *counting = context;
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    for (; thread; thread = thread->next) {
        Py_tracefunc function = of_thread(counting->hook, thread);
        bool is_ours = function == counting->hook->function;
        counting->others += function && !is_ours;
        counting->taken +=
            !is_ours && (thread == counting->own || cunei_frame_running(thread));
    }
}

static struct counting count(const struct cunei_hook *hook)
{
    struct counting counting = {.hook = hook, .own = PyThreadState_Get()};

    cunei_world_stop(count_threads, &counting);
    return counting;
}

static int count_others(const struct cunei_hook *hook)
{
    return (int)count(hook).others;
}

static int check(struct cunei_hook *hook)
{
    hook->source.refusal = 0;
    if (count_others(hook) == 0)
        return 0;
    hook->source.refusal =
        hook->kind == CUNEI_HOOK_PROFILE ? CUNEI_REFUSAL_PROFILE : CUNEI_REFUSAL_TRACE;
    PyErr_SetString(PyExc_RuntimeError,
                    cunei_refusal_reason_text(hook->source.refusal));
    return -1;
}

#if CUNEI_HOOK_FRAME_IS_FIELD
static void set_own(const struct cunei_hook *hook, Py_tracefunc function)
{
    PyThreadState *thread = PyThreadState_Get();

    if (hook->kind == CUNEI_HOOK_PROFILE)
        cunei_compat_311_set_profile(thread, function);
    else {
        cunei_compat_311_set_trace(thread, function);
        cunei_compat_311_update_tracing(thread);
    }
}

/* Those with `from` get `to`. */
static void set_all(const struct cunei_hook *hook, Py_tracefunc from, Py_tracefunc to)
{
    if (hook->kind == CUNEI_HOOK_PROFILE)
        cunei_compat_311_replace_profile(from, to);
    else
        cunei_compat_311_replace_trace(from, to);
}

static int ask(const struct cunei_hook *hook)
{
    (void)hook;
    return 0;
}
#else
static const char *audit_event(const struct cunei_hook *hook)
{
    return hook->kind == CUNEI_HOOK_PROFILE ? "sys.setprofile" : "sys.settrace";
}

/* Whether that is allowed: CPython prints that it is not.  -1 with an exception set. */
static int ask(const struct cunei_hook *hook)
{
    return PySys_Audit(audit_event(hook), NULL);
}

static void set_own(const struct cunei_hook *hook, Py_tracefunc function)
{
    if (hook->kind == CUNEI_HOOK_PROFILE)
        PyEval_SetProfile(function, NULL);
    else
        PyEval_SetTrace(function, NULL);
}

/*
 * If one of them has a hook of another tool, each thread sets its own.  So it does
 * without a GIL, because CPython would follow threads that may just have ended. Threads
 * that have not begun get the hook by thread_start_end.h.
 */
static void set_all(const struct cunei_hook *hook, Py_tracefunc from, Py_tracefunc to)
{
    if (!CUNEI_COMPAT_HAS_GIL || count_others(hook)) {
        if (of_thread(hook, PyThreadState_Get()) == from)
            set_own(hook, to);
    } else if (hook->kind == CUNEI_HOOK_PROFILE)
        PyEval_SetProfileAllThreads(to, NULL);
    else
        PyEval_SetTraceAllThreads(to, NULL);
}
#endif

static void put_own(struct cunei_hook *hook)
{
    if (of_thread(hook, PyThreadState_Get()))
        return;
    if (ask(hook) < 0)
        PyErr_Clear();
    else
        set_own(hook, hook->function);
}

static void check_own(const struct cunei_hook *hook)
{
    if (hook->is_recording && of_thread(hook, PyThreadState_Get()) != hook->function)
        cunei_recorder_count_lost_threads(1);
}

static void thread_begins(void)
{
    struct cunei_hook *hook = present;

    if (hook)
        put_own(hook);
}

static void thread_ends(void)
{
    const struct cunei_hook *hook = present;

    if (hook)
        check_own(hook);
}

static int put_all(struct cunei_hook *hook)
{
    if (present == hook)
        return 0;
    if (ask(hook) < 0)
        return -1;
    cunei_thread_start_watch(thread_begins, thread_ends);
    present = hook;
    set_all(hook, NULL, hook->function);
    return 0;
}

static void remove_all(struct cunei_hook *hook)
{
    if (present != hook)
        return;
    present = NULL;
    cunei_thread_start_unwatch();
    /* At the end of a process no audit hook shall notice: the hook stays and does
     * nothing. */
    if (hook->is_exiting)
        return;
    if (ask(hook) < 0)
        PyErr_Clear();
    else
        set_all(hook, hook->function, NULL);
}

static void drop_own(struct cunei_hook *hook)
{
    if (hook->is_exiting || present ||
        of_thread(hook, PyThreadState_Get()) != hook->function)
        return;
    if (ask(hook) < 0)
        PyErr_Clear();
    else
        set_own(hook, NULL);
}

bool cunei_hook_check_main(struct cunei_hook *hook, PyCodeObject *code)
{
    if (hook->awaits && cunei_function_event_is_main(code)) {
        hook->awaits = false;
        (void)main_begins();
    } else if (!hook->awaits)
        drop_own(hook);
    return hook->is_recording;
}

static struct cunei_hook *hook_of(struct cunei_source *source)
{
    return (struct cunei_hook *)source;
}

static int take(struct cunei_source *source, const struct cunei_source_config *config)
{
    source->config = *config;
    hook_of(source)->is_exiting = false;
    if (check(hook_of(source)) < 0)
        return -1;
    source->is_taken = true;
    return 0;
}

static int await_main(struct cunei_source *source)
{
    struct cunei_hook *hook = hook_of(source);

    hook->awaits = true;
    return put_all(hook);
}

static int prepare(struct cunei_source *source,
                   const struct cunei_source_config *config)
{
    source->config = *config;
    return check(hook_of(source));
}

static int record(struct cunei_source *source)
{
    struct cunei_hook *hook = hook_of(source);

    hook->awaits = false;
    if (put_all(hook) < 0)
        return -1;
    cunei_process_call_hooks_watch();
    hook->recording = ++recordings;
    hook->is_recording = true;
    return 0;
}

static void pause_events(struct cunei_source *source)
{
    struct cunei_hook *hook = hook_of(source);

    hook->is_recording = hook->awaits = false;
    cunei_process_call_hooks_unwatch();
    remove_all(hook);
}

static void release(struct cunei_source *source)
{
    if (source->is_taken)
        pause_events(source);
    source->is_taken = false;
}

static int count_other_tools(struct cunei_source *source)
{
    return count_others(hook_of(source));
}

static void process_exits(struct cunei_source *source)
{
    hook_of(source)->is_exiting = true;
}

static void record_losses(struct cunei_source *source)
{
    unsigned taken = count(hook_of(source)).taken;

    if (taken)
        cunei_recorder_count_lost_threads(taken);
}

/* CPython calls the trace hook for lines of all code; the profile hook gets none. */
static void add_lines(struct cunei_source *source, PyCodeObject *code)
{
    (void)source;
    (void)code;
}

const struct cunei_source_methods cunei_hook_methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .release = release,
    .count_others = count_other_tools,
    .process_exits = process_exits,
    .record_losses = record_losses,
    .add_lines = add_lines,
};

void cunei_hook_init(const struct cunei_source_setup *setup)
{
    main_begins = setup->main_begins;
}
