// SPDX-License-Identifier: MIT
/*
 * CPython 3.12 and later: what an evaluator of frames must know of the interpreter's
 * frames, read past the public interface and proven by cunei_frame_312_is_readable; and
 * what others must know of one that runs.
 *
 * A function's frame is gone when it has run.  While its end is told, the frame on top
 * is that of its caller, and this is its state.
 */
#ifndef CUNEI_PROBE_CORE_FRAME_312_H
#define CUNEI_PROBE_CORE_FRAME_312_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The frame that a frame object stands for, as far as it is looked into. */
struct cunei_frame_312_frame {
    uintptr_t executable; /* the code; its lowest bits say who owns it */
    struct cunei_frame_312_frame *previous;
    void *unused[5];
    char *instruction; /* the next one; on 3.12 the last one */
};

#define CUNEI_LATER_UNIT 2 /* bytes of an instruction, or of a part of one */

/* Whether an evaluator of ours tells of frames.  Only set while nothing is recorded. */
extern __attribute__((visibility("hidden"))) bool cunei_frame_312_is_on;

extern __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) _Thread_local struct cunei_frame_312_state {
    const void *opening; /* a frame on top of which the start is not told yet */
    const void *leaving; /* one whose end is just told, and that is on top no more */
    uint32_t function;   /* its id */
    unsigned pushed;     /* frames on the stack that the interpreter does not count */
} cunei_frame_312_own;

static inline struct cunei_frame_312_frame *cunei_frame_312_top(
    const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000
    return (struct cunei_frame_312_frame *)thread->current_frame;
#else
    return (struct cunei_frame_312_frame *)thread->cframe->current_frame;
#endif
}

static inline void cunei_frame_312_set_top(PyThreadState *thread,
                                           struct cunei_frame_312_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
    thread->current_frame = (struct _PyInterpreterFrame *)frame;
#else
    thread->cframe->current_frame = (struct _PyInterpreterFrame *)frame;
#endif
}

static inline PyCodeObject *cunei_frame_312_code(
    const struct cunei_frame_312_frame *frame)
{
    return (PyCodeObject *)(frame->executable & ~(uintptr_t)3);
}

/* The instruction that it is at, in bytes. */
static inline int cunei_frame_312_offset(const struct cunei_frame_312_frame *frame)
{
    return (int)(frame->instruction - cunei_frame_312_code(frame)->co_code_adaptive);
}

/* Whether the frame that runs is what it seems to be. */
bool cunei_frame_312_is_readable(void);

/* Whether a call of a generator's function only makes the generator. */
static inline bool cunei_frame_312_only_makes(const struct cunei_frame_312_frame *frame)
{
    return cunei_frame_312_offset(frame) <= (PY_VERSION_HEX >= 0x030d0000 ? 0 : -1);
}

/* Whether a generator's frame is where it was suspended. */
bool cunei_frame_312_is_suspended(const struct cunei_frame_312_frame *frame);

/*
 * Put a frame on top that is about to run, as it is for the event of its start, and
 * take it away again.
 */
struct cunei_frame_312_pushed {
    struct cunei_frame_312_frame *frame, *below, *previous;
    char *instruction;
};

struct cunei_frame_312_pushed cunei_frame_312_push(PyThreadState *thread,
                                                   struct cunei_frame_312_frame *frame);
void cunei_frame_312_pop(PyThreadState *thread,
                         const struct cunei_frame_312_pushed *pushed);

#endif
