// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/task.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/names.h"
#include "probe/core/object_number.h"
#include "probe/core/thread_data.h"
#include "probe/core/write.h"
#include "probe/events/asyncio.h"
#include "rt/clock.h"
#include "rt/recorder.h"

#define TASK_WORDS (sizeof(struct cunei_task) / sizeof(uint64_t))
#define NAME_WORDS 128u /* a name is cut to what they hold */

/*
 * Open steps of a thread, one inside the other: a task that starts eagerly runs its
 * first step inside one of another task.  If there are more, the outer ones are
 * forgotten.  A coroutine without a task counts as a step of no task.
 */
#define STEPS_MAX 64

struct step {
    const void *frame; /* of the interpreter, and only compared … */
    const void *task;  /* … like the task: it lives while it runs; NULL: no task */
    uint64_t number;
    unsigned depth; /* of coroutines inside the step around it */
};

struct thread {
    unsigned recording; /* the recording of the rest */
    unsigned count;     /* of steps */
    unsigned depth;     /* of coroutines inside the innermost one */
    uint64_t left; /* task of the last step, if its frame ended instead of yielding */
    uint64_t content_bits; /* of the stream after the last event inside a step */
    struct step steps[STEPS_MAX];
};

static struct cunei_numbers numbers;
static _Atomic unsigned recording;

/* The calling thread's, or NULL: a part of it (probe/core/thread_data.h). */
static __attribute__((tls_model("initial-exec"))) _Thread_local struct thread *own;

bool cunei_task_is_coroutine(const PyCodeObject *code)
{
    const int kinds = CO_COROUTINE | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR;
    return (code->co_flags & kinds) != 0;
}

/* Destructors of other libraries may run later, and run coroutines. */
static void free_thread_data(void *thread)
{
    own = NULL;
    free(thread);
}

/* The calling thread's; NULL: no memory. */
static struct thread *find_own(void)
{
    if (!own)
        own = cunei_thread_data_new(sizeof(*own), free_thread_data);
    struct thread *thread = own;
    unsigned this_one = atomic_load_explicit(&recording, memory_order_relaxed);

    if (thread && thread->recording != this_one)
        *thread = (struct thread){.recording = this_one};
    return thread;
}

/* Close the step of this frame, and inner ones whose ends were missed. */
static void end_step(struct thread *thread, const void *frame, bool has_left)
{
    for (unsigned i = thread->count; i > 0; i--) {
        const struct step *step = &thread->steps[i - 1];
        if (step->frame == frame) {
            thread->left = has_left ? step->number : 0;
            thread->depth = step->depth;
            thread->count = i - 1;
            return;
        }
    }
}

static void add_step(struct thread *thread, const void *frame, const void *task,
                     uint64_t number)
{
    if (thread->count == STEPS_MAX) {
        memmove(thread->steps, thread->steps + 1,
                (STEPS_MAX - 1) * sizeof(thread->steps[0]));
        thread->count--;
    }
    thread->steps[thread->count++] = (struct step){frame, task, number, thread->depth};
    thread->depth = 0;
    thread->left = 0;
}

/* Copy the name and pad its last word; returns the number of words.  There is room for
 * its NUL. */
static unsigned copy_name(PyObject *name, uint64_t words[NAME_WORDS + 1])
{
    size_t length = cunei_names_copy(name, (char *)words, NAME_WORDS * 8 + 1);
    size_t padded = (length + 7) / 8 * 8;

    memset((char *)words + length, 0, padded - length);
    return (unsigned)(padded / 8);
}

/* In one packet: nothing may come between the task and the event of its coroutine. */
static void write_step(uint64_t task, enum cunei_phase step, PyObject *name,
                       uint32_t id, enum cunei_phase phase)
{
    uint64_t words[TASK_WORDS + NAME_WORDS + 3];
    unsigned name_words = name ? copy_name(name, words + TASK_WORDS) : 0;
    unsigned record = TASK_WORDS + name_words, count = record + 1;

    words[1] = task;
    words[2] = (uint64_t)name_words * 8 << 32;
    if (id >= CUNEI_FUNCTION_CLASS_END)
        words[count++] = id;

    uint64_t now;
    struct cunei_stream *stream = cunei_write_room(&now, count, false);
    if (!stream) {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM); /* the second of the two */
        return;
    }
    words[0] = cunei_record(now, CUNEI_CLASS_TASK, step);
    words[record] =
        cunei_record(now, count - record == 2 ? CUNEI_CLASS_CALL : id, phase);
    for (unsigned i = 0; i < count; i++)
        cunei_stream_store(stream, i, words[i]);
    cunei_stream_publish(stream, now, count);
}

/*
 * Which kind of step begins.  An exception that is thrown into a task arrives in its
 * innermost coroutine, and when that has ended, in the one that awaited it: each is
 * resumed on its own, and all of it is one step.
 */
static enum cunei_phase kind_of(const struct thread *thread, uint64_t number,
                                bool is_new, enum cunei_phase phase)
{
    if (is_new)
        return phase == CUNEI_PHASE_ENTER ? CUNEI_PHASE_ENTER : CUNEI_PHASE_RESUME;
    return thread->left == number ? CUNEI_PHASE_LEAVE : CUNEI_PHASE_RESUME;
}

