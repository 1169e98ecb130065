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

#include <limits.h>
#include <opcode.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#if PY_VERSION_HEX < 0x030c0000
#include "probe/older.h"
#endif

/* Whether calls out of one code object can be heard of. */
#define CUNEI_COMPAT_HAS_CALLS (PY_VERSION_HEX >= 0x030c0000)

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

/*
 * The exception that is set in this thread, put aside while we call the API: it is the
 * program's.  It is not looked at: to make an object of it might run code.
 */
#if PY_VERSION_HEX >= 0x030c0000
struct cunei_compat_error {
    PyObject *exception;
};

static inline struct cunei_compat_error cunei_compat_put_aside(void)
{
    return (struct cunei_compat_error){PyErr_GetRaisedException()};
}
static inline void cunei_compat_put_back(const struct cunei_compat_error *error)
{
    PyErr_SetRaisedException(error->exception);
}
#else
struct cunei_compat_error {
    PyObject *type, *value, *traceback;
};

static inline struct cunei_compat_error cunei_compat_put_aside(void)
{
    struct cunei_compat_error error;

    PyErr_Fetch(&error.type, &error.value, &error.traceback);
    return error;
}
static inline void cunei_compat_put_back(const struct cunei_compat_error *error)
{
    PyErr_Restore(error->type, error->value, error->traceback);
}
#endif

/* An int that is a line or an offset; -1: it is none. */
static inline int cunei_compat_small(PyObject *number)
{
#if PY_VERSION_HEX >= 0x030c0000
    if (PyUnstable_Long_IsCompact((const PyLongObject *)number))
        return (int)PyUnstable_Long_CompactValue((const PyLongObject *)number);
#endif
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    return overflow || value > INT_MAX || value < -1 ? -1 : (int)value;
}

/* The same without a call, of an int that is positive and of one digit; else 0. */
static inline uint32_t cunei_compat_digit(PyObject *number)
{
    const PyLongObject *whole = (const PyLongObject *)number;
#if PY_VERSION_HEX >= 0x030c0000
    /* The number of digits, then a flag of small ints, then the sign. */
    bool is_one = (whole->long_value.lv_tag & ~(uintptr_t)4) == 1 << 3;
    return is_one ? whole->long_value.ob_digit[0] : 0;
#else
    return Py_SIZE(number) == 1 ? whole->ob_digit[0] : 0;
#endif
}

/*
 * Pythons that may be slow to tell lines (probe/linetable.h), and what must be known of
 * their instructions to do it for them.
 */
#define CUNEI_COMPAT_SLOW_LINES \
    (PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000)
#if CUNEI_COMPAT_SLOW_LINES
static inline bool cunei_compat_lines_are_slow(void)
{
    return Py_Version < 0x030d0300;
}

/* Which way an instruction may jump: 1 ahead, -1 back, 0 nowhere. */
static inline int cunei_compat_jumps(uint8_t opcode)
{
    switch (opcode) {
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
        return -1;
    case FOR_ITER:
    case JUMP_FORWARD:
    case POP_JUMP_IF_FALSE:
    case POP_JUMP_IF_NONE:
    case POP_JUMP_IF_NOT_NONE:
    case POP_JUMP_IF_TRUE:
    case SEND:
        return 1;
    default:
        return 0;
    }
}

/* As CPython has it: some are never run, or belong to what was before. */
static inline bool cunei_compat_begins_lines(uint8_t opcode)
{
    return opcode != RESUME && opcode != END_FOR && opcode != END_SEND &&
           opcode != END_ASYNC_FOR;
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
#elif PY_VERSION_HEX >= 0x030b0000
    return thread->cframe->current_frame;
#else
    return thread->frame;
#endif
}

/* The same for a frame that is known by its object; read past the public interface. */
static inline const void *cunei_compat_frame_of(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    const struct {
        PyObject_HEAD void *back;
        const void *frame;
    } *object = (const void *)frame;
    return object->frame;
#else
    return frame;
#endif
}

/*
 * Whether that says of the frame that runs what it should.  Before 3.12 there may be
 * none, and without that layout nothing would work.
 */
static inline bool cunei_compat_reads_frames(void)
{
#if PY_VERSION_HEX < 0x030c0000
    return true;
#else
    PyThreadState *thread = PyThreadState_Get();
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    bool reads = frame && cunei_compat_frame_of(frame) == cunei_compat_frame(thread);

    Py_XDECREF(frame);
    return reads;
#endif
}

