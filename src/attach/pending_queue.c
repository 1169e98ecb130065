// SPDX-License-Identifier: MIT
#include "attach/pending_queue.h"

#include <errno.h>
#include <string.h>

#include "attach/remote_interpreter.h"

#define FREE_MIN    8 /* slots that stay free for the program's own calls */
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
struct cunei_pending_layout {
    unsigned minor;
    int first_patch, last_patch;
    size_t size, slot_count, slot_size;
    size_t lock, count, slots, first, next;
};

static const struct cunei_pending_layout layouts[] = {
    {12, 0, 13, 544, 32, 16, 8, 16, 24, 536, 540},
    {13, 0, 15, 7232, 300, 24, 8, 12, 24, 7224, 7228},
};

static const struct cunei_pending_layout *layout_of(const struct cunei_target *target)
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

static uint32_t number_at(const struct cunei_pending_queue *queue, size_t offset)
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

static size_t distance(const struct cunei_pending_queue *queue)
{
    size_t slots = queue->layout->slot_count;
    size_t first = number_at(queue, queue->layout->first);

    return (number_at(queue, queue->layout->next) + slots - first) % slots;
}

/* All slots of a queue of 3.13 may be in use; one of 3.12 stays free. */
size_t cunei_pending_queue_count(const struct cunei_pending_queue *queue)
{
    return queue->layout->minor == 12 ? distance(queue)
                                      : number_at(queue, queue->layout->count);
}

struct cunei_pending_call cunei_pending_queue_at(
    const struct cunei_pending_queue *queue, size_t index)
{
    const struct cunei_pending_layout *layout = queue->layout;
    size_t slot = (number_at(queue, layout->first) + index) % layout->slot_count;
    struct cunei_pending_call call;

    memcpy(&call, queue->bytes + layout->slots + slot * layout->slot_size,
           sizeof(call));
    return call;
}

/* The limits that 3.13 keeps beside the queue: MAXPENDINGCALLS, MAXPENDINGCALLSLOOP. */
static bool has_limits_313(const struct cunei_pending_queue *queue)
{
    return number_at(queue, 16) == 300 && number_at(queue, 20) == 100;
}

static bool is_plausible(const struct cunei_pending_queue *queue)
{
    const struct cunei_pending_layout *layout = queue->layout;
    uint32_t first = number_at(queue, layout->first);
    uint32_t next = number_at(queue, layout->next);
    uint32_t count = number_at(queue, layout->count);

    if (first >= layout->slot_count || next >= layout->slot_count)
        return false;
    if (layout->minor == 12) /* busy and calls_to_do are flags */
        return number_at(queue, 0) <= 1 && count <= 1;
    return has_limits_313(queue) && count <= layout->slot_count &&
           count % layout->slot_count == distance(queue);
}

bool cunei_pending_queue_is_known(const struct cunei_target *target)
{
    return layout_of(target) != NULL;
}

int cunei_pending_queue_read(struct cunei_pending_queue *queue,
                             const struct cunei_target *target)
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
bool cunei_pending_queue_is_locked(const struct cunei_pending_queue *queue)
{
    uint64_t lock;

    if (queue->layout->minor != 12)
        return queue->bytes[queue->layout->lock] != 0;
    memcpy(&lock, queue->bytes + queue->layout->lock, sizeof(lock));
    return lock == 0 || read_word(queue->target, lock, 4) != 1;
}

/* The flag `busy` of 3.12, the pointer `handling_thread` of 3.13. */
bool cunei_pending_queue_is_busy(const struct cunei_pending_queue *queue)
{
    uint64_t thread;

    if (queue->layout->minor == 12)
        return number_at(queue, 0) != 0;
    memcpy(&thread, queue->bytes, sizeof(thread));
    return thread != 0;
}

static int write_number(const struct cunei_pending_queue *queue, size_t offset,
                        uint32_t number)
{
    return cunei_remote_write(queue->target, queue->address + offset, &number,
                              sizeof(number));
}

