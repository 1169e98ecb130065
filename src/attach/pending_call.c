// SPDX-License-Identifier: MIT
/*
 * CPython 3.12 and 3.13: a call in the interpreter's queue of pending calls
 * (interp->ceval.pending), which any thread executes.  The queue of the main thread
 * alone, which Py_AddPendingCall uses, would wait for as long as that thread does.
 *
 * All threads are stopped while we write what _PyEval_AddPendingCall would write.  The
 * layout is known for the versions in the table; before anything is written, all that
 * is known about the values is compared with them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "attach/injection.h"
#include "attach/permission.h"
#include "attach/remote_interpreter.h"
#include "attach/stopped_threads.h"

#define SLOTS_MAX   300
#define QUEUE_MAX   7232u /* bytes of the largest queue */
#define FREE_MIN    8     /* slots that stay free for the program's own calls */
#define THREADS_MAX 4096

#define CALLS_TO_DO_BIT (UINT64_C(1) << 2) /* _PY_CALLS_TO_DO_BIT of 3.13 */

/* 3.12 has no debug offsets: these are of pycore_runtime.h and pycore_interp.h. */
enum {
    RUNTIME_INITIALIZED = 16,
    RUNTIME_FINALIZING = 24,
    RUNTIME_MAIN = 48,
    INTERPRETER_ID = 8,
    INTERPRETER_INITIALIZED = 40,
    INTERPRETER_FINALIZING = 44,
    INTERPRETER_RUNTIME = 96,
    INTERPRETER_BREAKER = 368,
    INTERPRETER_PENDING = 400,
};

/* Behind interp->ceval.gil. */
enum {
    AFTER_GIL_OWN = 8,
    AFTER_GIL_PENDING = 16
};

/* In PyThreadState of 3.13. */
enum {
    THREAD_BREAKER = 24
};

/* struct _pending_calls: where its members are. */
struct layout {
    unsigned minor;
    int first_patch, last_patch;
    size_t size, slot_count, slot_size;
    size_t lock, count, slots, first, next;
};

static const struct layout layouts[] = {
    {12, 0, 13, 544, 32, 16, 8, 16, 24, 536, 540},
    {13, 0, 15, 7232, 300, 24, 8, 12, 24, 7224, 7228},
};

/* The queue, as it is while all threads are stopped. */
struct queue {
    const struct cunei_target *target;
    const struct layout *layout;
    uint64_t interpreter, address;
    uint8_t bytes[QUEUE_MAX];
};

static const struct layout *layout_of(const struct cunei_target *target)
{
    const struct cunei_python_image *python = &target->python;

    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (python->minor == layouts[i].minor && !python->is_free_threaded &&
            python->patch >= layouts[i].first_patch &&
            python->patch <= layouts[i].last_patch)
            return &layouts[i];
    }
    return NULL;
}

static uint32_t number_at(const struct queue *queue, size_t offset)
{
    uint32_t number;

    memcpy(&number, queue->bytes + offset, sizeof(number));
    return number;
}

static uint64_t read_word(const struct cunei_target *target, uint64_t address,
                          size_t size)
{
    uint64_t word = 0;

    return cunei_remote_read(target, address, &word, size) < 0 ? UINT64_MAX : word;
}

/* The main interpreter lies in the runtime, and the members say what they must. */
static int find_interpreter_312(const struct cunei_target *target,
                                uint64_t *interpreter)
{
    uint64_t runtime = target->python.runtime;

    if (read_word(target, runtime + RUNTIME_INITIALIZED, 4) != 1)
        return -EAGAIN;
    if (read_word(target, runtime + RUNTIME_FINALIZING, 8) != 0)
        return -ESHUTDOWN;
    uint64_t at = read_word(target, runtime + RUNTIME_MAIN, 8);
    if (at <= runtime || at - runtime >= target->python.runtime_size || at % 8 != 0 ||
        read_word(target, at + INTERPRETER_ID, 8) != 0 ||
        read_word(target, at + INTERPRETER_INITIALIZED, 4) != 1 ||
        read_word(target, at + INTERPRETER_FINALIZING, 4) != 0 ||
        read_word(target, at + INTERPRETER_RUNTIME, 8) != runtime ||
        read_word(target, at + INTERPRETER_BREAKER, 4) > 1)
        return -EBADMSG;
    *interpreter = at;
    return 0;
}

