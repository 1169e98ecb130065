// SPDX-License-Identifier: MIT
#include "attach/injection.h"

#include <errno.h>
#include <time.h>

#include "attach/permission.h"

/* A thread that has taken a request opens the file within microseconds, unless an audit
 * hook holds it up, and marks it when it has the GIL again. */
#define STEP_NS 1000000
#define STEPS   1000

#define TRACER_STEPS 100
#define WITHDRAWALS  10 /* of 0.3 s each */

#define LOOKS 5

static const struct cunei_injection_way *const ways[] = {
    &cunei_injection_remote_debugging,
    &cunei_injection_pending_call,
};

const struct cunei_injection_way *cunei_injection_way_of(
    const struct cunei_target *target)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (target->python.minor >= ways[i]->first_minor &&
            target->python.minor <= ways[i]->last_minor)
            return ways[i];
    }
    return NULL;
}

static int fail_version(const struct cunei_target *target,
                        struct cunei_attach_error *error)
{
    bool is_old = target->python.minor < 12;

    return cunei_attach_fail(
        error, -ENOTSUP,
        "process %d cannot be attached: it runs Python 3.%u, and %s; %s the program "
        "with 'cunei arm'",
        (int)target->process.pid, target->python.minor,
        is_old ? "only 3.12 and newer can be attached while they run"
               : "this cunei knows only up to 3.15",
        is_old ? "start" : "update cunei, or start");
}

int cunei_injection_fail(const struct cunei_target *target, int rc, const char *why,
                         struct cunei_attach_error *error)
{
    if (rc == -ESHUTDOWN)
        why = "its Python is ending";
    else if (rc == -EALREADY)
        why = "another process traces it, such as gdb or strace; end that first";
    else if (rc == -ETIMEDOUT)
        why = "one of its threads cannot be stopped: it waits for a disk or a network "
              "file system, or gets no processor; try again";
    if (!why)
        return cunei_permission_fail(&target->process, rc, error);
    return cunei_attach_fail(error, rc, "process %d cannot be attached: %s",
                             (int)target->process.pid, why);
}

static int check_build(const struct cunei_target *target,
                       struct cunei_attach_error *error)
{
    const char *why = target->python.is_static ? "its Python is linked statically and "
                                                 "cannot load cunei's extension"
                      : target->python.is_debug
                          ? "its Python is a debug build, whose layout is not known"
                          : NULL;

    if (!why)
        return 0;
    return cunei_attach_fail(error, -ENOTSUP,
                             "process %d cannot be attached: %s; run the program with "
                             "another Python",
                             (int)target->process.pid, why);
}

/* What traces it, other than another cunei that only stops it for a moment. */
static int find_tracer(const struct cunei_target *target,
                       struct cunei_process_facts *now)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < TRACER_STEPS; i++) {
        if (i > 0)
            (void)nanosleep(&step, NULL);
        rc = cunei_process_facts_read(target->process.pid, now);
        if (rc == 0 && now->start == target->process.start && now->tracer == 0)
            break;
    }
    return rc;
}

static int check_tracer(const struct cunei_target *target,
                        struct cunei_attach_error *error)
{
    struct cunei_process_facts now;

    if (find_tracer(target, &now) < 0 || now.start != target->process.start)
        return cunei_attach_fail(error, -ESRCH, "process %d has ended meanwhile",
                                 (int)target->process.pid);
    if (now.tracer == 0)
        return 0;
    return cunei_attach_fail(
        error, -EBUSY,
        "process %d cannot be attached: process %d traces it, such as gdb or strace; "
        "end that first",
        (int)target->process.pid, (int)now.tracer);
}

/* The program runs while we look, so what does not fit together may do so later. */
static int check_inside(const struct cunei_target *target,
                        const struct cunei_injection_way *way,
                        struct cunei_attach_error *error)
{
    int rc = -EBADMSG;

    for (unsigned i = 0; rc == -EBADMSG && i < LOOKS; i++)
        rc = way->check(target, error);
    return rc;
}

int cunei_injection_check(struct cunei_target *target, struct cunei_attach_error *error)
{
    const struct cunei_injection_way *way = cunei_injection_way_of(target);

    if (!way)
        return fail_version(target, error);
    int rc = check_build(target, error);
    if (rc == 0)
        rc = cunei_target_check_permission(target, error);
    if (rc == 0)
        rc = check_tracer(target, error);
    return rc < 0 ? rc : check_inside(target, way, error);
}