/* An empty queue may begin anywhere: then at the beginning of the array. */
static int rewind_if_empty(struct cunei_pending_queue *queue)
{
    const struct cunei_pending_layout *layout = queue->layout;
    const uint32_t zero = 0;

    if (cunei_pending_queue_count(queue) > 0)
        return 0;
    memcpy(queue->bytes + layout->first, &zero, sizeof(zero));
    memcpy(queue->bytes + layout->next, &zero, sizeof(zero));
    int rc = write_number(queue, layout->first, zero);
    return rc < 0 ? rc : write_number(queue, layout->next, zero);
}

/* In free slots at the end of the array, which the program's own calls reach last. */
int cunei_pending_queue_place(struct cunei_pending_queue *queue, const char *text,
                              size_t size, uint64_t *text_address)
{
    const struct cunei_pending_layout *layout = queue->layout;
    size_t wanted = (size + layout->slot_size - 1) / layout->slot_size;

    int rc = rewind_if_empty(queue);
    if (rc < 0)
        return rc;
    size_t next = number_at(queue, layout->next);
    if (next < number_at(queue, layout->first) ||
        next + 1 + FREE_MIN + wanted > layout->slot_count)
        return -EAGAIN;
    uint64_t address = queue->address + layout->slots +
                       (layout->slot_count - wanted) * layout->slot_size;
    rc = cunei_remote_write(queue->target, address, text, size);
    if (rc == 0)
        *text_address = address;
    return rc;
}

/* The eval breaker of 3.12 is the interpreter's, that of 3.13 each thread's. */
static int signal_312(const struct cunei_pending_queue *queue)
{
    const int32_t one = 1;

    int rc = write_number(queue, queue->layout->count, 1);
    if (rc == 0)
        rc = cunei_remote_write(queue->target, queue->interpreter + INTERPRETER_BREAKER,
                                &one, sizeof(one));
    return rc;
}

static int signal_313(const struct cunei_pending_queue *queue)
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

static int write_slot(const struct cunei_pending_queue *queue, size_t slot,
                      const struct cunei_pending_call *call)
{
    const struct cunei_pending_layout *layout = queue->layout;
    const uint64_t words[3] = {call->function, call->argument, 0}; /* no flags */

    return cunei_remote_write(queue->target,
                              queue->address + layout->slots + slot * layout->slot_size,
                              words, layout->slot_size);
}

static int write_end(const struct cunei_pending_queue *queue, uint32_t next,
                     uint32_t count)
{
    const struct cunei_pending_layout *layout = queue->layout;

    int rc = write_number(queue, layout->next, next);
    if (rc == 0 && layout->minor != 12) /* it has no count */
        rc = write_number(queue, layout->count, count);
    return rc;
}

/* The slot first, then what makes it visible. */
int cunei_pending_queue_push(const struct cunei_pending_queue *queue,
                             const struct cunei_pending_call *call)
{
    uint32_t slots = (uint32_t)queue->layout->slot_count;
    uint32_t next = number_at(queue, queue->layout->next);
    uint32_t count = (uint32_t)cunei_pending_queue_count(queue);

    int rc = write_slot(queue, next, call);
    if (rc == 0)
        rc = write_end(queue, (next + 1) % slots, count + 1);
    if (rc == 0)
        rc = queue->layout->minor == 12 ? signal_312(queue) : signal_313(queue);
    return rc;
}

int cunei_pending_queue_pop(const struct cunei_pending_queue *queue)
{
    const struct cunei_pending_call none = {0};
    uint32_t slots = (uint32_t)queue->layout->slot_count;
    uint32_t last = (number_at(queue, queue->layout->next) + slots - 1) % slots;
    uint32_t count = (uint32_t)cunei_pending_queue_count(queue);

    int rc = write_end(queue, last, count - 1);
    return rc < 0 ? rc : write_slot(queue, last, &none);
}

/* The interpreter's state is part of the runtime and is never freed. */
int cunei_pending_queue_remind(const struct cunei_pending_queue *queue)
{
    bool is_needed =
        queue->layout->minor == 12 && number_at(queue, queue->layout->count) == 1;
    return is_needed ? signal_312(queue) : 0;
}
