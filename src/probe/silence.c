// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/silence.h"

#include "probe/wayout.h"

static struct {
    struct cunei_source source;
    struct cunei_source *waiter;
} own;

static int take(struct cunei_source *source, bool selective)
{
    (void)selective;
    source->is_taken = true;
    return 0;
}

static void let_waiter_go(void)
{
    if (own.waiter->is_taken)
        own.waiter->methods->pause(own.waiter);
    own.waiter->methods->release(own.waiter);
}

static int await_main(struct cunei_source *source)
{
    own.waiter->c_calls = own.waiter->lines = own.waiter->ends = false;
    int rc = own.waiter->methods->take(own.waiter, false);
    if (rc == 0)
        rc = own.waiter->methods->await_main(own.waiter);
    source->refusal = own.waiter->refusal;
    return rc;
}

static int prepare(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    return 0;
}

static int record(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    let_waiter_go();
    cunei_wayout_watch();
    return 0;
}

static void pause_events(struct cunei_source *source)
{
    (void)source;
    cunei_wayout_unwatch();
}

static void release(struct cunei_source *source)
{
    own.waiter->ends = source->ends;
    let_waiter_go();
    pause_events(source);
    source->is_taken = false;
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
    .release = release,
    .count_others = count_others,
};

struct cunei_source *cunei_silence_open(struct cunei_source *waiter)
{
    own.source.methods = &methods;
    own.source.is_silent = true;
    own.waiter = waiter;
    return &own.source;
}
