// SPDX-License-Identifier: MIT
#include "export/encoder.h"

#include <stdlib.h>
#include <string.h>

void cunei_encoding_fini(struct cunei_encoding *encoding)
{
    if (encoding->state && encoding->encoder->release)
        encoding->encoder->release(encoding);
    free(encoding->state);
    encoding->state = NULL;
    free(encoding->named.items);
    cunei_late_parameters_fini(&encoding->late);
    cunei_call_arguments_fini(&encoding->arguments);
    cunei_buffer_fini(&encoding->out);
}

int cunei_encoding_flush(struct cunei_encoding *encoding)
{
    encoding->has_result = false;
    if (!encoding->has_call)
        return 0;
    encoding->has_call = false;
    encoding->call.arguments = encoding->arguments.items;
    encoding->call.argument_count = encoding->arguments.count;
    return encoding->encoder->begin(encoding, &encoding->call);
}

static int put_other(struct cunei_encoding *encoding, const uint64_t *event,
                     uint64_t time)
{
    const struct cunei_encoder *encoder = encoding->encoder;

    return encoder->event ? encoder->event(encoding, event, time) : 0;
}

static int put_thread_name(struct cunei_encoding *encoding, const uint64_t *event,
                           uint64_t time)
{
    const struct cunei_thread_name *name = (const void *)event;

    return encoding->encoder->thread_name(encoding, name->name,
                                          strnlen(name->name, name->length), time);
}

static int put_task_name(struct cunei_encoding *encoding, const uint64_t *event,
                         uint64_t time)
{
    const struct cunei_task *task = (const void *)event;
    const char *name = task->name;
    size_t size = strnlen(task->name, task->length);

    if (task->length == 0) {
        int rc = cunei_task_names_find_once(encoding->export, encoding->process,
                                            task->task, &encoding->named, &name);
        if (rc < 0)
            return rc;
        size = name ? strlen(name) : 0;
    }
    return name ? encoding->encoder->task_name(encoding, task->task, name, size, time)
                : put_other(encoding, event, time);
}

static int put_event(struct cunei_encoding *encoding, const uint64_t *event,
                     uint64_t time)
{
    const struct cunei_encoder *encoder = encoding->encoder;
    uint32_t class = cunei_record_class(event[0]);
    struct cunei_instant instant;

    if (encoder->counter && class == CUNEI_CLASS_COUNTER)
        return encoder->counter(encoding, (const void *)event, time);
    if (encoder->thread_name && class == CUNEI_CLASS_THREAD_NAME)
        return put_thread_name(encoding, event, time);
    if (encoder->task_name && class == CUNEI_CLASS_TASK)
        return put_task_name(encoding, event, time);
    if (encoder->instant && cunei_instant_describe(encoding->process, event, &instant))
        return encoder->instant(encoding, &instant, time);
    return put_other(encoding, event, time);
}

static int put_late(struct cunei_encoding *encoding, struct cunei_late_parameter late)
{
    int rc = put_event(encoding, (const void *)late.value, late.time);

    free(late.value);
    return rc;
}

int cunei_encoding_flush_late(struct cunei_encoding *encoding)
{
    int rc = 0;

    while (rc == 0 && encoding->late.count > 0)
        rc = put_late(encoding, cunei_late_parameters_pop(&encoding->late));
    return rc;
}

int cunei_encoding_join(struct cunei_encoding *join, const struct cunei_encoding *piece)
{
    struct cunei_gc_pause pause;
    bool is_whole = cunei_gc_tracker_join(&join->gc, &piece->gc, &pause);

    if (piece->last > 0)
        join->last = piece->last;
    return is_whole ? join->encoder->pause(join, &pause) : 0;
}

static int take_thread(void *context, const struct cunei_packet *packet, uint64_t time,
                       bool is_begin)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_encoding_flush(encoding);

    if (is_begin) {
        encoding->last = time;
        cunei_gc_tracker_interrupt(&encoding->gc);
    }
    if (rc == 0 && is_begin)
        rc = cunei_encoding_flush_late(encoding);
    encoding->threads += is_begin;
    return rc == 0 ? encoding->encoder->thread(encoding, packet, time, is_begin) : rc;
}

static int take_adopted(void *context, uint32_t function)
{
    struct cunei_encoding *encoding = context;

    return encoding->encoder->adopt ? encoding->encoder->adopt(encoding, function) : 0;
}

static int take_begin(void *context, uint32_t function, uint64_t time,
                      enum cunei_span_begin how)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_encoding_flush(encoding);

    encoding->last = time;
    cunei_gc_tracker_nest(&encoding->gc, 1);
    if (encoding->late.count > 0)
        cunei_late_parameters_begin(&encoding->late, function);
    encoding->calls += how == CUNEI_BEGIN_CALL &&
                       !cunei_id_kinds_is_region(&encoding->kinds, function);
    encoding->has_call = true;
    encoding->call =
        (struct cunei_call_begin){.function = function, .how = how, .time = time};
    cunei_call_arguments_clear(&encoding->arguments);
    return rc;
}

