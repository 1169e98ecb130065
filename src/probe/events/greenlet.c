// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/greenlet.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core/cold_event.h"
#include "probe/core/compat.h"
#include "probe/core/lock.h"
#include "probe/core/object_number.h"
#include "probe/core/sealed_type.h"
#include "probe/core/write.h"
#include "probe/events/open_stack.h"
#include "probe/user/region.h"
#include "rt/recorder.h"
#include "wire/event.h"

#define SWITCH_WORDS (sizeof(struct cunei_switch) / sizeof(uint64_t))

/* The key of the tracer in the thread's own dict. */
#define TRACER_KEY "cunei.greenlet"

struct tracer {
    PyObject_HEAD vectorcallfunc call;
    PyObject *previous;  /* owned: the tracer before ours, or NULL */
    uint32_t *functions; /* owned: room for a stack, from the first switch on */
};

/*
 * Functions of greenlet, owned; complete once is_found is set, and unchanged from then
 * on: late threads may still use them when the recording has ended.
 */
static struct {
    PyObject *settrace;
    PyObject *gettrace;
    PyObject *gr_frame; /* the descriptor of greenlet's own type */
} greenlet;

static atomic_bool is_found;
static PyTypeObject *_Atomic tracer_type; /* borrowed; NULL: no recording is on */
static struct cunei_numbers numbers;
static cunei_mutex lock;

/* While a switch is written: the greenlet before it, borrowed. */
static _Thread_local PyObject *origin;

bool cunei_greenlet_is_module(const char *module, const char *qualname)
{
    return strcmp(module, "greenlet") == 0 && strcmp(qualname, "<module>") == 0;
}

bool cunei_greenlet_is_loaded(void)
{
    struct cunei_compat_error error = cunei_compat_put_aside();
    PyObject *modules = cunei_compat_sys("modules");
    PyObject *module = modules && PyDict_Check(modules)
                           ? cunei_compat_dict_get(modules, "greenlet")
                           : NULL;

    Py_XDECREF(module);
    Py_XDECREF(modules);
    cunei_compat_put_back(&error);
    return module != NULL;
}

/* The top frame of a greenlet that does not run, new; NULL: it has none. */
static PyFrameObject *frame_of(PyObject *suspended)
{
    descrgetfunc get = Py_TYPE(greenlet.gr_frame)->tp_descr_get;
    PyObject *frame =
        get ? get(greenlet.gr_frame, suspended, (PyObject *)Py_TYPE(suspended)) : NULL;

    if (frame && !PyFrame_Check(frame))
        Py_CLEAR(frame);
    PyErr_Clear();
    return (PyFrameObject *)frame;
}

size_t cunei_greenlet_stack(bool top_is_open, uint32_t *functions, size_t max,
                            size_t *omitted)
{
    if (!origin)
        return cunei_open_stack(top_is_open, functions, max, omitted);
    const void *runs = cunei_region_set_greenlet(origin);
    bool collects = cunei_compat_hold_collections();
    size_t count = cunei_open_stack_of(frame_of(origin), functions, max, omitted);
    cunei_compat_release_collections(collects);
    (void)cunei_region_set_greenlet(runs);
    return count;
}

/* Two functions to a word, the outermost first; the stack has the innermost first. */
static void store_functions(struct cunei_stream *stream, const uint32_t *functions,
                            size_t count)
{
    for (size_t i = 0; i < count; i += 2)
        cunei_stream_store(stream, (unsigned)(SWITCH_WORDS + i / 2),
                           functions[count - 1 - i] | (uint64_t)functions[count - 2 - i]
                                                          << 32);
}

static void write_switch(struct tracer *tracer, PyObject *from, PyObject *to)
{
    size_t omitted = 0, count;
    uint64_t now;
    bool is_new;

    /* One more makes their number even. */
    if (!tracer->functions)
        tracer->functions =
            malloc((CUNEI_RECORDER_STACK_MAX + 1) * sizeof(*tracer->functions));
    uint64_t number = cunei_numbers_find(&numbers, to, &is_new);
    if (!tracer->functions || number == 0) {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
        return;
    }
    cunei_region_switch(from, to);
    count =
        cunei_open_stack(true, tracer->functions, CUNEI_RECORDER_STACK_MAX, &omitted);
    if (count % 2 == 1)
        tracer->functions[count++] = 0;
    unsigned words = (unsigned)(SWITCH_WORDS + count / 2);
    origin = from;
    struct cunei_stream *stream = cunei_write_room(&now, words, true);
    origin = NULL;
    if (!stream)
        return;
    cunei_stream_store(stream, 0, cunei_record(now, CUNEI_CLASS_SWITCH, 0));
    cunei_stream_store(stream, 1, number);
    cunei_stream_store(stream, 2, (uint32_t)omitted | (uint64_t)count << 32);
    store_functions(stream, tracer->functions, count);
    cunei_stream_publish(stream, now, words);
}

/* greenlet calls it: tracer(event, (origin, target)), when the target runs already. */
static PyObject *on_switch(PyObject *self, PyObject *const *args, size_t count,
                           PyObject *names)
{
    struct tracer *tracer = (struct tracer *)self;

    if (tracer_type && PyVectorcall_NARGS(count) == 2 && PyTuple_CheckExact(args[1]) &&
        PyTuple_GET_SIZE(args[1]) == 2) {
        struct cunei_cold_event event = cunei_cold_event_begin();
        write_switch(tracer, PyTuple_GET_ITEM(args[1], 0),
                     PyTuple_GET_ITEM(args[1], 1));
        cunei_cold_event_end(&event);
    }
    if (!tracer->previous)
        Py_RETURN_NONE;
    PyObject *previous = Py_NewRef(tracer->previous);
    PyObject *result = PyObject_Vectorcall(previous, args, count, names);
    Py_DECREF(previous);
    /* greenlet removes a tracer that has failed, and now that would be ours. */
    if (!result)
        Py_CLEAR(tracer->previous);
    return result;
}

