// SPDX-License-Identifier: MIT
/*
 * The co_extra slots of a code object: 64 bits for each tool.  Ours is read inline,
 * past the public interface, because the API function costs 1.5 to 3 ns an event.
 * cunei_code_extra_is_readable checks at import that the layout is the expected one;
 * otherwise the API function is used.
 */
#ifndef CUNEI_PROBE_CORE_CODE_EXTRA_H
#define CUNEI_PROBE_CORE_CODE_EXTRA_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "probe/core/compat.h"

/* How many slots are ours, side by side: before 3.11 also that of qualname.c. */
#define CUNEI_EXTRA_COUNT (PY_VERSION_HEX >= 0x030b0000 ? 1 : 2)

struct cunei_code_extra {
    Py_ssize_t size;
    void *words[];
};

/*
 * Without a GIL another thread may be setting the slots at this moment.  Pairs with the
 * release in cunei_code_extra_set, or with CPython's own since 3.14.4; with a GIL, the
 * atomic loads are plain ones.
 */
static inline uint64_t cunei_code_extra_inline(PyCodeObject *code, Py_ssize_t index)
{
    const int order = CUNEI_COMPAT_HAS_GIL ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
    const struct cunei_code_extra *extra = __atomic_load_n(&code->co_extra, order);
    return extra && index < extra->size
               ? (uint64_t)(uintptr_t)__atomic_load_n(&extra->words[index], order)
               : 0;
}

static inline uint64_t cunei_code_extra_call(PyCodeObject *code, Py_ssize_t index)
{
    void *word = NULL;
    (void)PyUnstable_Code_GetExtra((PyObject *)code, index, &word);
    return (uint64_t)(uintptr_t)word;
}

/*
 * Allocate the slots of a code object that has none, and set ours.  CPython would
 * allocate a slot for every tool, and call the free functions of all of them when the
 * code object is freed; that of a tool which came after us may be gone by then, as that
 * of CPython's own test_code is.  So we allocate only our slots and those before them.
 *
 * Without a GIL, CPython before 3.14.4 also publishes the slots before they are
 * initialized, and on processors that reorder stores other threads may read old
 * memory.  We publish them when they are complete.  Another tool that sets a slot at
 * the same time cannot be guarded against.
 */
#if CUNEI_COMPAT_HAS_GIL || PY_VERSION_HEX < 0x030e0400
static inline bool cunei_code_extra_lay_out(PyCodeObject *code, Py_ssize_t index,
                                            uint64_t word)
{
    void *none = NULL;
    const Py_ssize_t size = index + CUNEI_EXTRA_COUNT;
    struct cunei_code_extra *extra =
        PyMem_Calloc(1, sizeof(*extra) + (size_t)size * sizeof(void *));

    if (!extra)
        return false;
    extra->size = size;
    extra->words[index] = (void *)(uintptr_t)word;
    if (__atomic_compare_exchange_n(&code->co_extra, &none, (void *)extra, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return true;
    PyMem_Free(extra);
    return false;
}
#else
static inline bool cunei_code_extra_lay_out(PyCodeObject *code, Py_ssize_t index,
                                            uint64_t word)
{
    (void)code;
    (void)index;
    (void)word;
    return false;
}
#endif

/* -1 with an exception set. */
static inline int cunei_code_extra_set(PyCodeObject *code, Py_ssize_t index,
                                       uint64_t word, bool is_inline)
{
    if (is_inline && word && !code->co_extra &&
        cunei_code_extra_lay_out(code, index, word))
        return 0;
    /* A thread that reads the tag also sees the registry entry behind it. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return PyUnstable_Code_SetExtra((PyObject *)code, index, (void *)(uintptr_t)word);
}

/* Whether both ways to read the slot return the same. */
static inline bool cunei_code_extra_is_readable(PyCodeObject *code, Py_ssize_t index,
                                                uint64_t expected)
{
    return cunei_code_extra_inline(code, index) == expected &&
           cunei_code_extra_call(code, index) == expected;
}

#endif
