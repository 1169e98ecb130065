// SPDX-License-Identifier: MIT
/*
 * The arguments of a call are events behind its begin, a result is one before its end:
 * here they become parts of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/encode.h"
#include "wire/user_event.h"

int cunei_call_arguments_flush(struct cunei_encoding *encoding)
{
    struct cunei_call_arguments *pending = &encoding->pending;

    pending->has_result = false;
    pending->number_count = 0;
    if (!pending->is_open)
        return 0;
    pending->is_open = false;
    pending->call.arguments = pending->values;
    return encoding->encoder->begin(encoding, &pending->call);
}

static struct cunei_value value_of(const struct cunei_argument *argument)
{
    const char *text = argument->text;
    size_t name_size = argument->name_length < argument->length ? argument->name_length
                                                                : argument->length;
    size_t begin = name_size > 0 && name_size < argument->length ? name_size + 1 : 0;
    size_t size = argument->length - begin;

    /* Padded to whole words. */
    while (size > 0 && text[begin + size - 1] == '\0')
        size--;
    return (struct cunei_value){text, name_size, text + begin, size};
}

static int add_argument(struct cunei_call_arguments *pending, struct cunei_value value)
{
    size_t count = pending->call.argument_count;

    if (count == pending->capacity) {
        size_t capacity = count > 0 ? 2 * count : 8;
        struct cunei_value *grown = realloc(pending->values, capacity * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        pending->values = grown;
        pending->capacity = capacity;
    }
    pending->values[count] = value;
    pending->call.argument_count++;
    return 0;
}

/* A parameter right behind the begin of what it is of is told with that; false: it is
 * not, or there is no room for it. */
static bool take_parameter(struct cunei_call_arguments *pending,
                           const struct cunei_user_value *event, int *rc)
{
    struct cunei_user_event_text name = cunei_user_event_name(event);
    struct cunei_user_event_text text = cunei_user_event_text(event);
    struct cunei_buffer number = {0};

    if (!pending->is_open || pending->call.function != event->target)
        return false;
    if (event->kind == CUNEI_VALUE_INT || event->kind == CUNEI_VALUE_DOUBLE) {
        if (pending->number_count == CUNEI_PENDING_NUMBERS)
            return false;
        char *place = pending->numbers[pending->number_count++];
        cunei_user_event_format(event, false, &number);
        size_t size = number.size < CUNEI_PENDING_NUMBER_SIZE
                          ? number.size
                          : CUNEI_PENDING_NUMBER_SIZE;
        if (size > 0)
            memcpy(place, number.data, size);
        text = (struct cunei_user_event_text){place, size};
        cunei_buffer_fini(&number);
    }
    *rc = add_argument(
        pending, (struct cunei_value){name.data, name.size, text.data, text.size});
    return true;
}

static int tell_thread(void *context, const struct cunei_packet *packet, uint64_t time,
                       bool is_begin)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_call_arguments_flush(encoding);

    if (is_begin) {
        encoding->last = time;
        cunei_gc_pause_break(&encoding->pausing);
    }
    if (rc == 0 && is_begin)
        rc = cunei_late_parameters_flush(encoding);
    encoding->threads += is_begin;
    return rc == 0 ? encoding->encoder->thread(encoding, packet, time, is_begin) : rc;
}

static int tell_adopt(void *context, uint32_t function)
{
    struct cunei_encoding *encoding = context;
    return encoding->encoder->adopt ? encoding->encoder->adopt(encoding, function) : 0;
}

static int tell_open(void *context, uint32_t function, uint64_t time,
                     enum cunei_span_event_begin how)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_call_arguments_flush(encoding);

    encoding->last = time;
    cunei_gc_pause_pass(&encoding->pausing, 1);
    if (encoding->late.count > 0)
        cunei_late_parameters_open(&encoding->late, function);
    encoding->calls += how == CUNEI_BEGIN_CALL &&
                       !cunei_id_kinds_is_region(&encoding->kinds, function);
    encoding->pending.is_open = true;
    encoding->pending.call =
        (struct cunei_call_begin){.function = function, .how = how, .time = time};
    return rc;
}