/* A number that no other code object has, or had; 0: not known. */
static inline uint32_t cunei_compat_version(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    return code->co_version;
#else
    (void)code;
    return 0;
#endif
}

/* Changes with the type and with what it inherits; 0: not known. */
static inline uint32_t cunei_compat_type_version(const PyTypeObject *type)
{
#if PY_VERSION_HEX < 0x030c0000
    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG))
        return 0;
#endif
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
#elif PY_VERSION_HEX >= 0x030c0000
    (void)frame;
    (void)code;
    return false;
#else
    (void)code;
    return cunei_older_is_opening(cunei_older_frame_of(frame));
#endif
}

/*
 * While frames are looked at for the beginning of a packet, no garbage is collected:
 * 3.11 does so when objects are made of them, and that would write events.
 */
static inline bool cunei_compat_hold_collections(void)
{
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
    return PyGC_Disable();
#else
    return false;
#endif
}

static inline void cunei_compat_let_collections(bool were_enabled)
{
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
    if (were_enabled)
        (void)PyGC_Enable();
#else
    (void)were_enabled;
#endif
}

/*
 * The repr() of an object, of which no tool hears what it runs: later Pythons see to
 * that themselves while an event is told.
 */
static inline PyObject *cunei_compat_repr(PyObject *value)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyObject_Repr(value);
#else
    PyThreadState *thread = PyThreadState_Get();
    bool is_traced = cunei_older_enter_silence(thread);
    PyObject *repr = PyObject_Repr(value);
    cunei_older_leave_silence(thread, is_traced);
    return repr;
#endif
}

/* The start of the frame on top has just been told. */
static inline void cunei_compat_opened(void)
{
#if PY_VERSION_HEX < 0x030c0000
    cunei_older_opened();
#endif
}

/* Whether this is the instruction at an offset in bytes. */
static inline bool cunei_compat_is_at(PyCodeObject *code, int offset, int instruction)
{
    PyObject *bytes = PyCode_GetCode(code); /* one for all calls */
    bool yes = bytes && PyBytes_Check(bytes) && offset >= 0 &&
               offset < PyBytes_GET_SIZE(bytes) &&
               (unsigned char)PyBytes_AS_STRING(bytes)[offset] == instruction;

    PyErr_Clear();
    Py_XDECREF(bytes);
    return yes;
}

/* Whether the one there suspends a generator. */
static inline bool cunei_compat_yields(PyCodeObject *code, int offset)
{
    return cunei_compat_is_at(code, offset, YIELD_VALUE);
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

/* What the interpreter was started with, a new reference; NULL without an exception. */
static inline PyObject *cunei_compat_arguments(void)
{
#if PY_VERSION_HEX >= 0x030a0000
    return cunei_compat_sys("orig_argv");
#else
    return cunei_older_arguments();
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
#elif PY_VERSION_HEX >= 0x030c0000
    return cunei_compat_yields(code, PyFrame_GetLasti(frame));
#elif PY_VERSION_HEX >= 0x030b0000
    /* One that has just yielded, and is told of, is at the same place. */
    return cunei_compat_yields(code, PyFrame_GetLasti(frame)) &&
           !cunei_older_is_suspended(cunei_older_frame_of(frame));
#else
    /* It stands before a `yield from`, where no handler of a signal is run. */
    return cunei_compat_is_at(code, PyFrame_GetLasti(frame) + 2, YIELD_FROM);
#endif
}

/* The same for one on top: before 3.12 an event may come when it is not its turn. */
static inline bool cunei_compat_top_rests(PyFrameObject *frame, PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    (void)frame;
    (void)code;
    return false;
#else
    return cunei_compat_rests(frame, code);
#endif
}

/*
 * How many Python frames the thread has, by the counter that limits them.  It also
 * counts a few that only the interpreter knows of, for calls of `__init__`.
 */
static inline size_t cunei_compat_depth(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030c0000
    int depth = thread->py_recursion_limit - thread->py_recursion_remaining;
    return depth > 0 ? (size_t)depth : 0;
#else
    return cunei_older_count(thread); /* the counter counts recursion in C, too */
#endif
}

static inline bool cunei_compat_reads_extra(PyCodeObject *code, Py_ssize_t index,
                                            uint64_t expected)
{
    return cunei_compat_extra_inline(code, index) == expected &&
           cunei_compat_extra_call(code, index) == expected;
}

#endif
