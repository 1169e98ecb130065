// SPDX-License-Identifier: MIT
/*
 * What differs between Pythons, and the two things read past the public interface.  The
 * word that a tool may hang on a code object is read inline, because the function for
 * it costs 1.5 to 3 ns an event.  cunei_compat_reads_extra proves at import that the
 * layout is the expected one; if it is not, the function is used.  Which frame a frame
 * object stands for is proven by cunei_compat_reads_frames; if that fails, C functions
 * that call back are missing where a packet begins.
 */
#ifndef CUNEI_PROBE_COMPAT_H
#define CUNEI_PROBE_COMPAT_H

#include <Python.h>

#include <opcode.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Guards what the GIL guards where there is one; see probe/world.h for which of the two
 * is the right one.  They live as long as the process; all zeros are an open mutex.
 *
 * A mutex lets go of the interpreter while it waits: a thread that waits otherwise
 * would keep the world from being stopped.  A latch does not, and nobody is stopped
 * who holds it or waits for it, if nothing of the interpreter is called under it.
 */
#ifdef Py_GIL_DISABLED
#define CUNEI_COMPAT_HAS_GIL 0

typedef struct cunei_compat_mutex {
    PyMutex mutex;
    struct cunei_compat_mutex *next; /* of those that a forked child unlocks */
    bool is_listed;
} cunei_compat_mutex;

typedef pthread_mutex_t cunei_compat_latch;
#define CUNEI_COMPAT_LATCH PTHREAD_MUTEX_INITIALIZER

void cunei_compat_lock(cunei_compat_mutex *mutex);
static inline void cunei_compat_unlock(cunei_compat_mutex *mutex)
{
    PyMutex_Unlock(&mutex->mutex);
}
static inline void cunei_compat_close(cunei_compat_latch *latch)
{
    (void)pthread_mutex_lock(latch);
}
static inline void cunei_compat_open(cunei_compat_latch *latch)
{
    (void)pthread_mutex_unlock(latch);
}
#else
#define CUNEI_COMPAT_HAS_GIL 1

typedef struct {
    char unused;
} cunei_compat_mutex, cunei_compat_latch;
#define CUNEI_COMPAT_LATCH \
    {                      \
        0                  \
    }

static inline void cunei_compat_lock(cunei_compat_mutex *mutex)
{
    (void)mutex;
}
static inline void cunei_compat_unlock(cunei_compat_mutex *mutex)
{
    (void)mutex;
}
static inline void cunei_compat_close(cunei_compat_latch *latch)
{
    (void)latch;
}
static inline void cunei_compat_open(cunei_compat_latch *latch)
{
    (void)latch;
}
#endif

struct cunei_compat_extra {
    Py_ssize_t size;
    void *words[];
};

/*
 * Without a GIL another thread may just be giving the code object its words.  Pairs
 * with the release in cunei_compat_set_extra, or that of CPython's own since 3.14.4;
 * where there is a GIL, the atomic loads are plain ones.
 */
static inline uint64_t cunei_compat_extra_inline(PyCodeObject *code, Py_ssize_t index)
{
    const int order = CUNEI_COMPAT_HAS_GIL ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
    const struct cunei_compat_extra *extra = __atomic_load_n(&code->co_extra, order);
    return extra && index < extra->size
               ? (uint64_t)(uintptr_t)__atomic_load_n(&extra->words[index], order)
               : 0;
}

static inline uint64_t cunei_compat_extra_call(PyCodeObject *code, Py_ssize_t index)
{
    void *word = NULL;
    (void)PyUnstable_Code_GetExtra((PyObject *)code, index, &word);
    return (uint64_t)(uintptr_t)word;
}

/* What a dict has for a name, a new reference; NULL: nothing. */
static inline PyObject *cunei_compat_dict_get(PyObject *dict, const char *name)
{
    PyObject *value = NULL;
#if PY_VERSION_HEX >= 0x030d0000
    if (PyDict_GetItemStringRef(dict, name, &value) < 0)
        PyErr_Clear();
#else
    value = Py_XNewRef(PyDict_GetItemString(dict, name));
#endif
    return value;
}