static int tell_close(void *context, uint32_t function, uint64_t time,
                      enum cunei_span_event_end how)
{
    struct cunei_encoding *encoding = context;
    struct cunei_call_arguments *pending = &encoding->pending;
    struct cunei_call_end call = {.function = function,
                                  .how = how,
                                  .time = time,
                                  .result =
                                      pending->has_result ? &pending->result : NULL};
    int rc = cunei_call_arguments_flush(encoding);

    encoding->last = time;
    cunei_gc_pause_pass(&encoding->pausing, -1);
    if (encoding->late.count > 0) {
        call.late = encoding->late.ended;
        call.late_count = cunei_late_parameters_close(&encoding->late, function);
    }
    if (rc == 0)
        rc = encoding->encoder->end(encoding, &call);
    cunei_late_parameters_free(&encoding->late, call.late_count);
    return rc;
}

static int tell_step(void *context, uint64_t task, uint64_t time, bool is_begin)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_call_arguments_flush(encoding);

    if (rc != 0 || !encoding->encoder->step)
        return rc;
    return encoding->encoder->step(encoding, task, time, is_begin);
}

static int tell_event(void *context, const uint64_t *event, uint64_t time)
{
    struct cunei_encoding *encoding = context;
    struct cunei_call_arguments *pending = &encoding->pending;

    encoding->last = time;
    /* It is about a function, and may stand between a call and its arguments. */
    if (cunei_record_class(event[0]) == CUNEI_CLASS_TAG)
        return encoding->encoder->tag
                   ? encoding->encoder->tag(encoding, (const void *)event,
                                            pending->is_open ? pending->call.time
                                                             : time)
                   : 0;
    if (cunei_record_class(event[0]) == CUNEI_CLASS_ARGUMENT) {
        struct cunei_value value = value_of((const void *)event);
        if (cunei_record_phase(event[0]) & 1) {
            pending->has_result = true;
            pending->result = value;
            return 0;
        }
        if (pending->is_open)
            return add_argument(pending, value);
    }
    int rc = 0;
    if (cunei_record_class(event[0]) == CUNEI_CLASS_PARAMETER &&
        take_parameter(pending, (const void *)event, &rc))
        return rc;
    rc = cunei_call_arguments_flush(encoding);
    if (rc == 0 && encoding->encoder->has_late &&
        cunei_record_class(event[0]) == CUNEI_CLASS_PARAMETER)
        return cunei_late_parameters_take(encoding, (const void *)event, time);
    if (rc == 0 && encoding->encoder->pause &&
        cunei_record_class(event[0]) == CUNEI_CLASS_GC)
        return cunei_gc_pause_take(encoding, (const void *)event, time);
    if (rc != 0 || !encoding->encoder->event)
        return rc;
    return encoding->encoder->event(encoding, event, time);
}

static int tell_orphan(void *context, uint32_t function, uint64_t time)
{
    struct cunei_encoding *encoding = context;
    int rc = cunei_call_arguments_flush(encoding);

    if (rc != 0 || !encoding->encoder->orphan)
        return rc;
    return encoding->encoder->orphan(encoding, function, time);
}

static int tell_lost(void *context, uint64_t time, uint64_t count)
{
    struct cunei_encoding *encoding = context;
    const struct cunei_loss gap = {
        .begin = encoding->last, .end = time, .count = count};
    int rc = cunei_call_arguments_flush(encoding);

    encoding->last = time;
    encoding->lost += count;
    cunei_gc_pause_break(&encoding->pausing);
    if (rc != 0 || !encoding->encoder->lost)
        return rc;
    return encoding->encoder->lost(encoding, &gap);
}

const struct cunei_spans_methods cunei_call_arguments_methods = {
    .thread = tell_thread,
    .adopt = tell_adopt,
    .open = tell_open,
    .close = tell_close,
    .step = tell_step,
    .event = tell_event,
    .orphan = tell_orphan,
    .lost = tell_lost,
};
