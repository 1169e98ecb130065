// SPDX-License-Identifier: MIT
#include "attach/debug_offsets.h"

#include <errno.h>
#include <string.h>

#define COOKIE "xdebugpy"

/* More than any CPython has; an offset beyond that is a mistake. */
#define INTERPRETER_MAX (16u << 20)
#define THREAD_MAX      (1u << 20)
#define RUNTIME_MAX     (16u << 20)

/* Longer than what we write, and shorter than what we read. */
#define SCRIPT_PATH_MIN 128u
#define SCRIPT_PATH_MAX 4096u

/*
 * Where a version of CPython has them, as numbers of 64-bit words.  A series keeps the
 * struct as it is ("guaranteed to be stable between patch versions").
 */
struct positions {
    unsigned minor;
    size_t runtime, interpreter, thread; /* the first word of each */
    size_t threads_main, gil;            /* in the interpreter's words; 0: has none */
    size_t native_id;                    /* in the thread's words */
    size_t remote;                       /* the first word; 0: has none */
};

static const struct positions known[] = {
    {13, 3, 6, 19, 0, 8, 6, 0},
    {14, 3, 6, 22, 4, 9, 6, 89},
    {15, 3, 6, 22, 4, 9, 9, 105},
};

/* Words that have the same place in the part of every known version. */
enum {
    WORD_VERSION = 1,
    WORD_FREE_THREADED = 2,
    RUNTIME_FINALIZING = 1,
    RUNTIME_HEAD = 2,
    INTERPRETER_ID = 1,
    INTERPRETER_NEXT = 2,
    INTERPRETER_THREADS = 3,
    AFTER_GIL_LOCKED = 3, /* words behind that of the GIL */
    AFTER_GIL_HOLDER = 4,
    THREAD_NEXT = 2,
    THREAD_INTERPRETER = 3,
    REMOTE_BREAKER = 0,
    REMOTE_SUPPORT = 1,
    REMOTE_ENABLED = 2,
    REMOTE_PENDING = 3,
    REMOTE_PATH = 4,
    REMOTE_PATH_SIZE = 5,
};

static uint64_t word(const void *bytes, size_t index)
{
    uint64_t value;

    memcpy(&value, (const uint8_t *)bytes + index * sizeof(value), sizeof(value));
    return value;
}

static const struct positions *positions_of(uint64_t version)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (version >> 24 == 3 && (version >> 16 & 0xff) == known[i].minor)
            return &known[i];
    }
    return NULL;
}

/* Whether a field of `size` bytes lies in its struct, where a compiler puts it. */
static bool fits(uint64_t offset, uint64_t size, uint64_t struct_size)
{
    return offset % size == 0 && struct_size >= size && offset <= struct_size - size;
}

static void read_words(const void *bytes, const struct positions *at,
                       struct cunei_debug_offsets *found)
{
    found->version = word(bytes, WORD_VERSION);
    found->is_free_threaded = word(bytes, WORD_FREE_THREADED) != 0;
    found->finalizing = word(bytes, at->runtime + RUNTIME_FINALIZING);
    found->interpreters_head = word(bytes, at->runtime + RUNTIME_HEAD);
    found->interpreter_size = word(bytes, at->interpreter);
    found->interpreter_id = word(bytes, at->interpreter + INTERPRETER_ID);
    found->interpreter_next = word(bytes, at->interpreter + INTERPRETER_NEXT);
    found->threads_head = word(bytes, at->interpreter + INTERPRETER_THREADS);
    if (at->threads_main)
        found->threads_main = word(bytes, at->interpreter + at->threads_main);
    found->gil_pointer = word(bytes, at->interpreter + at->gil);
    found->gil_locked = word(bytes, at->interpreter + at->gil + AFTER_GIL_LOCKED);
    found->gil_holder = word(bytes, at->interpreter + at->gil + AFTER_GIL_HOLDER);
    found->thread_size = word(bytes, at->thread);
    found->thread_next = word(bytes, at->thread + THREAD_NEXT);
    found->thread_interpreter = word(bytes, at->thread + THREAD_INTERPRETER);
    found->native_thread_id = word(bytes, at->thread + at->native_id);
}

static void read_remote_words(const void *bytes, size_t at,
                              struct cunei_debug_offsets *found)
{
    found->has_remote_debugging = true;
    found->eval_breaker = word(bytes, at + REMOTE_BREAKER);
    found->remote_support = word(bytes, at + REMOTE_SUPPORT);
    found->remote_debugging_enabled = word(bytes, at + REMOTE_ENABLED);
    found->pending_call = word(bytes, at + REMOTE_PENDING);
    found->script_path = word(bytes, at + REMOTE_PATH);
    found->script_path_size = word(bytes, at + REMOTE_PATH_SIZE);
}

static bool are_plausible(const struct cunei_debug_offsets *found)
{
    uint64_t interpreter = found->interpreter_size, thread = found->thread_size;

    return interpreter <= INTERPRETER_MAX && thread <= THREAD_MAX &&
           fits(found->finalizing, 8, RUNTIME_MAX) &&
           fits(found->interpreters_head, 8, RUNTIME_MAX) &&
           fits(found->interpreter_id, 8, interpreter) &&
           fits(found->interpreter_next, 8, interpreter) &&
           fits(found->threads_head, 8, interpreter) &&
           fits(found->threads_main, 8, interpreter) &&
           fits(found->gil_pointer, 8, interpreter) &&
           fits(found->gil_locked, 4, interpreter) &&
           fits(found->gil_holder, 8, interpreter) &&
           fits(found->thread_next, 8, thread) &&
           fits(found->thread_interpreter, 8, thread) &&
           fits(found->native_thread_id, 8, thread);
}

/* In the struct for remote debugging the flag comes first, and the path fits. */
static bool are_remote_plausible(const struct cunei_debug_offsets *found)
{
    uint64_t thread = found->thread_size, support = found->remote_support;

    return fits(found->remote_debugging_enabled, 4, found->interpreter_size) &&
           fits(found->eval_breaker, 8, thread) && fits(support, 4, thread) &&
           found->script_path_size >= SCRIPT_PATH_MIN &&
           found->script_path_size <= SCRIPT_PATH_MAX &&
           fits(found->pending_call, 4, thread - support) &&
           found->script_path >= found->pending_call + 4 &&
           found->script_path <= thread - support &&
           found->script_path_size <= thread - support - found->script_path &&
           (support > found->eval_breaker ||
            support + found->script_path + found->script_path_size <=
                found->eval_breaker);
}

int cunei_debug_offsets_parse(const void *bytes, size_t size,
                              struct cunei_debug_offsets *offsets)
{
    struct cunei_debug_offsets found = {0};

    if (size < CUNEI_DEBUG_OFFSETS_SIZE ||
        memcmp(bytes, COOKIE, sizeof(COOKIE) - 1) != 0)
        return -ENODATA;
    const struct positions *at = positions_of(word(bytes, WORD_VERSION));
    if (!at)
        return -ENOTSUP;
    read_words(bytes, at, &found);
    if (!are_plausible(&found))
        return -EBADMSG;
    if (at->remote) {
        read_remote_words(bytes, at->remote, &found);
        if (!are_remote_plausible(&found))
            return -EBADMSG;
    }
    *offsets = found;
    return 0;
}
