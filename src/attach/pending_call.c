// SPDX-License-Identifier: MIT
/*
 * CPython 3.12 and 3.13: a call in the interpreter's queue of pending calls, which any
 * thread executes.  The queue of the main thread alone, which Py_AddPendingCall uses,
 * would wait for as long as that thread does.
 *
 * All threads are stopped while we write what _PyEval_AddPendingCall would write.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "attach/injection.h"
#include "attach/pending_queue.h"
#include "attach/remote_interpreter.h"
#include "attach/stopped_threads.h"

/* The code in memory is that in the file, so that what it is called with is known. */
static bool has_function(const struct cunei_target *target)
{
    uint8_t code[sizeof(target->python.run_string_code)];

    return target->python.run_string != 0 &&
           cunei_remote_read(target, target->python.run_string, code, sizeof(code)) ==
               0 &&
           memcmp(code, target->python.run_string_code, sizeof(code)) == 0;
}

static int fail(const struct cunei_target *target, int rc,
                struct cunei_attach_error *error)
{
    const char *why =
        rc == -EAGAIN
            ? "its Python is still starting, or its queue of pending calls is full; "
              "try again"
        : rc == -EBADMSG ? "the layout of its Python is not the one that cunei knows; "
                           "start the program with 'cunei arm'"
        : rc == -EBUSY   ? "another request or pending call is being served in it; try "
                           "again"
                         : NULL;

    return cunei_injection_fail(target, rc, why, error);
}

static int check(const struct cunei_target *target, struct cunei_attach_error *error)
{
    const struct cunei_python_image *python = &target->python;
    struct cunei_pending_queue queue;

    if (python->is_free_threaded)
        return cunei_attach_fail(
            error, -ENOTSUP,
            "process %d cannot be attached: it runs a free-threaded Python 3.%u, which "
            "can be attached only from 3.14 on; start the program with 'cunei arm'",
            (int)target->process.pid, python->minor);
    if (!cunei_pending_queue_is_known(target))
        return cunei_attach_fail(
            error, -ENOTSUP,
            "process %d cannot be attached: this cunei does not know the layout of its "
            "Python 3.%u.%d; update cunei, or start the program with 'cunei arm'",
            (int)target->process.pid, python->minor, python->patch);
    int rc = cunei_pending_queue_read(&queue, target);
    if (rc == 0 && !has_function(target))
        rc = -EBADMSG;
    return rc < 0 ? fail(target, rc, error) : 0;
}

/*
 * What PyRun_SimpleString executes.  It runs in the namespace of __main__, so it
 * defines no name there, and uses none that the program may have replaced.  It raises
 * nothing: that would be printed.
 */
static int format_text(const struct cunei_injection *injection, char *text, size_t size)
{
    static const char code[] = "try:\n"
                               " __import__('builtins').exec(\"import posix\\n"
                               "f=posix.open('%s',%d)\\n"
                               "s=posix.read(f,%d)\\n"
                               "posix.close(f)\\n"
                               "exec(s)\",{})\n"
                               "except KeyboardInterrupt:\n"
                               " __import__('_thread').start_new_thread(\n"
                               "  __import__('_thread').interrupt_main,())\n"
                               "except:\n"
                               " pass\n";

    int length = snprintf(text, size, code, injection->file.path,
                          O_RDONLY | O_CLOEXEC | O_NOFOLLOW, CUNEI_SCRIPT_SIZE_MAX);
    return length > 0 && (size_t)length < size ? length + 1 : -ENAMETOOLONG;
}

static int read_unlocked(struct cunei_pending_queue *queue,
                         const struct cunei_target *target)
{
    int rc = cunei_pending_queue_read(queue, target);
    return rc == 0 && cunei_pending_queue_is_locked(queue) ? -EAGAIN : rc;
}

/*
 * Texts are all in the same place, so there must be no other one that waits, or that a
 * thread is reading.
 */
static bool has_other_request(const struct cunei_pending_queue *queue,
                              const struct cunei_target *target)
{
    if (cunei_pending_queue_is_busy(queue))
        return true;
    for (size_t i = 0; i < cunei_pending_queue_count(queue); i++) {
        if (cunei_pending_queue_at(queue, i).function == target->python.run_string)
            return true;
    }
    return false;
}

static int add_call(void *context)
{
    struct cunei_injection *injection = context;
    const struct cunei_target *target = injection->target;
    struct cunei_pending_queue queue;
    char text[512];

    int size = format_text(injection, text, sizeof(text));
    int rc = size < 0 ? size : read_unlocked(&queue, target);
    if (rc == 0 && has_other_request(&queue, target))
        rc = -EBUSY;
    if (rc == 0)
        rc = cunei_pending_queue_place(&queue, text, (size_t)size, &injection->text);
    const struct cunei_pending_call call = {target->python.run_string, injection->text};
    return rc < 0 ? rc : cunei_pending_queue_push(&queue, &call);
}

static int request(struct cunei_injection *injection, struct cunei_attach_error *error)
{
    int rc = cunei_stopped_threads_run(injection->target->process.pid, add_call,
                                       injection, &injection->stopped_ns);

    if (rc < 0)
        return fail(injection->target, rc, error);
    injection->thread_count = 1; /* one of them executes it */
    return 0;
}

static void remind(struct cunei_injection *injection)
{
    struct cunei_pending_queue queue;

    if (cunei_pending_queue_read(&queue, injection->target) == 0)
        (void)cunei_pending_queue_remind(&queue);
}

/* Our call, if it still waits: removed if it is the last; otherwise it executes "". */
static int remove_call(void *context)
{
    struct cunei_injection *injection = context;
    struct cunei_pending_queue queue;

    int rc = read_unlocked(&queue, injection->target);
    if (rc < 0)
        return rc;
    size_t count = cunei_pending_queue_count(&queue);
    for (size_t i = 0; i < count; i++) {
        struct cunei_pending_call call = cunei_pending_queue_at(&queue, i);
        if (call.function != injection->target->python.run_string ||
            call.argument != injection->text)
            continue;
        return i + 1 == count
                   ? cunei_pending_queue_pop(&queue)
                   : cunei_remote_write(injection->target, injection->text, "", 1);
    }
    return 0;
}

/* A thread that has taken the call and finds no file prints nothing. */
static int withdraw(struct cunei_injection *injection)
{
    (void)cunei_stopped_threads_run(injection->target->process.pid, remove_call,
                                    injection, &injection->stopped_ns);
    return 0;
}

const struct cunei_injection_way cunei_injection_pending_call = {
    .name = "pending call",
    .first_minor = 12,
    .last_minor = 13,
    .check = check,
    .request = request,
    .remind = remind,
    .withdraw = withdraw,
};
