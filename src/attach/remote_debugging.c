// SPDX-License-Identifier: MIT
/*
 * CPython 3.14 and newer: the fields of PEP 768 in the state of a thread, the path of a
 * script and a flag.
 *
 * sys.remote_exec writes to the main thread of a running program.  That takes as long
 * as the main thread waits, in Thread.join() for example; and in another thread it
 * would be a write to memory that the thread may be about to free.  So we stop all
 * threads, and ask all of them: the one that runs first executes the script.
 */
#include <errno.h>
#include <string.h>

#include "attach/injection.h"
#include "attach/remote_interpreter.h"
#include "attach/stopped_threads.h"

/* _PY_EVAL_PLEASE_STOP_BIT, as PEP 768 says. */
#define PLEASE_STOP_BIT (UINT64_C(1) << 5)

#define THREADS_MAX 65536 /* in a list that is not damaged */

static int fail_disabled(const struct cunei_target *target,
                         struct cunei_attach_error *error)
{
    static const char *const why[] = {
        [CUNEI_REMOTE_DEBUGGING_VARIABLE] =
            "it was started with PYTHON_DISABLE_REMOTE_DEBUG; unset it",
        [CUNEI_REMOTE_DEBUGGING_OPTION] =
            "it was started with -X disable-remote-debug; leave that out",
        [CUNEI_REMOTE_DEBUGGING_BUILD] =
            "its Python has no remote debugging; use another Python",
    };

    return cunei_attach_fail(
        error, -EACCES,
        "process %d cannot be attached: %s, or start the program with 'cunei arm'",
        (int)target->process.pid, why[target->remote_debugging]);
}

static int fail(const struct cunei_target *target, int rc,
                struct cunei_attach_error *error)
{
    const char *why =
        rc == -EAGAIN ? "its Python has not started yet; try again"
        : rc == -EBADMSG
            ? "its memory is not as its Python 3 should have it; start the "
              "program with 'cunei arm'"
            : NULL;

    return cunei_injection_fail(target, rc, why, error);
}

static int check(const struct cunei_target *target, struct cunei_attach_error *error)
{
    const struct cunei_python_image *python = &target->python;
    uint64_t interpreter;

    if (target->remote_debugging != CUNEI_REMOTE_DEBUGGING_POSSIBLE)
        return fail_disabled(target, error);
    if (python->offsets_rc < 0 || !python->offsets.has_remote_debugging ||
        python->offsets.version != python->version)
        return cunei_attach_fail(
            error, -ENOTSUP,
            "process %d cannot be attached: this cunei does not know the layout of its "
            "Python 3.%u.%d; update cunei, or start the program with 'cunei arm'",
            (int)target->process.pid, python->minor, python->patch);
    int rc = cunei_remote_interpreter_find(target, &interpreter);
    return rc < 0 ? fail(target, rc, error) : 0;
}

static uint64_t flag_of(const struct cunei_target *target, uint64_t thread)
{
    const struct cunei_debug_offsets *offsets = &target->python.offsets;
    return thread + offsets->remote_support + offsets->pending_call;
}

/* What gettid returns in it; 0: it has not started yet. */
static uint64_t number_of(const struct cunei_target *target, uint64_t thread)
{
    uint64_t number = 0;

    int rc = cunei_remote_read(target, thread + target->python.offsets.native_thread_id,
                               &number, sizeof(number));
    return rc < 0 ? 0 : number;
}

static uint64_t path_of(const struct cunei_target *target, uint64_t thread)
{
    const struct cunei_debug_offsets *offsets = &target->python.offsets;
    return thread + offsets->remote_support + offsets->script_path;
}

/* In the order of the PEP: the path, the flag, the eval breaker. */
static int ask(const struct cunei_injection *injection, uint64_t thread)
{
    const struct cunei_target *target = injection->target;
    uint64_t breaker_address = thread + target->python.offsets.eval_breaker;
    uint64_t breaker = 0;
    int32_t flag = 0;

    int rc = cunei_remote_read(target, flag_of(target, thread), &flag, sizeof(flag));
    if (rc == 0 && flag != 0)
        return flag == 1 ? -EBUSY : -EBADMSG; /* another tool's request */
    if (rc == 0)
        rc = cunei_remote_read(target, breaker_address, &breaker, sizeof(breaker));
    if (rc == 0)
        rc = cunei_remote_write(target, path_of(target, thread), injection->file.path,
                                strlen(injection->file.path) + 1);
    flag = 1;
    if (rc == 0)
        rc = cunei_remote_write(target, flag_of(target, thread), &flag, sizeof(flag));
    if (rc == 0) {
        breaker |= PLEASE_STOP_BIT;
        rc = cunei_remote_write(target, breaker_address, &breaker, sizeof(breaker));
    }
    return rc;
}