static int take_end(void *context, uint32_t function, uint64_t time,
                    enum cunei_span_end how)
{
    struct cunei_encoding *encoding = context;
    struct cunei_call_end call = {
        .function = function,
        .how = how,
        .time = time,
        .result = encoding->has_result ? &encoding->result : NULL,
    };
    int rc = cunei_encoding_flush(encoding);

    encoding->last = time;
    cunei_gc_tracker_nest(&encoding->gc, -1);
    if (encoding->late.count > 0) {
        call.late_parameters = encoding->late.ended;
        call.late_count = cunei_late_parameters_end(&encoding->late, function);
    }
    if (rc == 0)
        rc = encoding->encoder->end(encoding, &call);
    cunei_late_parameters_free_ended(&encoding->late, call.late_count);
    return rc;
}

static int take_step(void *context, uint64_t task, uint64_t time, bool is_begin)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_encoding_flush(encoding);

    if (rc != 0 || !encoding->encoder->step)
        return rc;
    return encoding->encoder->step(encoding, task, time, is_begin);
}

static int take_argument(struct cunei_encoding *encoding, const uint64_t *event,
                         uint64_t time)
{
    struct cunei_value value = cunei_value_of_argument((const void *)event);

    if (cunei_record_phase(event[0]) & 1) {
        encoding->has_result = true;
        encoding->result = value;
        return 0;
    }
    if (encoding->has_call)
        return cunei_call_arguments_add(&encoding->arguments, value);
    int rc = cunei_encoding_flush(encoding);
    return rc == 0 ? put_event(encoding, event, time) : rc;
}

static int take_parameter(struct cunei_encoding *encoding, const uint64_t *event,
                          uint64_t time)
{
    const struct cunei_user_value *parameter = (const void *)event;
    struct cunei_late_parameter evicted = {0};
    int rc = 0;

    if (encoding->has_call && encoding->call.function == parameter->target &&
        cunei_call_arguments_add_parameter(&encoding->arguments, parameter, &rc))
        return rc;
    rc = cunei_encoding_flush(encoding);
    if (rc == 0 && !encoding->encoder->has_late_parameters)
        return put_event(encoding, event, time);
    if (rc == 0)
        rc = cunei_late_parameters_add(&encoding->late, parameter, time, &evicted);
    return rc == 0 && evicted.value ? put_late(encoding, evicted) : rc;
}

static int take_gc(struct cunei_encoding *encoding, const uint64_t *event,
                   uint64_t time)
{
    struct cunei_gc_pause pause;
    int rc = cunei_encoding_flush(encoding);

    if (rc != 0)
        return rc;
    if (!encoding->encoder->pause)
        return put_event(encoding, event, time);
    return cunei_gc_tracker_event(&encoding->gc, (const void *)event, time, &pause)
               ? encoding->encoder->pause(encoding, &pause)
               : 0;
}

static int take_event(void *context, const uint64_t *event, uint64_t time)
{
    struct cunei_encoding *encoding = context;

    encoding->last = time;
    switch (cunei_record_class(event[0])) {
    case CUNEI_CLASS_TAG:
        /* It may stand between a call and its arguments, and is written before them. */
        return put_event(encoding, event,
                         encoding->has_call ? encoding->call.time : time);
    case CUNEI_CLASS_ARGUMENT:
        return take_argument(encoding, event, time);
    case CUNEI_CLASS_PARAMETER:
        return take_parameter(encoding, event, time);
    case CUNEI_CLASS_GC:
        return take_gc(encoding, event, time);
    default:
        break;
    }
    int rc = cunei_encoding_flush(encoding);
    return rc == 0 ? put_event(encoding, event, time) : rc;
}

static int take_orphan(void *context, uint32_t function, uint64_t time)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_encoding_flush(encoding);

    if (rc != 0 || !encoding->encoder->orphan)
        return rc;
    return encoding->encoder->orphan(encoding, function, time);
}

static int take_loss(void *context, uint64_t time, uint64_t count)
{
    struct cunei_encoding *encoding = context;
    const struct cunei_loss loss = {
        .begin = encoding->last, .end = time, .count = count};
    int rc = cunei_encoding_flush(encoding);

    encoding->last = time;
    encoding->lost += count;
    cunei_gc_tracker_interrupt(&encoding->gc);
    if (rc == 0 && encoding->encoder->lost)
        rc = encoding->encoder->lost(encoding, &loss);
    else if (rc == 0 && encoding->encoder->instant) {
        const struct cunei_instant instant = cunei_instant_of_loss(&loss);
        rc = encoding->encoder->instant(encoding, &instant, time);
    }
    return rc;
}

const struct cunei_spans_methods cunei_encoding_methods = {
    .thread = take_thread,
    .adopt = take_adopted,
    .open = take_begin,
    .close = take_end,
    .step = take_step,
    .event = take_event,
    .orphan = take_orphan,
    .lost = take_loss,
};
