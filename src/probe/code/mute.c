// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/mute.h"

#include <stdatomic.h>

#include "probe/code/code.h"
#include "rt/clock.h"

#define EVENTS 1024u

/* At most this part of the time is spent on disabling. */
#define PARTS 20u

/* The first estimate of what disabling takes, and the most that we believe. */
#define TAKES_FIRST_NS UINT64_C(100000)
#define TAKES_MAX_NS   UINT64_C(20000000)

_Thread_local uint32_t cunei_mute_left = EVENTS;

/* When this thread disabled a place; 0: the time that it took has been measured. */
static _Thread_local uint64_t since_ns __attribute__((tls_model("initial-exec")));

/* Shared between threads, but used only in this file. */
static _Atomic uint64_t takes_ns = TAKES_FIRST_NS;
static _Atomic uint64_t not_before_ns;

/*
 * The thread's next event comes when the world runs again, or later: a measurement may
 * be too long, never too short.  So a single one changes the estimate little.
 */
static void measure(uint64_t now_ns)
{
    uint64_t believed = atomic_load_explicit(&takes_ns, memory_order_relaxed);
    uint64_t took = now_ns - since_ns;

    if (took > 2 * believed)
        took = 2 * believed;
    if (took > TAKES_MAX_NS)
        took = TAKES_MAX_NS;
    if (took == 0)
        took = 1;
    atomic_store_explicit(&takes_ns, took, memory_order_relaxed);
    atomic_store_explicit(&not_before_ns, now_ns + PARTS * took, memory_order_relaxed);
    since_ns = 0;
}

PyObject *cunei_mute_look(uint64_t tag, PyObject *disable)
{
    uint64_t now_ns = cunei_clock_ns(CLOCK_MONOTONIC);

    cunei_mute_left = EVENTS;
    if (since_ns)
        measure(now_ns);
    if (now_ns < atomic_load_explicit(&not_before_ns, memory_order_relaxed))
        Py_RETURN_NONE;
    uint64_t believed = atomic_load_explicit(&takes_ns, memory_order_relaxed);
    atomic_store_explicit(&not_before_ns, now_ns + PARTS * believed,
                          memory_order_relaxed);
    since_ns = now_ns;
    cunei_mute_left = 1;
    cunei_code_mute(tag);
    return Py_NewRef(disable);
}
