// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/open_frames_312.h"

#include <stdint.h>
#include <stdlib.h>

#include "probe/code/code.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/frame_312.h"
#include "probe/core/write.h"
#include "probe/events/function_event.h"
#include "probe/events/greenlet.h"
#include "rt/recorder.h"

struct open {
    const void *frame;  /* only compared */
    PyCodeObject *code; /* owned */
};

/* The open frames of a thread, the innermost first. */
struct stack {
    const PyThreadState *thread;
    uint64_t thread_id; /* never used again, as the address may be */
    size_t first, count;
    struct open *opens;
};

static struct stack *stacks;
static size_t stack_count;

static struct stack *find_stack(const PyThreadState *thread)
{
    for (size_t i = 0; i < stack_count; i++) {
        if (stacks[i].thread == thread && stacks[i].thread_id == thread->id)
            return &stacks[i];
    }
    return NULL;
}

static bool is_running(const PyThreadState *thread, const void *frame)
{
    const struct cunei_frame_312_frame *running = cunei_frame_312_top(thread);

    while (running && running != frame)
        running = running->previous;
    return running != NULL;
}

static void tell(const struct open *open)
{
    struct cunei_compat_error error = cunei_compat_put_aside();
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_code_word(open->code);

    if (cunei_write_has_old_packet() && word && !(word & CUNEI_CODE_OFF)) {
        cunei_frame_312_own.leaving = open->frame;
        cunei_frame_312_own.function = cunei_code_id(word);
        cunei_function_event_write(open->code, word, CUNEI_PHASE_LEAVE, NULL);
        cunei_frame_312_own.leaving = NULL;
    }
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&error);
}

/* The outermost frames of a thread may change with its greenlet. */
void cunei_lateropen_catch_up(PyThreadState *thread)
{
    struct stack *stack = find_stack(thread);

    if (!stack || cunei_greenlet_is_loaded())
        return;
    while (stack->first < stack->count &&
           !is_running(thread, stack->opens[stack->first].frame)) {
        struct open open = stack->opens[stack->first++];
        tell(&open);
        Py_DECREF(open.code);
    }
}

static size_t count_frames(PyThreadState *thread)
{
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    size_t count = 0;

    while (frame) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
        count++;
    }
    return count;
}

static void add_stack(PyThreadState *thread)
{
    size_t count = count_frames(thread);
    struct open *opens = count ? calloc(count, sizeof(*opens)) : NULL;
    PyFrameObject *frame = opens ? PyThreadState_GetFrame(thread) : NULL;

    if (!opens)
        return;
    for (size_t i = 0; frame; i++) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        opens[i] = (struct open){cunei_frame_of(frame), PyFrame_GetCode(frame)};
        Py_DECREF(frame);
        frame = back;
    }
    stacks[stack_count++] = (struct stack){
        .thread = thread, .thread_id = thread->id, .count = count, .opens = opens};
}

void cunei_lateropen_begin(void)
{
    PyThreadState *head = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
    size_t count = 0;

    cunei_lateropen_end();
    for (PyThreadState *thread = head; thread; thread = PyThreadState_Next(thread))
        count++;
    stacks = count ? calloc(count, sizeof(*stacks)) : NULL;
    for (PyThreadState *thread = head; thread && stacks;
         thread = PyThreadState_Next(thread))
        add_stack(thread);
}

void cunei_lateropen_end(void)
{
    for (size_t i = 0; i < stack_count; i++) {
        while (stacks[i].first < stacks[i].count)
            Py_DECREF(stacks[i].opens[stacks[i].first++].code);
        free(stacks[i].opens);
    }
    free(stacks);
    stacks = NULL;
    stack_count = 0;
}