static int ask_all(void *context)
{
    struct cunei_injection *injection = context;
    uint64_t threads[CUNEI_INJECTION_THREADS] = {0};
    int last = -EAGAIN;

    injection->thread_count = 0;
    int rc = cunei_remote_interpreter_find(injection->target, &injection->interpreter);
    if (rc == 0)
        rc = cunei_remote_interpreter_threads(injection->target, injection->interpreter,
                                              threads, CUNEI_INJECTION_THREADS);
    for (int i = 0; i < rc; i++) {
        uint64_t number = number_of(injection->target, threads[i]);
        int asked = number ? ask(injection, threads[i]) : -EAGAIN;
        if (asked == 0)
            injection->threads[injection->thread_count++] =
                (struct cunei_injection_thread){threads[i], number};
        else
            last = asked;
    }
    return rc < 0 ? rc : injection->thread_count > 0 ? 0 : last;
}

static int request(struct cunei_injection *injection, struct cunei_attach_error *error)
{
    const struct cunei_target *target = injection->target;

    int rc = cunei_stopped_threads_run(target->process.pid, ask_all, injection,
                                       &injection->stopped_ns);
    if (rc == -EBUSY)
        return cunei_attach_fail(
            error, rc,
            "process %d cannot be attached: the request of another tool waits in it; "
            "try again when that has been served",
            (int)target->process.pid);
    return rc < 0 ? fail(target, rc, error) : 0;
}

/* The thread that was asked, and not a newer one in its place; NULL: it was not. */
static const struct cunei_injection_thread *find_asked(
    const struct cunei_injection *injection, uint64_t address)
{
    for (size_t i = 0; i < injection->thread_count; i++) {
        const struct cunei_injection_thread *thread = &injection->threads[i];
        if (thread->address == address &&
            thread->number == number_of(injection->target, address))
            return thread;
    }
    return NULL;
}

static bool has_our_path(const struct cunei_injection *injection, uint64_t thread)
{
    size_t size = strlen(injection->file.path) + 1;
    char path[CUNEI_SCRIPT_PATH_MAX];

    return cunei_remote_read(injection->target, path_of(injection->target, thread),
                             path, size) == 0 &&
           memcmp(path, injection->file.path, size) == 0;
}

/*
 * Take a request back; 1: the thread has taken it before.  If the path is another by
 * now, the thread has taken ours, and then another cunei asked it.
 */
static int take_back(const struct cunei_injection *injection, uint64_t thread)
{
    const struct cunei_target *target = injection->target;
    const int32_t none = 0;
    int32_t flag = 0;

    int rc = cunei_remote_read(target, flag_of(target, thread), &flag, sizeof(flag));
    if (rc < 0)
        return rc;
    if (flag != 1 || !has_our_path(injection, thread))
        return 1;
    return cunei_remote_write(target, flag_of(target, thread), &none, sizeof(none));
}

/*
 * A thread that has ended since then has no request, and reads nothing.  A list that
 * was made to go in a circle ends where there are more readers than were asked.
 */
static int take_back_all(void *context)
{
    struct cunei_injection *injection = context;
    uint64_t address = 0;
    int rc = 0;

    injection->reader_count = 0;
    for (size_t i = 0; i < THREADS_MAX; i++) {
        rc = cunei_remote_interpreter_next(injection->target, injection->interpreter,
                                           &address);
        if (rc < 0 || address == 0)
            break;
        const struct cunei_injection_thread *asked = find_asked(injection, address);
        rc = asked ? take_back(injection, address) : 0;
        if (rc < 0 || injection->reader_count == injection->thread_count)
            break;
        if (rc == 1)
            injection->readers[injection->reader_count++] = asked->number;
    }
    return rc < 0 ? rc : 0;
}

static int withdraw(struct cunei_injection *injection)
{
    return cunei_stopped_threads_run(injection->target->process.pid, take_back_all,
                                     injection, &injection->stopped_ns);
}

const struct cunei_injection_way cunei_injection_remote_debugging = {
    .name = "remote debugging",
    .first_minor = 14,
    .last_minor = 15,
    .check = check,
    .request = request,
    .withdraw = withdraw,
};
