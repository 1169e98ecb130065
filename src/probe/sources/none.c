// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/none.h"

#include "probe/events/process_call_hooks.h"
#include "probe/user/decorated.h"
#include "python/refusal_reason.h"
#include "rt/recorder.h"

static struct {
    struct cunei_source source;
    struct cunei_source *default_source;
    bool is_recording;
    bool has_decorated; /* the default_source is taken, for decorated functions */
    int refusal;        /* why it could not be: of python/refusal_reason.h; or 0 */
} own;

static int take(struct cunei_source *source, const struct cunei_source_config *config)
{
    source->config = *config;
    source->is_taken = true;
    return 0;
}

static void release_default_source(void)
{
    if (own.default_source->is_taken)
        own.default_source->methods->pause(own.default_source);
    own.default_source->methods->release(own.default_source);
    own.has_decorated = false;
}

static int await_main(struct cunei_source *source)
{
    const struct cunei_source_config nothing = {0};
    int rc = own.default_source->methods->take(own.default_source, &nothing);

    if (rc == 0)
        rc = own.default_source->methods->await_main(own.default_source);
    source->refusal = own.default_source->refusal;
    return rc;
}

static struct cunei_source_config config_for_decorated(void)
{
    return (struct cunei_source_config){
        .is_selective = true,
        .only_decorated = own.default_source->methods->select != NULL,
    };
}

static int prepare(struct cunei_source *source,
                   const struct cunei_source_config *config)
{
    const struct cunei_source_config decorated = config_for_decorated();

    source->config = *config;
    return own.has_decorated
               ? own.default_source->methods->prepare(own.default_source, &decorated)
               : 0;
}

static void select_decorated(PyCodeObject *code)
{
    if (own.default_source->methods->select)
        own.default_source->methods->select(own.default_source, code);
}

static void forget_decorated(PyCodeObject *code)
{
    if (own.default_source->methods->forget)
        own.default_source->methods->forget(own.default_source, code);
}

/* The first decorated function appears.  If other tools leave no place for a hook, it
 * is not recorded, which is reported at the end; the rest of the recording is complete.
 */
static int begin_decorated(void)
{
    const struct cunei_source_config decorated = config_for_decorated();
    struct cunei_source *default_source = own.default_source;

    own.refusal = 0;
    own.has_decorated = true;
    if (default_source->methods->take(default_source, &decorated) == 0 &&
        default_source->methods->prepare(default_source, &decorated) == 0 &&
        default_source->methods->record(default_source) == 0)
        return 0;
    PyErr_Clear();
    own.refusal =
        default_source->refusal ? default_source->refusal : CUNEI_REFUSAL_FORBIDDEN;
    release_default_source();
    return -1;
}

static void record_decorated(void)
{
    if (!own.has_decorated && begin_decorated() < 0)
        return;
    cunei_decorated_enable(true);
    (void)cunei_decorated_visit(select_decorated);
}

static int record(struct cunei_source *source)
{
    (void)source;
    own.is_recording = true;
    if (!own.has_decorated)
        release_default_source();
    cunei_process_call_hooks_watch();
    int rc =
        own.has_decorated ? own.default_source->methods->record(own.default_source) : 0;
    if (rc == 0 && cunei_decorated_visit(NULL))
        record_decorated();
    return rc;
}

static void add_decorated(struct cunei_source *source, PyCodeObject *code)
{
    (void)source;
    /* In a pause there are none: all are added when recording resumes. */
    if (own.is_recording && own.has_decorated)
        select_decorated(code);
    else if (own.is_recording)
        record_decorated(); /* and of those for which there was no place before */
}

static void pause_events(struct cunei_source *source)
{
    (void)source;
    own.is_recording = false;
    if (own.has_decorated)
        own.default_source->methods->pause(own.default_source);
    cunei_process_call_hooks_unwatch();
}

static void pause_all(struct cunei_source *source)
{
    pause_events(source);
    if (own.has_decorated && own.default_source->methods->pause_all)
        own.default_source->methods->pause_all(own.default_source);
}

static void release(struct cunei_source *source)
{
    pause_events(source);
    if (own.has_decorated)
        (void)cunei_decorated_visit(forget_decorated);
    release_default_source();
    own.refusal = 0;
    source->is_taken = false;
}

static void process_exits(struct cunei_source *source)
{
    (void)source;
    if (own.default_source->methods->process_exits)
        own.default_source->methods->process_exits(own.default_source);
}

static void record_losses(struct cunei_source *source)
{
    (void)source;
    cunei_recorder_set_decorated_refusal(own.refusal);
}

static int count_others(struct cunei_source *source)
{
    (void)source;
    return 0;
}

static const struct cunei_source_methods methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .pause_all = pause_all,
    .add_decorated = add_decorated,
    .release = release,
    .count_others = count_others,
    .process_exits = process_exits,
    .record_losses = record_losses,
};

static struct cunei_source *open_source(PyObject *module,
                                        const struct cunei_source_setup *setup)
{
    (void)module;
    own.default_source = setup->default_source;
    return &own.source;
}

const struct cunei_source_kind cunei_source_none = {
    .instrumenter = CUNEI_INSTRUMENTER_NONE,
    .only_decorated = true,
    .methods = &methods,
    .open = open_source,
};