int cunei_injection_begin(struct cunei_injection *injection,
                          struct cunei_target *target, const char *script,
                          struct cunei_attach_error *error)
{
    *injection = (struct cunei_injection){0};
    int rc = cunei_injection_check(target, error);
    if (rc < 0)
        return rc;
    injection->way = cunei_injection_way_of(target);
    rc = cunei_script_file_create(&injection->file, target, script, error);
    if (rc < 0)
        return rc;
    injection->target = target;
    rc = injection->way->request(injection, error);
    if (rc < 0)
        cunei_script_file_close(&injection->file, false);
    return rc;
}

int cunei_injection_has_run(struct cunei_injection *injection,
                            struct cunei_attach_error *error)
{
    const struct cunei_target *target = injection->target;
    struct cunei_script_marks marks;

    cunei_script_file_read_marks(&injection->file, &marks);
    if (marks.state == CUNEI_SCRIPT_ENDED)
        return 1;
    if (marks.state == CUNEI_SCRIPT_FAILED) {
        *error = marks.exception;
        return -ECANCELED;
    }
    if (!cunei_process_facts_is_alive(&target->process))
        return cunei_attach_fail(error, -ESRCH,
                                 "process %d ended before it was attached",
                                 (int)target->process.pid);
    if (marks.state == CUNEI_SCRIPT_WAITING && injection->way->remind)
        injection->way->remind(injection);
    return 0;
}

static bool have_all_read(const struct cunei_injection *injection)
{
    struct cunei_script_marks marks;

    cunei_script_file_read_marks(&injection->file, &marks);
    for (size_t i = 0; i < injection->reader_count; i++) {
        if (!cunei_script_marks_have(&marks, injection->readers[i]))
            return false;
    }
    return true;
}

/* Our own mark has no thread. */
static bool has_every_thread_read(const struct cunei_injection *injection)
{
    struct cunei_script_marks marks;
    size_t count = 0;

    cunei_script_file_read_marks(&injection->file, &marks);
    for (size_t i = 0; i < marks.reader_count; i++)
        count += marks.readers[i] != 0;
    return count >= injection->thread_count;
}

/* A file that is gone when a thread opens it makes CPython print a message. */
static void wait_for_readers(const struct cunei_injection *injection)
{
    const struct timespec step = {.tv_nsec = STEP_NS};

    for (unsigned i = 0; i < STEPS && !have_all_read(injection) &&
                         cunei_process_facts_is_alive(&injection->target->process);
         i++)
        (void)nanosleep(&step, NULL);
}

static enum cunei_injection_outcome outcome_of(enum cunei_script_state state,
                                               bool is_withdrawn)
{
    if (is_withdrawn)
        return CUNEI_INJECTION_WITHDRAWN;
    return state == CUNEI_SCRIPT_ENDED    ? CUNEI_INJECTION_RAN
           : state == CUNEI_SCRIPT_FAILED ? CUNEI_INJECTION_FAILED
                                          : CUNEI_INJECTION_RUNNING;
}

/* Whether the file has to stay, because there are requests that need it. */
static bool withdraw(struct cunei_injection *injection)
{
    if (has_every_thread_read(injection))
        return false; /* no request is left */
    int rc = injection->way->withdraw(injection);
    return rc < 0 && cunei_process_facts_is_alive(&injection->target->process);
}

enum cunei_injection_outcome cunei_injection_end(struct cunei_injection *injection,
                                                 struct cunei_attach_error *error)
{
    struct cunei_script_marks marks;

    if (!injection->file.is_open)
        return CUNEI_INJECTION_WITHDRAWN;
    bool is_needed = withdraw(injection);
    /* Another cunei, or a debugger, may hold the process for a moment. */
    for (unsigned i = 1; is_needed && i < WITHDRAWALS; i++)
        is_needed = withdraw(injection);
    bool is_withdrawn = cunei_script_file_withdraw(&injection->file);
    wait_for_readers(injection);
    cunei_script_file_read_marks(&injection->file, &marks);
    if (marks.state == CUNEI_SCRIPT_FAILED)
        *error = marks.exception;
    cunei_script_file_close(&injection->file, is_needed);
    return outcome_of(marks.state, is_withdrawn);
}