/* interp->ceval.gil leads into the interpreter, which owns it. */
static bool owns_gil(const struct cunei_target *target, uint64_t interpreter,
                     uint64_t gil_address)
{
    uint64_t gil = read_word(target, gil_address, 8);

    return gil > interpreter && gil - interpreter < target->python.runtime_size &&
           read_word(target, gil_address + AFTER_GIL_OWN, 4) == 1;
}

static int find_queue(const struct cunei_target *target, uint64_t *interpreter,
                      uint64_t *address)
{
    bool is_312 = target->python.minor == 12;

    int rc = is_312 ? find_interpreter_312(target, interpreter)
                    : cunei_remote_interpreter_find(target, interpreter);
    if (rc < 0)
        return rc;
    *address = *interpreter +
               (is_312 ? INTERPRETER_PENDING
                       : target->python.offsets.gil_pointer + AFTER_GIL_PENDING);
    return owns_gil(target, *interpreter, *address - AFTER_GIL_PENDING) ? 0 : -EBADMSG;
}

/* The limits that 3.13 keeps beside the queue: MAXPENDINGCALLS, MAXPENDINGCALLSLOOP. */
static bool has_limits_313(const struct queue *queue)
{
    return number_at(queue, 16) == 300 && number_at(queue, 20) == 100;
}

static bool is_plausible(const struct queue *queue)
{
    const struct layout *layout = queue->layout;
    uint32_t first = number_at(queue, layout->first);
    uint32_t next = number_at(queue, layout->next);
    uint32_t count = number_at(queue, layout->count);

    if (first >= layout->slot_count || next >= layout->slot_count)
        return false;
    uint32_t used =
        (next + (uint32_t)layout->slot_count - first) % (uint32_t)layout->slot_count;
    if (layout->minor == 12) /* busy and calls_to_do are flags */
        return number_at(queue, 0) <= 1 && count <= 1;
    return has_limits_313(queue) && count <= layout->slot_count &&
           count % layout->slot_count == used;
}

static int read_queue(const struct cunei_target *target, struct queue *queue)
{
    queue->target = target;
    queue->layout = layout_of(target);
    int rc = find_queue(target, &queue->interpreter, &queue->address);
    if (rc == 0)
        rc = cunei_remote_read(target, queue->address, queue->bytes,
                               queue->layout->size);
    if (rc == 0 && !is_plausible(queue))
        rc = -EBADMSG;
    return rc;
}

/* A semaphore of the C library in 3.12, which is 1 when free; a PyMutex in 3.13. */
static bool is_locked(const struct queue *queue)
{
    uint64_t lock;

    if (queue->layout->minor != 12)
        return queue->bytes[queue->layout->lock] != 0;
    memcpy(&lock, queue->bytes + queue->layout->lock, sizeof(lock));
    return lock == 0 || read_word(queue->target, lock, 4) != 1;
}

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
        rc == -ESHUTDOWN ? "its Python is ending"
        : rc == -EAGAIN
            ? "its Python is still starting, or its queue of pending calls is full. "
              "Try again"
        : rc == -EBADMSG ? "the layout of its Python is not the one that cunei knows. "
                           "Start the program with 'cunei arm'"
        : rc == -ETIMEDOUT ? CUNEI_INJECTION_NOT_STOPPED
                           : NULL;

    if (!why)
        return cunei_permission_fail(&target->process, rc, error);
    return cunei_attach_fail(error, rc, "Process %d cannot be attached: %s.",
                             (int)target->process.pid, why);
}

