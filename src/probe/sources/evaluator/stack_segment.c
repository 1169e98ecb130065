// SPDX-License-Identifier: MIT
#include "probe/sources/evaluator/stack_segment.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* As much as 100 000 frames need; pages that are not used are not there. */
#define SEGMENT_SIZE ((size_t)64 << 20)
/* What C functions may still need, which are called by the last frame on it. */
#define RESERVE ((size_t)1 << 20)

/* A thread with a smaller stack moves to a segment at once. */
#define SMALL_SIZE ((size_t)256 << 10)

/* What runs on a segment. */
struct run {
    void (*work)(void *context);
    void *context;
    ucontext_t above, below;
    fenv_t floating; /* as it has left it */
};

/* The address below which the stack that is in use comes to its end; 0: not known. */
static __attribute__((tls_model("initial-exec"))) _Thread_local uintptr_t end;
static __attribute__((tls_model("initial-exec"))) _Thread_local struct run *starting;

static __attribute__((tls_model("initial-exec"))) _Thread_local bool is_small;

/* One that is not in use is kept: recursion may go to and fro at its beginning. */
static _Atomic(void *) spare;

static uintptr_t reserve_from(const void *lowest, size_t size)
{
    return (uintptr_t)lowest + (size / 4 < RESERVE ? size / 4 : RESERVE);
}

static void find_end(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;

    end = 1; /* not known, and not asked for again */
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
        is_small = size < SMALL_SIZE;
        end = is_small ? (uintptr_t)lowest + size : reserve_from(lowest, size);
    }
    (void)pthread_attr_destroy(&attributes);
}

bool cunei_stack_segment_is_at_end(void)
{
    if (end == 0)
        find_end();
    return (uintptr_t)__builtin_frame_address(0) < end;
}

/* The main thread's is asked for only when it matters: that reads a file. */
bool cunei_stack_segment_is_small(void)
{
    if (end == 0 && gettid() != getpid())
        find_end();
    return is_small;
}

static void *take_segment(void)
{
    void *segment = atomic_exchange(&spare, NULL);

    if (segment)
        return segment;
    segment = mmap(NULL, SEGMENT_SIZE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (segment == MAP_FAILED)
        return NULL;
    /* As below any stack: an overflow ends the process. */
    (void)mprotect(segment, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
    return segment;
}

static void give_segment(void *segment)
{
    void *other = atomic_exchange(&spare, segment);

    if (other)
        (void)munmap(other, SEGMENT_SIZE);
}

/*
 * To switch back brings the signal mask and the rounding of floats of before, which the
 * program may have changed: it is to have those that it has now.
 */
static void start(void)
{
    struct run *run = starting;

    run->work(run->context);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &run->below.uc_sigmask);
    (void)fegetenv(&run->floating);
}

bool cunei_stack_segment_run(void (*work)(void *context), void *context)
{
    struct run run = {.work = work, .context = context};
    uintptr_t end_before = end;
    void *segment = take_segment();

    if (!segment)
        return false;
    (void)getcontext(&run.above);
    run.above.uc_stack.ss_sp = segment;
    run.above.uc_stack.ss_size = SEGMENT_SIZE;
    run.above.uc_link = &run.below;
    makecontext(&run.above, start, 0);
    starting = &run;
    end = reserve_from(segment, SEGMENT_SIZE);
    (void)swapcontext(&run.below, &run.above);
    (void)fesetenv(&run.floating);
    starting = NULL;
    end = end_before;
    give_segment(segment);
    return true;
}
