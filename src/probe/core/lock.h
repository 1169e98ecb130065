// SPDX-License-Identifier: MIT
/*
 * Locks for what the GIL guards where there is one; probe/core/world.h says which of
 * the two is right.  They live as long as the process; all zeros are an unlocked mutex.
 *
 * A mutex detaches from the interpreter while it waits: a thread that waited otherwise
 * would keep the world from being stopped.  A latch does not, and no thread stops while
 * it holds one or waits for one, as long as the interpreter is not called under it.
 */
#ifndef CUNEI_PROBE_CORE_LOCK_H
#define CUNEI_PROBE_CORE_LOCK_H

#include <Python.h>

#include <pthread.h>
#include <stdbool.h>

#ifdef Py_GIL_DISABLED
typedef struct cunei_mutex {
    PyMutex mutex;
    struct cunei_mutex *next; /* of those that a forked child unlocks */
    bool is_listed;
} cunei_mutex;

typedef pthread_mutex_t cunei_latch;
#define CUNEI_LATCH_INIT PTHREAD_MUTEX_INITIALIZER

void cunei_mutex_lock(cunei_mutex *mutex);
static inline void cunei_mutex_unlock(cunei_mutex *mutex)
{
    PyMutex_Unlock(&mutex->mutex);
}
static inline void cunei_latch_close(cunei_latch *latch)
{
    (void)pthread_mutex_lock(latch);
}
static inline void cunei_latch_open(cunei_latch *latch)
{
    (void)pthread_mutex_unlock(latch);
}
#else
typedef struct {
    char unused;
} cunei_mutex, cunei_latch;
#define CUNEI_LATCH_INIT \
    {                    \
        0                \
    }

static inline void cunei_mutex_lock(cunei_mutex *mutex)
{
    (void)mutex;
}
static inline void cunei_mutex_unlock(cunei_mutex *mutex)
{
    (void)mutex;
}
static inline void cunei_latch_close(cunei_latch *latch)
{
    (void)latch;
}
static inline void cunei_latch_open(cunei_latch *latch)
{
    (void)latch;
}
#endif

#endif