static int check(const struct cunei_target *target, struct cunei_attach_error *error)
{
    const struct cunei_python_image *python = &target->python;
    struct queue queue;

    if (python->is_free_threaded)
        return cunei_attach_fail(
            error, -ENOTSUP,
            "Process %d cannot be attached: it runs a free-threaded Python 3.%u, which "
            "can be attached only from 3.14 on. Start the program with 'cunei arm'.",
            (int)target->process.pid, python->minor);
    if (!layout_of(target))
        return cunei_attach_fail(
            error, -ENOTSUP,
            "Process %d cannot be attached: this cunei does not know the layout of its "
            "Python 3.%u.%d. Update cunei, or start the program with 'cunei arm'.",
            (int)target->process.pid, python->minor, python->patch);
    int rc = read_queue(target, &queue);
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
    enum {
        OPEN_FLAGS = 02000000 | 0400000
    }; /* O_CLOEXEC, O_NOFOLLOW */

    int length = snprintf(text, size, code, injection->file.path,
                          O_RDONLY | O_CLOEXEC | O_NOFOLLOW, CUNEI_SCRIPT_SIZE_MAX);
    return length > 0 && (size_t)length < size ? length + 1 : -ENOBUFS;
}

/* An empty queue may begin anywhere: at the beginning of the array. */
static int rewind_if_empty(struct queue *queue)
{
    const struct layout *layout = queue->layout;
    const uint32_t zero = 0;

    if (number_at(queue, layout->first) != number_at(queue, layout->next) ||
        (layout->minor != 12 && number_at(queue, layout->count) != 0))
        return 0;
    memcpy(queue->bytes + layout->first, &zero, sizeof(zero));
    memcpy(queue->bytes + layout->next, &zero, sizeof(zero));
    int rc = cunei_remote_write(queue->target, queue->address + layout->first, &zero,
                                sizeof(zero));
    if (rc == 0)
        rc = cunei_remote_write(queue->target, queue->address + layout->next, &zero,
                                sizeof(zero));
    return rc;
}

/*
 * The text lies in free slots at the end of the array.  They have to hold it only until
 * our call, which comes before any that the program adds from now on.
 */
static int place_text(const struct queue *queue, size_t size, size_t *slot)
{
    const struct layout *layout = queue->layout;
    size_t first = number_at(queue, layout->first);
    size_t next = number_at(queue, layout->next);
    size_t wanted = (size + layout->slot_size - 1) / layout->slot_size;

    if (next < first || next + 1 + FREE_MIN + wanted > layout->slot_count)
        return -EAGAIN;
    *slot = layout->slot_count - wanted;
    return 0;
}

/* The eval breaker of 3.12 is the interpreter's, that of 3.13 each thread's. */
static int signal_312(const struct queue *queue)
{
    const int32_t one = 1;

    int rc = cunei_remote_write(queue->target, queue->address + queue->layout->count,
                                &one, sizeof(one));
    if (rc == 0)
        rc = cunei_remote_write(queue->target, queue->interpreter + INTERPRETER_BREAKER,
                                &one, sizeof(one));
    return rc;
}

static int signal_313(const struct queue *queue)
{
    uint64_t threads[THREADS_MAX];

    int count = cunei_remote_interpreter_threads(queue->target, queue->interpreter,
                                                 threads, THREADS_MAX);
    int rc = count < 0 ? count : 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        uint64_t breaker;
        uint64_t address = threads[i] + THREAD_BREAKER;
        rc = cunei_remote_read(queue->target, address, &breaker, sizeof(breaker));
        breaker |= CALLS_TO_DO_BIT;
        if (rc == 0)
            rc = cunei_remote_write(queue->target, address, &breaker, sizeof(breaker));
    }
    return rc;
}

