// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/evaluator_slot.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "probe/core/frame.h"
#include "python/refusal_reason.h"
#include "rt/recorder.h"

/* Above which there can be none, by the library that they are in. */
struct known {
    const char *library;
    int refusal;
    bool hands_on; /* to one that was there before it */
};

static const struct known known[] = {
    {"pydevd_frame_evaluator", CUNEI_REFUSAL_PYDEVD, false},
    /* From torch 2.1 on; older ones leave CPython's own behind when they go. */
    {"libtorch_python", CUNEI_REFUSAL_TORCH, PY_VERSION_HEX >= 0x03090000},
};

static const struct known *find_known(cunei_compat_311_evaluator evaluator)
{
    Dl_info found;
    const char *name;

    if (dladdr((const void *)(uintptr_t)evaluator, &found) == 0 || !found.dli_fname)
        return NULL;
    name = strrchr(found.dli_fname, '/');
    name = name ? name + 1 : found.dli_fname;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strstr(name, known[i].library))
            return &known[i];
    }
    return NULL;
}

static struct cunei_evaluator_slot *slot_of(struct cunei_source *source)
{
    return (struct cunei_evaluator_slot *)source;
}

static bool is_ours(const struct cunei_evaluator_slot *slot,
                    cunei_compat_311_evaluator evaluator)
{
    for (size_t i = 0; i < CUNEI_EVALUATOR_SLOT_OURS; i++) {
        if (slot->ours[i] == evaluator)
            return true;
    }
    return false;
}

/* -1 with an exception set; nothing where it is 0. */
static int refuse(struct cunei_source *source, int reason)
{
    source->refusal = reason;
    if (reason == 0)
        return 0;
    PyErr_SetString(PyExc_RuntimeError, cunei_refusal_reason_text(reason));
    return -1;
}

/* An evaluator that was installed above ours still calls ours: do not install it twice.
 */
int cunei_evaluator_slot_install(struct cunei_evaluator_slot *slot,
                                 cunei_compat_311_evaluator evaluator)
{
    cunei_compat_311_evaluator now = cunei_compat_311_get_evaluator();
    bool is_below =
        slot->installed && !is_ours(slot, now) && now != _PyEval_EvalFrameDefault;

    if (is_below && evaluator == slot->installed)
        return 0;
    if (is_below)
        return refuse(&slot->source, CUNEI_REFUSAL_ABOVE);
    if (!is_ours(slot, now))
        slot->before = now;
    cunei_compat_311_set_evaluator(evaluator);
    slot->installed = evaluator;
    return 0;
}

void cunei_evaluator_slot_leave(struct cunei_evaluator_slot *slot)
{
    if (!is_ours(slot, cunei_compat_311_get_evaluator()))
        return;
    cunei_compat_311_set_evaluator(slot->before);
    slot->installed = NULL;
}

int cunei_evaluator_slot_prepare(struct cunei_source *source,
                                 const struct cunei_source_config *config)
{
    const struct known *other = find_known(cunei_compat_311_get_evaluator());

    source->config = *config;
    return refuse(source, other ? other->refusal : 0);
}

int cunei_evaluator_slot_take(struct cunei_source *source,
                              const struct cunei_source_config *config)
{
    if (cunei_evaluator_slot_prepare(source, config) < 0)
        return -1;
    source->is_taken = true;
    return 0;
}

void cunei_evaluator_slot_release(struct cunei_source *source)
{
    if (source->is_taken)
        source->methods->pause(source);
    source->is_taken = false;
}

int cunei_evaluator_slot_count_others(struct cunei_source *source)
{
    cunei_compat_311_evaluator now = cunei_compat_311_get_evaluator();

    return !is_ours(slot_of(source), now) && now != _PyEval_EvalFrameDefault;
}

/*
 * Another evaluator that does not call ours has been installed, or has been removed and
 * left the interpreter's own in its place: since then no thread was recorded.
 */
void cunei_evaluator_slot_record_losses(struct cunei_source *source)
{
    cunei_compat_311_evaluator now = cunei_compat_311_get_evaluator();
    const struct known *other = find_known(now);
    const PyThreadState *own = PyThreadState_Get();
    uint64_t count = 0;

    if (is_ours(slot_of(source), now) ||
        (now != _PyEval_EvalFrameDefault && (!other || other->hands_on)))
        return;
    for (PyThreadState *thread =
             PyInterpreterState_ThreadHead(PyInterpreterState_Main());
         thread; thread = PyThreadState_Next(thread))
        count += thread == own || cunei_frame_running(thread);
    cunei_recorder_count_lost_threads(count);
}