static int tracer_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct tracer *)self)->previous);
    return 0;
}

static int tracer_clear(PyObject *self)
{
    Py_CLEAR(((struct tracer *)self)->previous);
    return 0;
}

static void tracer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    (void)tracer_clear(self);
    free(((struct tracer *)self)->functions);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(struct tracer, call), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_call, PyVectorcall_Call},   {Py_tp_members, members},
    {Py_tp_traverse, tracer_traverse}, {Py_tp_clear, tracer_clear},
    {Py_tp_dealloc, tracer_dealloc},   {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.GreenletTracer",
    .basicsize = sizeof(struct tracer),
    .flags = CUNEI_SEALED_TYPE_FLAGS | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = slots,
};

PyTypeObject *cunei_greenlet_type(PyObject *module)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

static void let_go(void)
{
    Py_CLEAR(greenlet.settrace);
    Py_CLEAR(greenlet.gettrace);
    Py_CLEAR(greenlet.gr_frame);
}

/* Whether the program has imported a greenlet that can be traced; lock held. */
static bool find(void)
{
    PyObject *modules = cunei_compat_sys("modules");
    PyObject *module = NULL;

    if (modules && PyDict_Check(modules))
        module = cunei_compat_dict_get(modules, "greenlet._greenlet");
    Py_XDECREF(modules);
    if (!module || !PyModule_Check(module)) {
        Py_XDECREF(module);
        return false;
    }
    PyObject *dict = PyModule_GetDict(module);
    PyObject *type = cunei_compat_dict_get(dict, "greenlet");
    greenlet.settrace = cunei_compat_dict_get(dict, "settrace");
    greenlet.gettrace = cunei_compat_dict_get(dict, "gettrace");
    if (type && PyType_Check(type))
        greenlet.gr_frame = PyObject_GetAttrString(type, "gr_frame");
    Py_XDECREF(type);
    Py_DECREF(module);
    /* C functions only: they set the tracer of the calling thread. */
    if (greenlet.settrace && PyCFunction_Check(greenlet.settrace) &&
        greenlet.gettrace && PyCFunction_Check(greenlet.gettrace) && greenlet.gr_frame)
        return true;
    let_go();
    return false;
}

static bool is_there(void)
{
    /* Pairs with the release below: what was found is complete. */
    if (atomic_load_explicit(&is_found, memory_order_acquire))
        return true;
    cunei_mutex_lock(&lock);
    bool yes = atomic_load_explicit(&is_found, memory_order_relaxed) || find();
    atomic_store_explicit(&is_found, yes, memory_order_release);
    cunei_mutex_unlock(&lock);
    return yes;
}

static struct tracer *new_tracer(PyTypeObject *type)
{
    struct tracer *tracer = PyObject_GC_New(struct tracer, type);

    if (!tracer)
        return NULL;
    tracer->call = on_switch;
    tracer->previous = NULL;
    tracer->functions = NULL;
    PyObject_GC_Track(tracer);
    return tracer;
}

/* The calling thread's tracer, borrowed from its dict; created if there is none. */
static struct tracer *own_tracer(PyTypeObject *type, bool make)
{
    PyObject *dict = PyThreadState_GetDict(); /* borrowed */
    PyObject *found = dict ? PyDict_GetItemString(dict, TRACER_KEY) : NULL;

    if (found && Py_IS_TYPE(found, type))
        return (struct tracer *)found;
    struct tracer *tracer = dict && make ? new_tracer(type) : NULL;
    if (!tracer)
        return NULL;
    int rc = PyDict_SetItemString(dict, TRACER_KEY, (PyObject *)tracer);
    Py_DECREF(tracer);
    return rc < 0 ? NULL : tracer;
}

/* Make it the thread's tracer, and let it call the one before. */
static void set_tracer(struct tracer *tracer)
{
    PyObject *before = PyObject_CallOneArg(greenlet.settrace, (PyObject *)tracer);

    if (before == Py_None || before == (PyObject *)tracer)
        Py_CLEAR(before);
    Py_XSETREF(tracer->previous, before);
}

void cunei_greenlet_attach(void)
{
    PyTypeObject *type =
        tracer_type; /* read once: another thread may end the recording */

    if (!type || !is_there()) {
        PyErr_Clear();
        return;
    }
    struct tracer *tracer = own_tracer(type, true);
    /* greenlet, or a later tracer, may still hold a reference, and calls it. */
    if (tracer && Py_REFCNT((PyObject *)tracer) == 1)
        set_tracer(tracer);
    PyErr_Clear();
}

void cunei_greenlet_begin(PyTypeObject *type)
{
    tracer_type = type;
    cunei_numbers_clear(&numbers);
}

void cunei_greenlet_imported(void)
{
    cunei_greenlet_attach();
    if (is_there())
        cunei_recorder_poke();
    PyErr_Clear();
}

void cunei_greenlet_detach(void)
{
    PyTypeObject *type = tracer_type;
    struct tracer *tracer = type && is_there() ? own_tracer(type, false) : NULL;
    PyObject *current = tracer ? PyObject_CallNoArgs(greenlet.gettrace) : NULL;

    if (current && current == (PyObject *)tracer) {
        PyObject *previous = tracer->previous ? tracer->previous : Py_None;
        PyObject *before = PyObject_CallOneArg(greenlet.settrace, previous);
        Py_XDECREF(before);
        Py_CLEAR(tracer->previous);
    }
    Py_XDECREF(current);
    tracer_type = NULL;
    cunei_numbers_clear(&numbers);
    PyErr_Clear();
}
