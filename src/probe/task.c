// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/asyncio.h"
#include "probe/compat.h"
#include "probe/names.h"
#include "probe/number.h"
#include "probe/write.h"
#include "rt/recorder.h"

#define TASK_WORDS (sizeof(struct cunei_task) / sizeof(uint64_t))
#define NAME_WORDS 128u /* a name is cut to what they hold */

/*
 * Steps that are open on a thread, one inside the other: a task that starts eagerly
 * runs its first step inside one of another task.  With more than these, the outer ones
 * are forgotten.
 */
#define STEPS_MAX 64

struct step {
    const void *frame; /* of the interpreter's, and only compared … */
    const void *task;  /* … as this is: it lives while it runs */
};

struct thread {
    unsigned recording;    /* of which the rest tells */
    unsigned count;        /* of steps */
    uint64_t content_bits; /* of the stream after the last entry of a coroutine */
    struct step steps[STEPS_MAX];
};

static struct cunei_numbers numbers;
static _Atomic unsigned recording;

/* The calling thread's, or NULL; the key frees it at the thread's end. */
static __attribute__((tls_model("initial-exec"))) _Thread_local struct thread *own;
static pthread_key_t thread_end;
static bool has_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

bool cunei_task_is_coroutine(const PyCodeObject *code)
{
    const int kinds = CO_COROUTINE | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR;
    return (code->co_flags & kinds) != 0;
}

static void make_key(void)
{
    has_thread_end = pthread_key_create(&thread_end, free) == 0;
}

static struct thread *make_own(void)
{
    (void)pthread_once(&once, make_key);
    struct thread *thread = has_thread_end ? calloc(1, sizeof(*thread)) : NULL;
    if (thread && pthread_setspecific(thread_end, thread) != 0) {
        free(thread);
        return NULL;
    }
    own = thread;
    return thread;
}

/* What is known of the calling thread; NULL: nothing can be. */
static struct thread *find_own(void)
{
    struct thread *thread = own ? own : make_own();
    unsigned this_one = atomic_load_explicit(&recording, memory_order_relaxed);

    if (thread && thread->recording != this_one) {
        thread->recording = this_one;
        thread->count = 0;
        thread->content_bits = 0;
    }
    return thread;
}

/* Close the step of this frame, and those inside it, whose ends were missed. */
static void end_step(struct thread *thread, const void *frame)
{
    for (unsigned i = thread->count; i > 0; i--) {
        if (thread->steps[i - 1].frame == frame) {
            thread->count = i - 1;
            return;
        }
    }
}

static void add_step(struct thread *thread, const void *frame, const void *task)
{
    if (thread->count == STEPS_MAX) {
        memmove(thread->steps, thread->steps + 1,
                (STEPS_MAX - 1) * sizeof(thread->steps[0]));
        thread->count--;
    }
    thread->steps[thread->count++] = (struct step){frame, task};
}

/* Both at once: nothing may come between the task and its coroutine's event. */
static void write_step(uint64_t task, enum cunei_phase step, PyObject *name,
                       uint32_t id, enum cunei_phase phase)
{
    uint64_t words[TASK_WORDS + NAME_WORDS + 2] = {0};
    char text[NAME_WORDS * 8 + 1];
    size_t length = cunei_names_copy(name, text, sizeof(text));
    unsigned count = (unsigned)(TASK_WORDS + (length + 7) / 8), record = count;

    memcpy(words + TASK_WORDS, text, length);
    words[1] = task;
    words[2] = (uint64_t)(count - TASK_WORDS) * 8 << 32;
    if (id >= CUNEI_FUNCTION_CLASS_END)
        words[++count] = id;
    count++;

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

/* Write the entry of this frame as the beginning of the task's step; false: it is none.
 */
static bool tell_step(PyObject *task, uint32_t id, enum cunei_phase phase)
{
    bool is_new = false;
    uint64_t number = cunei_numbers_find(&numbers, task, &is_new);

    if (number == 0)
        return false;
    bool is_first = is_new && phase == CUNEI_PHASE_ENTER;
    PyObject *name = cunei_asyncio_name(task);
    bool is_told = !name || !cunei_numbers_rename(&numbers, task, name);
    write_step(number, is_first ? CUNEI_PHASE_ENTER : CUNEI_PHASE_RESUME,
               is_told ? NULL : name, id, phase);
    Py_XDECREF(name);
    return true;
}

/* Whether the entry of this frame was written, as the beginning of a step. */
static bool begin_step(struct thread *thread, uint32_t id, enum cunei_phase phase)
{
    const void *frame = cunei_compat_frame(PyThreadState_Get());

    /* It begins anew, so it has ended, whether that was heard of or not. */
    end_step(thread, frame);
    const void *running =
        thread->count > 0 ? thread->steps[thread->count - 1].task : NULL;
    PyObject *pending = PyErr_GetRaisedException();
    PyObject *task = cunei_asyncio_current_task(running != NULL);
    /* A coroutine that another one of the same task awaits begins nothing. */
    bool begins = task && task != running && tell_step(task, id, phase);
    if (begins)
        add_step(thread, frame, task);
    Py_XDECREF(task);
    PyErr_SetRaisedException(pending);
    return begins;
}

/*
 * When a task goes on, the coroutines that wait for each other are resumed one after
 * the other, with nothing in between: only the first of them can begin a step.
 */
static bool goes_on(const struct thread *thread, enum cunei_phase phase)
{
    return phase == CUNEI_PHASE_RESUME && cunei_stream_own &&
           cunei_stream_own->content_bits == thread->content_bits;
}

void cunei_task_write(uint32_t id, enum cunei_phase phase)
{
    bool begins = phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME;
    struct thread *thread = find_own();

    if (!thread || !begins) {
        if (thread && thread->count > 0)
            end_step(thread, cunei_compat_frame(PyThreadState_Get()));
        cunei_write_function(id, phase);
        return;
    }
    if (goes_on(thread, phase) || !begin_step(thread, id, phase))
        cunei_write_function(id, phase);
    thread->content_bits = cunei_stream_own ? cunei_stream_own->content_bits : 0;
}

void cunei_task_unwind(void)
{
    struct thread *thread = find_own();

    if (thread && thread->count > 0)
        end_step(thread, cunei_compat_frame(PyThreadState_Get()));
}

void cunei_task_reset(void)
{
    atomic_fetch_add_explicit(&recording, 1, memory_order_relaxed);
    cunei_numbers_clear(&numbers);
    cunei_asyncio_forget();
}