/*
 * Gives a code object that has no words yet its first one.  CPython would make room for
 * the words of every tool, and call the functions of all of them when the code object
 * is freed; that of a tool which came after us may be gone by then, as that of
 * CPython's own test_code is.  So there is room for no more than those before us.
 *
 * Without a GIL, CPython before 3.14.4 also lays the words out in the sight of other
 * threads, and on processors that reorder stores they may see what was in that memory
 * before.  Here they are shown when they are whole.  What cannot be helped is another
 * tool that gives it a word at the same time.
 */
#if CUNEI_COMPAT_HAS_GIL || PY_VERSION_HEX < 0x030e0400
static inline bool cunei_compat_lay_out_extra(PyCodeObject *code, Py_ssize_t index,
                                              uint64_t word)
{
    void *none = NULL;
    struct cunei_compat_extra *extra =
        PyMem_Calloc(1, sizeof(*extra) + (size_t)(index + 1) * sizeof(void *));

    if (!extra)
        return false;
    extra->size = index + 1;
    extra->words[index] = (void *)(uintptr_t)word;
    if (__atomic_compare_exchange_n(&code->co_extra, &none, (void *)extra, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return true;
    PyMem_Free(extra);
    return false;
}
#else
static inline bool cunei_compat_lay_out_extra(PyCodeObject *code, Py_ssize_t index,
                                              uint64_t word)
{
    (void)code;
    (void)index;
    (void)word;
    return false;
}
#endif

/* -1 with an exception set. */
static inline int cunei_compat_set_extra(PyCodeObject *code, Py_ssize_t index,
                                         uint64_t word, bool is_inline)
{
    if (is_inline && word && !code->co_extra &&
        cunei_compat_lay_out_extra(code, index, word))
        return 0;
    /* Who finds the word finds what it stands for. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return PyUnstable_Code_SetExtra((PyObject *)code, index, (void *)(uintptr_t)word);
}

/*
 * Which of the interpreter's frames runs: the same at its start and at its end, and for
 * a generator as long as that lives.  It is compared, and never looked into.
 */
static inline const void *cunei_compat_frame(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000
    return thread->current_frame;
#else
    return thread->cframe->current_frame;
#endif
}

/* The same for a frame that is known by its object; read past the public interface. */
static inline const void *cunei_compat_frame_of(PyFrameObject *frame)
{
    const struct {
        PyObject_HEAD void *back;
        const void *frame;
    } *object = (const void *)frame;
    return object->frame;
}

/* Whether that says of the frame that runs what it should. */
static inline bool cunei_compat_reads_frames(void)
{
    PyThreadState *thread = PyThreadState_Get();
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    bool reads = frame && cunei_compat_frame_of(frame) == cunei_compat_frame(thread);

    Py_XDECREF(frame);
    return reads;
}

/* Changes with the type and with what it inherits; 0: not known. */
static inline uint32_t cunei_compat_type_version(const PyTypeObject *type)
{
    return __atomic_load_n(&type->tp_version_tag, __ATOMIC_RELAXED);
}

#if PY_VERSION_HEX < 0x030d0000
#define PyThreadState_GetUnchecked _PyThreadState_UncheckedGet
#endif

/* Whether what a weak reference refers to is still there. */
static inline bool cunei_compat_is_alive(PyObject *ref)
{
#if PY_VERSION_HEX >= 0x030e0000
    return PyWeakref_IsDead(ref) == 0;
#elif PY_VERSION_HEX >= 0x030d0000
    PyObject *object = NULL;
    (void)PyWeakref_GetRef(ref, &object);
    Py_XDECREF(object);
    return object != NULL;
#else
    return PyWeakref_GET_OBJECT(ref) != Py_None;
#endif
}

/* What a dict has for a key, a new reference; NULL with or without an exception. */
static inline PyObject *cunei_compat_dict_item(PyObject *dict, PyObject *key)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *value = NULL;
    (void)PyDict_GetItemRef(dict, key, &value);
    return value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

/* Around a loop over what another thread might change where there is no GIL. */
#if PY_VERSION_HEX >= 0x030d0000
#define CUNEI_COMPAT_BEGIN_LOCKED(object) Py_BEGIN_CRITICAL_SECTION(object)
#define CUNEI_COMPAT_END_LOCKED()         Py_END_CRITICAL_SECTION()
#else
#define CUNEI_COMPAT_BEGIN_LOCKED(object) {
#define CUNEI_COMPAT_END_LOCKED()         }
#endif

/* An item of a list, a new reference; NULL: it has become too short. */
static inline PyObject *cunei_compat_list_item(PyObject *list, Py_ssize_t index)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *item = PyList_GetItemRef(list, index);
#else
    PyObject *item = Py_XNewRef(PyList_GetItem(list, index));
#endif
    if (!item)
        PyErr_Clear();
    return item;
}

/*
 * Whether a frame is at its first instruction.  From 3.13 on pending work, such as a
 * garbage collection or the handler of a signal, is done there before the start is
 * told.
 */
static inline bool cunei_compat_begins(PyFrameObject *frame, const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030d0000
    /* Instructions have two bytes. */
    return PyFrame_GetLasti(frame) == 2 * code->_co_firsttraceable;
#else
    (void)frame;
    (void)code;
    return false;
#endif
}

/* Whether the instruction at an offset in bytes suspends a generator. */
static inline bool cunei_compat_yields(PyCodeObject *code, int offset)
{
    PyObject *bytes = PyCode_GetCode(code); /* one for all calls */
    bool yields = bytes && PyBytes_Check(bytes) && offset >= 0 &&
                  offset < PyBytes_GET_SIZE(bytes) &&
                  (unsigned char)PyBytes_AS_STRING(bytes)[offset] == YIELD_VALUE;

    PyErr_Clear();
    Py_XDECREF(bytes);
    return yields;
}

/* What sys has under this name, a new reference; NULL without an exception. */
static inline PyObject *cunei_compat_sys(const char *name)
{
#if PY_VERSION_HEX >= 0x030f0000
    PyObject *value = PySys_GetAttrString(name);
    if (!value)
        PyErr_Clear();
    return value;
#elif PY_VERSION_HEX >= 0x030d0000
    PyObject *value = NULL, *sys = PyImport_AddModuleRef("sys");
    if (sys && PyModule_Check(sys))
        value = cunei_compat_dict_get(PyModule_GetDict(sys), name);
    PyErr_Clear();
    Py_XDECREF(sys);
    return value;
#else
    return Py_XNewRef(PySys_GetObject(name));
#endif
}

/*
 * Whether a generator's frame, not the one on top, is where it was suspended: it is not
 * running then.  An exception that is thrown into it goes to the generator it delegates
 * to first, and meanwhile its frame stands below that one's all the same.
 */
static inline bool cunei_compat_rests(PyFrameObject *frame, PyCodeObject *code)
{
    const int kinds = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;

    if (!(code->co_flags & kinds))
        return false;
#if PY_VERSION_HEX >= 0x030d0000
    return cunei_compat_yields(code, PyFrame_GetLasti(frame) - 2); /* then a RESUME */
#else
    return cunei_compat_yields(code, PyFrame_GetLasti(frame));
#endif
}

/*
 * How many Python frames the thread has, by the counter that limits them.  It also
 * counts a few that only the interpreter knows of, for calls of `__init__`.
 */
static inline size_t cunei_compat_depth(const PyThreadState *thread)
{
    int depth = thread->py_recursion_limit - thread->py_recursion_remaining;
    return depth > 0 ? (size_t)depth : 0;
}

static inline bool cunei_compat_reads_extra(PyCodeObject *code, Py_ssize_t index,
                                            uint64_t expected)
{
    return cunei_compat_extra_inline(code, index) == expected &&
           cunei_compat_extra_call(code, index) == expected;
}

#endif
