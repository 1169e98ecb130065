// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/open_frames.h"

#include <stdint.h>
#include <stdlib.h>

#include "probe/code/code.h"
#include "probe/core/cold_event.h"
#include "probe/core/hot.h"
#include "probe/core/write.h"
#include "probe/events/c_call.h"
#include "probe/events/exception_legacy.h"
#include "probe/events/function_event.h"
#include "probe/events/greenlet.h"
#include "probe/events/process.h"

struct open {
    const cunei_compat_311_frame *frame;
    PyCodeObject *code; /* owned */
};

/* The open frames of a thread, the outermost first. */
struct stack {
    const PyThreadState *thread;
    uint64_t thread_id; /* never used again, as the address may be */
    size_t count;
    struct open *opens;
};

static void (*when_resumed)(PyThreadState *thread, cunei_compat_311_frame *frame);

static struct stack *stacks;
static size_t stack_count;

/* The last frame of the calling thread whose end was recorded and not asked for yet. */
static __attribute__((
    tls_model("initial-exec"))) _Thread_local const cunei_compat_311_frame *recorded;

/* That of a thread which still has such frames; NULL: none. */
static struct stack *find_stack(const PyThreadState *thread)
{
    for (size_t i = 0; i < stack_count; i++) {
        if (stacks[i].count && stacks[i].thread == thread &&
            stacks[i].thread_id == thread->id)
            return &stacks[i];
    }
    return NULL;
}

static void pop(struct stack *stack)
{
    Py_DECREF(stack->opens[--stack->count].code);
}

static void record(PyFrameObject *frame, cunei_compat_311_frame *below,
                   PyObject *result)
{
    cunei_compat_311_frame *own = cunei_compat_311_frame_of(frame);
    PyCodeObject *code = own->f_code;
    bool yields =
        code->co_flags & CUNEI_GENERATES && cunei_compat_311_is_suspended(own);
    struct cunei_cold_event event = cunei_cold_event_begin();
    uint64_t tag = cunei_function_event_tag(code);

    if (result)
        cunei_exception_legacy_caught();
    else
        cunei_exception_legacy_unwound_unknown(code, below, tag);
    if (tag && !(tag & CUNEI_CODE_OFF)) {
        if (result)
            cunei_function_event_write(
                code, tag, yields ? CUNEI_PHASE_YIELD : CUNEI_PHASE_LEAVE, result);
        else
            cunei_function_event_unwind(code, tag, NULL, NULL, NULL);
    }
    cunei_exception_legacy_wait();
    cunei_cold_event_end(&event);
}

void cunei_open_frames_left(PyFrameObject *frame, PyObject *result)
{
    PyThreadState *thread = PyThreadState_Get();
    cunei_compat_311_frame *own = cunei_compat_311_frame_of(frame);
    struct stack *stack = find_stack(thread);

    if (!stack || stack->opens[stack->count - 1].frame != own)
        return;
    pop(stack);
    recorded = own;
    cunei_compat_311_frame *below = cunei_compat_311_below(own);
    record(frame, below, result);
    if (below)
        when_resumed(thread, below);
    if (!below && thread->c_profilefunc == cunei_open_frames_hook)
        cunei_compat_311_set_profile(thread, NULL);
}

int cunei_open_frames_hook(PyObject *object, PyFrameObject *frame, int what,
                           PyObject *argument)
{
    (void)object;
    if (what == PyTrace_RETURN)
        cunei_open_frames_left(frame, argument);
    return 0;
}

bool cunei_open_frames_has_recorded(const cunei_compat_311_frame *frame)
{
    PyThreadState *thread = PyThreadState_Get();
    struct stack *stack = recorded == frame ? NULL : find_stack(thread);

    /* If another tool has the hook, the end is recorded when it is asked for. */
    if (stack && stack->opens[stack->count - 1].frame == frame)
        pop(stack);
    bool yes = recorded == frame;
    recorded = NULL;
    return yes;
}

/*
 * It is not known how the frame ended: record a return.  Without a tag nothing can be
 * recorded, because the frame that knew the module is gone.
 */
static void record_late(const cunei_compat_311_frame *frame, PyCodeObject *code)
{
    struct cunei_cold_event event = cunei_cold_event_begin();
    uint64_t tag = cunei_code_tag(code);

    cunei_exception_legacy_caught();
    bool is_wanted = cunei_write_has_old_packet();
    cunei_c_call_close(frame);
    if (is_wanted && tag && !(tag & CUNEI_CODE_OFF))
        cunei_function_event_write(code, tag, CUNEI_PHASE_LEAVE, NULL);
    cunei_cold_event_end(&event);
}

/* How many of them the thread still has: they are the outermost of its frames. */
static size_t count_alive(const PyThreadState *thread, const struct stack *stack)
{
    const cunei_compat_311_frame *frame = cunei_compat_311_top(thread);
    size_t depth = cunei_compat_311_count(thread), alive = 0;

    for (; depth > stack->count; depth--)
        frame = cunei_compat_311_below(frame);
    for (; frame; frame = cunei_compat_311_below(frame), depth--) {
        if (stack->opens[depth - 1].frame != frame)
            alive = 0;
        else if (!alive)
            alive = depth;
    }
    return alive;
}

bool cunei_open_frames_catch_up(PyThreadState *thread)
{
    struct stack *stack =
        thread->c_profilefunc == cunei_open_frames_hook ? NULL : find_stack(thread);

    if (!stack || cunei_greenlet_is_loaded())
        return false;
    for (size_t alive = count_alive(thread, stack); stack->count > alive;) {
        struct open open = stack->opens[--stack->count];
        record_late(open.frame, open.code);
        Py_DECREF(open.code);
    }
    if (stack->count && !thread->c_profilefunc)
        cunei_compat_311_set_profile(thread, cunei_open_frames_hook);
    return stack->count && thread->c_profilefunc != cunei_open_frames_hook;
}

static void add_stack(PyThreadState *thread)
{
    size_t count = cunei_compat_311_count(thread);
    cunei_compat_311_frame *frame = cunei_compat_311_top(thread);
    struct open *opens = calloc(count, sizeof(*opens));

    if (!opens)
        return;
    stacks[stack_count++] = (struct stack){
        .thread = thread, .thread_id = thread->id, .count = count, .opens = opens};
    for (; frame; frame = cunei_compat_311_below(frame)) {
        Py_INCREF(frame->f_code);
        opens[--count] = (struct open){.frame = frame, .code = frame->f_code};
    }
    if (!thread->c_profilefunc)
        cunei_compat_311_set_profile(thread, cunei_open_frames_hook);
}

void cunei_open_frames_begin(void (*resumed)(PyThreadState *thread,
                                             cunei_compat_311_frame *frame))
{
    PyThreadState *head = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
    PyThreadState *thread = head;
    size_t count = 0;

    cunei_open_frames_end();
    when_resumed = resumed;
    for (; thread; thread = PyThreadState_Next(thread))
        count += cunei_compat_311_top(thread) != NULL;
    stacks = count ? calloc(count, sizeof(*stacks)) : NULL;
    for (thread = head; thread && stacks; thread = PyThreadState_Next(thread)) {
        if (cunei_compat_311_top(thread))
            add_stack(thread);
    }
}

void cunei_open_frames_end(void)
{
    cunei_compat_311_replace_profile(cunei_open_frames_hook, NULL);
    for (size_t i = 0; i < stack_count; i++) {
        while (stacks[i].count)
            pop(&stacks[i]);
        free(stacks[i].opens);
    }
    free(stacks);
    stacks = NULL;
    stack_count = 0;
}