/* The slot first, then what makes it visible. */
static int push(const struct queue *queue, uint64_t function, uint64_t argument)
{
    const struct layout *layout = queue->layout;
    uint32_t next = number_at(queue, layout->next);
    uint32_t count = number_at(queue, layout->count) + 1;
    const uint64_t slot[3] = {function, argument, 0};

    int rc = cunei_remote_write(
        queue->target, queue->address + layout->slots + next * layout->slot_size, slot,
        layout->slot_size);
    next = (next + 1) % (uint32_t)layout->slot_count;
    if (rc == 0)
        rc = cunei_remote_write(queue->target, queue->address + layout->next, &next,
                                sizeof(next));
    if (rc == 0 && layout->minor != 12)
        rc = cunei_remote_write(queue->target, queue->address + layout->count, &count,
                                sizeof(count));
    return rc;
}

static int add_call(void *context)
{
    struct cunei_injection *injection = context;
    const struct cunei_target *target = injection->target;
    struct queue queue;
    char text[512];
    size_t slot = 0;

    int size = format_text(injection, text, sizeof(text));
    int rc = size < 0 ? size : read_queue(target, &queue);
    if (rc == 0)
        rc = is_locked(&queue) ? -EAGAIN : rewind_if_empty(&queue);
    if (rc == 0)
        rc = place_text(&queue, (size_t)size, &slot);
    if (rc < 0)
        return rc;
    injection->text =
        queue.address + queue.layout->slots + slot * queue.layout->slot_size;
    rc = cunei_remote_write(target, injection->text, text, (size_t)size);
    if (rc == 0)
        rc = push(&queue, target->python.run_string, injection->text);
    if (rc == 0)
        rc = target->python.minor == 12 ? signal_312(&queue) : signal_313(&queue);
    return rc;
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

/*
 * In 3.12, a thread that was computing the eval breaker when it was stopped may have
 * cleared it afterwards.  The interpreter's state is part of the runtime and is never
 * freed, so this write is safe while the program runs.
 */
static void remind(struct cunei_injection *injection)
{
    struct queue queue;

    if (injection->target->python.minor == 12 &&
        read_queue(injection->target, &queue) == 0 &&
        number_at(&queue, queue.layout->count) == 1)
        (void)signal_312(&queue);
}

static bool is_ours(const struct cunei_injection *injection, const struct queue *queue,
                    size_t slot)
{
    uint64_t call[2];

    memcpy(call, queue->bytes + queue->layout->slots + slot * queue->layout->slot_size,
           sizeof(call));
    return call[0] == injection->target->python.run_string &&
           call[1] == injection->text;
}

/* Remove the last call of the queue. */
static void pop(const struct queue *queue, uint32_t last)
{
    const struct layout *layout = queue->layout;
    uint32_t count = number_at(queue, layout->count) - 1;
    const uint64_t slot[3] = {0};

    (void)cunei_remote_write(queue->target, queue->address + layout->next, &last,
                             sizeof(last));
    if (layout->minor != 12)
        (void)cunei_remote_write(queue->target, queue->address + layout->count, &count,
                                 sizeof(count));
    (void)cunei_remote_write(queue->target,
                             queue->address + layout->slots + last * layout->slot_size,
                             slot, layout->slot_size);
}

/* Our call, if it still waits: removed if it is the last; otherwise it executes "". */
static int remove_call(void *context)
{
    struct cunei_injection *injection = context;
    struct queue queue;

    int rc = read_queue(injection->target, &queue);
    if (rc == 0 && is_locked(&queue))
        rc = -EAGAIN;
    if (rc < 0)
        return rc;
    uint32_t slots = (uint32_t)queue.layout->slot_count;
    uint32_t next = number_at(&queue, queue.layout->next);
    for (uint32_t i = number_at(&queue, queue.layout->first); i != next;
         i = (i + 1) % slots) {
        if (!is_ours(injection, &queue, i))
            continue;
        if ((i + 1) % slots == next)
            pop(&queue, i);
        else
            (void)cunei_remote_write(injection->target, injection->text, "", 1);
        break;
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
