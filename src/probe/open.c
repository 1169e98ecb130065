// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/open.h"

#include <stdint.h>
#include <stdlib.h>

#include "probe/code.h"
#include "probe/event.h"
#include "probe/linehook.h"
#include "probe/passing.h"
#include "probe/process.h"
#include "rt/recorder.h"

/* The open frames of a thread: the innermost, and those below it. */
struct stack {
    const PyThreadState *thread;
    uint64_t thread_id; /* never used again, as the address may be */
    const cunei_older_frame *top;
};

static struct stack *stacks;
static size_t stack_count;

static struct stack *find_stack(const cunei_older_frame *top)
{
    PyThreadState *thread = PyThreadState_Get();

    for (size_t i = 0; i < stack_count; i++) {
        if (stacks[i].top == top && stacks[i].thread == thread &&
            stacks[i].thread_id == thread->id)
            return &stacks[i];
    }
    return NULL;
}

static void set_hook(PyThreadState *thread, Py_tracefunc hook)
{
    thread->c_profilefunc = hook;
    cunei_older_update_tracing(thread);
}

static void tell(PyFrameObject *frame, cunei_older_frame *below, PyObject *result)
{
    cunei_older_frame *own = cunei_older_frame_of(frame);
    PyCodeObject *code = own->f_code;
    bool yields =
        code->co_flags & CUNEI_OLDER_GENERATES && cunei_older_is_suspended(own);
    struct cunei_compat_error error = cunei_compat_put_aside();
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_event_word(code);

    if (result)
        cunei_passing_landed();
    else
        cunei_passing_fell(below, word);
    if (word && !(word & CUNEI_CODE_OFF)) {
        if (result)
            cunei_event_write(code, word,
                              yields ? CUNEI_PHASE_YIELD : CUNEI_PHASE_LEAVE, result);
        else
            cunei_event_unwind(code, word, NULL, NULL);
    }
    cunei_passing_wait();
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&error);
}

void cunei_open_left(PyFrameObject *frame, PyObject *result)
{
    cunei_older_frame *own = cunei_older_frame_of(frame);
    struct stack *stack = find_stack(own);

    if (!stack)
        return;
    cunei_older_frame *below = cunei_older_below(own);
    stack->top = below;
    tell(frame, below, result);
    PyThreadState *thread = PyThreadState_Get();
    if (below)
        cunei_linehook_goes_on(thread, below);
    if (!below && thread->c_profilefunc == cunei_open_hook)
        set_hook(thread, NULL);
}

int cunei_open_hook(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument)
{
    (void)object;
    if (what == PyTrace_RETURN)
        cunei_open_left(frame, argument);
    return 0;
}

void cunei_open_begin(void)
{
    PyThreadState *head = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
    PyThreadState *thread = head;
    size_t count = 0;

    cunei_open_end();
    for (; thread; thread = PyThreadState_Next(thread))
        count += cunei_older_top(thread) != NULL;
    stacks = count ? calloc(count, sizeof(*stacks)) : NULL;
    for (thread = head; thread && stacks; thread = PyThreadState_Next(thread)) {
        if (!cunei_older_top(thread))
            continue;
        stacks[stack_count++] = (struct stack){
            .thread = thread,
            .thread_id = thread->id,
            .top = cunei_older_top(thread),
        };
        if (!thread->c_profilefunc)
            set_hook(thread, cunei_open_hook);
    }
}

void cunei_open_end(void)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_profilefunc == cunei_open_hook)
            set_hook(thread, NULL);
    }
    free(stacks);
    stacks = NULL;
    stack_count = 0;
}
