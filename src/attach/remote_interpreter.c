// SPDX-License-Identifier: MIT
#include "attach/remote_interpreter.h"

#include <errno.h>
#include <string.h>

#include "attach/memory_map.h"

/* More interpreters or threads than any program has: the list is damaged. */
#define INTERPRETERS_MAX 4096
#define THREADS_MAX      65536

int cunei_remote_read(const struct cunei_target *target, uint64_t address, void *bytes,
                      size_t size)
{
    return cunei_memory_read(target->process.pid, address, bytes, size);
}

int cunei_remote_write(const struct cunei_target *target, uint64_t address,
                       const void *bytes, size_t size)
{
    return cunei_memory_write(target->process.pid, address, bytes, size);
}

/* A pointer, which is aligned and not in the first pages. */
static int read_pointer(const struct cunei_target *target, uint64_t address,
                        uint64_t *pointer)
{
    int rc = cunei_remote_read(target, address, pointer, sizeof(*pointer));
    if (rc == 0 && *pointer != 0 && (*pointer < 65536 || *pointer % 8 != 0))
        rc = -EBADMSG;
    return rc;
}

/* The offsets in memory are those in the file. */
static int compare_offsets(const struct cunei_target *target)
{
    struct cunei_debug_offsets offsets;
    uint8_t bytes[CUNEI_DEBUG_OFFSETS_SIZE];

    int rc = cunei_remote_read(target, target->python.runtime, bytes, sizeof(bytes));
    if (rc < 0)
        return rc;
    if (cunei_debug_offsets_parse(bytes, sizeof(bytes), &offsets) < 0 ||
        memcmp(&offsets, &target->python.offsets, sizeof(offsets)) != 0)
        return -EBADMSG;
    return 0;
}

static int check_finalizing(const struct cunei_target *target)
{
    uint64_t thread = 0;

    int rc = read_pointer(
        target, target->python.runtime + target->python.offsets.finalizing, &thread);
    return rc == 0 && thread != 0 ? -ESHUTDOWN : rc;
}

/* The newest interpreter comes first, the main one has number 0. */
int cunei_remote_interpreter_find(const struct cunei_target *target,
                                  uint64_t *interpreter)
{
    const struct cunei_debug_offsets *offsets = &target->python.offsets;
    uint64_t at = 0;

    int rc = compare_offsets(target);
    if (rc == 0)
        rc = check_finalizing(target);
    if (rc == 0)
        rc = read_pointer(target, target->python.runtime + offsets->interpreters_head,
                          &at);
    if (rc == 0 && at == 0)
        rc = -EAGAIN;
    for (size_t i = 0; rc == 0 && i < INTERPRETERS_MAX && at != 0; i++) {
        int64_t id = -1;
        rc = cunei_remote_read(target, at + offsets->interpreter_id, &id, sizeof(id));
        if (rc == 0 && id == 0) {
            *interpreter = at;
            return 0;
        }
        if (rc == 0)
            rc = read_pointer(target, at + offsets->interpreter_next, &at);
    }
    return rc < 0 ? rc : -EBADMSG;
}

static bool belongs_to(const struct cunei_target *target, uint64_t interpreter,
                       uint64_t thread)
{
    uint64_t owner = 0;

    return cunei_remote_read(target, thread + target->python.offsets.thread_interpreter,
                             &owner, sizeof(owner)) == 0 &&
           owner == interpreter;
}

int cunei_remote_interpreter_next(const struct cunei_target *target,
                                  uint64_t interpreter, uint64_t *thread)
{
    const struct cunei_debug_offsets *offsets = &target->python.offsets;
    uint64_t address =
        *thread ? *thread + offsets->thread_next : interpreter + offsets->threads_head;

    int rc = read_pointer(target, address, thread);
    if (rc == 0 && *thread != 0 && !belongs_to(target, interpreter, *thread))
        rc = -EBADMSG;
    return rc;
}

static void move_to_front(uint64_t *threads, size_t count, uint64_t thread)
{
    for (size_t i = 0; i < count; i++) {
        if (threads[i] == thread) {
            memmove(threads + 1, threads, i * sizeof(threads[0]));
            threads[0] = thread;
        }
    }
}

int cunei_remote_interpreter_threads(const struct cunei_target *target,
                                     uint64_t interpreter, uint64_t *threads,
                                     size_t max)
{
    const struct cunei_debug_offsets *offsets = &target->python.offsets;
    uint64_t thread = 0, holder = 0, main_thread = 0;
    size_t count = 0, last = max;

    int rc = read_pointer(target, interpreter + offsets->gil_holder, &holder);
    if (rc == 0 && offsets->threads_main)
        rc = read_pointer(target, interpreter + offsets->threads_main, &main_thread);
    for (size_t i = 0; rc == 0 && i < THREADS_MAX; i++) {
        rc = cunei_remote_interpreter_next(target, interpreter, &thread);
        if (rc < 0 || thread == 0)
            break;
        if (count < max)
            threads[count++] = thread;
        else if (thread == holder || thread == main_thread)
            threads[--last] = thread; /* in place of others */
    }
    move_to_front(threads, count, main_thread);
    move_to_front(threads, count, holder);
    return rc < 0 ? rc : (int)count;
}
