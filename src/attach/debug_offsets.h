// SPDX-License-Identifier: MIT
/*
 * What CPython 3.13 and newer say about the layout of their structs, at the beginning
 * of _PyRuntime (_Py_DebugOffsets in pycore_debug_offsets.h of CPython).
 *
 * It comes from a file or the memory of another process, so each offset is checked
 * against the size of its struct, and that against a limit.
 */
#ifndef CUNEI_ATTACH_DEBUG_OFFSETS_H
#define CUNEI_ATTACH_DEBUG_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes at the beginning of _PyRuntime that hold all of it in every known version. */
#define CUNEI_DEBUG_OFFSETS_SIZE 1024

/* Words only, so that two can be compared as memory. */
struct cunei_debug_offsets {
    uint64_t version; /* PY_VERSION_HEX */
    uint64_t is_free_threaded;
    uint64_t has_remote_debugging; /* the fields of PEP 768 follow */
    /* Of the runtime; of an interpreter, with its own GIL in it; of a thread. */
    uint64_t finalizing, interpreters_head;
    uint64_t interpreter_size, interpreter_id, interpreter_next;
    uint64_t threads_head, threads_main; /* 3.13 has no threads_main: 0 */
    uint64_t gil_pointer, gil_locked, gil_holder;
    uint64_t thread_size, thread_next, thread_interpreter, native_thread_id;
    /* Of an interpreter, a thread, the thread's struct for remote debugging. */
    uint64_t remote_debugging_enabled;
    uint64_t eval_breaker, remote_support;
    uint64_t pending_call, script_path, script_path_size;
};

/*
 * -ENODATA: these are not the offsets of a CPython; -ENOTSUP: of one that this cunei
 * does not know; -EBADMSG: an offset is not plausible.
 */
int cunei_debug_offsets_parse(const void *bytes, size_t size,
                              struct cunei_debug_offsets *offsets);

#endif