/* Write the entry of this frame as the start of a step; 0: no number for the task. */
static uint64_t record_step(const struct thread *thread, PyObject *task, uint32_t id,
                            enum cunei_phase phase)
{
    bool is_new = false;
    uint64_t number = cunei_numbers_find(&numbers, task, &is_new);

    if (number == 0)
        return 0;
    PyObject *name = cunei_asyncio_name(task);
    bool is_written = !name || !cunei_numbers_rename(&numbers, task, name);
    write_step(number, kind_of(thread, number, is_new, phase), is_written ? NULL : name,
               id, phase);
    Py_XDECREF(name);
    return number;
}

/* Whether the entry of this frame was written as the start of a step. */
static bool begin_step(struct thread *thread, uint32_t id, enum cunei_phase phase)
{
    const void *frame = cunei_frame_running(PyThreadState_Get());

    /* The frame begins, so an older one at its address has ended. */
    end_step(thread, frame, false);
    const struct step *around =
        thread->count > 0 ? &thread->steps[thread->count - 1] : NULL;
    struct cunei_compat_error pending = cunei_compat_put_aside();
    PyObject *task = cunei_asyncio_current_task(around && around->task);
    uint64_t number = 0;
    /* A coroutine that another one of the same task awaits begins no step. */
    if (task && (!around || around->task != task))
        number = record_step(thread, task, id, phase);
    if (number || !around)
        add_step(thread, frame, number ? task : NULL, number);
    else
        thread->depth++;
    Py_XDECREF(task);
    cunei_compat_put_back(&pending);
    return number != 0;
}

/*
 * The frame ends or is suspended.  Inside a step it is only counted; when the count is
 * 0, it is the step's own.
 */
static void leave(struct thread *thread, bool has_left)
{
    if (thread->depth > 0)
        thread->depth--;
    else if (thread->count > 0) {
        end_step(thread, cunei_frame_running(PyThreadState_Get()), has_left);
        thread->content_bits = 0;
    }
}

/*
 * Whether a coroutine starts or resumes inside the open step.  When a task resumes, the
 * coroutines that await each other are resumed one after the other: if there were only
 * events of coroutines since the step began, no other task can have come in between.
 * When one is entered that is possible: tasks may start eagerly.
 */
static bool is_inside(const struct thread *thread, const struct cunei_stream *stream,
                      enum cunei_phase phase)
{
    if (phase == CUNEI_PHASE_RESUME && stream->content_bits == thread->content_bits)
        return true;
    const void *running =
        thread->count > 0 ? thread->steps[thread->count - 1].task : NULL;
    if (!running)
        return false;
    PyObject *task = cunei_asyncio_current_task(true);
    Py_XDECREF(task);
    return task == running;
}

/* Count the frame in or out, if nothing else is to do. */
static bool is_counted(struct thread *thread, const struct cunei_stream *stream,
                       enum cunei_phase phase)
{
    bool begins = phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME;

    if (begins ? !is_inside(thread, stream, phase) : thread->depth == 0)
        return false;
    thread->depth += begins ? 1 : -1u;
    return true;
}

bool cunei_task_put(uint32_t id, enum cunei_phase phase)
{
    uint64_t now = cunei_clock_read();
    struct cunei_stream *stream = cunei_stream_own;
    struct thread *thread = own;

    if (id >= CUNEI_FUNCTION_CLASS_END || !cunei_stream_has_room(stream, now, 1))
        return false;
    bool is_known =
        thread &&
        thread->recording == atomic_load_explicit(&recording, memory_order_relaxed) &&
        is_counted(thread, stream, phase);
    /* asyncio may have been asked, and the recording have ended meanwhile. */
    if (!stream->slot)
        return false;
    if (!is_known || !cunei_stream_has_room(stream, now, 1)) {
        uint32_t before = cunei_recorder_begin_event();
        if (is_known)
            cunei_write_function(id, phase);
        else
            cunei_task_write(id, phase);
        cunei_recorder_end_event(before);
        return true;
    }
    cunei_stream_put(stream, now, cunei_record(now, id, phase));
    thread->content_bits = stream->content_bits;
    return true;
}

void cunei_task_write(uint32_t id, enum cunei_phase phase)
{
    bool begins = phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME;
    struct thread *thread = find_own();

    if (thread && !begins)
        leave(thread, phase == CUNEI_PHASE_LEAVE);
    if (!thread || !begins || !begin_step(thread, id, phase))
        cunei_write_function(id, phase);
    if (thread && begins)
        thread->content_bits = cunei_stream_own ? cunei_stream_own->content_bits : 0;
}

void cunei_task_unwind(void)
{
    struct thread *thread = find_own();

    if (thread)
        leave(thread, true);
}

void cunei_task_reset(void)
{
    atomic_fetch_add_explicit(&recording, 1, memory_order_relaxed);
    cunei_numbers_clear(&numbers);
}
