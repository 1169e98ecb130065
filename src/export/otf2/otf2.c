// SPDX-License-Identifier: MIT
/*
 * An archive of OTF2, for Vampir, Scalasca and otf2-print.
 *
 * Names are those of Score-P's Python bindings: regions "module:qualname", arguments
 * the parameters "argname:NAME", a call whose start is missing an
 * "error_region" with the parameter "leave-region".  Counters are metrics, and other
 * events of the program parameters, "mark:NAME" and so on.  libotf2 writes one
 * location after the other, so that this format uses one core.
 */
#include <math.h>
#include <string.h>

#include "export/encoder.h"
#include "export/export.h"
#include "export/otf2/archive.h"
#include "export/selection.h"
#include "export/stream_encoding.h"
#include "export/writers.h"
#include "text/typed_value.h"
#include "wire/user_event.h"

/* The archive, and how calls nest around a pause for garbage collection. */
struct writing {
    struct cunei_otf2 archive;
    uint64_t depth;
    uint64_t gc_depth;  /* of the pause that is open … */
    bool is_collecting; /* … if one is */
    bool has_collected; /* it is over, but calls in it have not ended */
};

static void put_text(struct cunei_otf2 *archive, OTF2_ParameterRef ref,
                     const char *text, size_t size)
{
    cunei_otf2_note(archive, archive->otf2->EvtWriter_ParameterString(
                                 archive->writer, NULL, archive->last, ref,
                                 cunei_otf2_string(archive, text, size)));
    cunei_otf2_count(archive);
}

static OTF2_ParameterRef text_parameter(struct cunei_otf2 *archive, const char *name)
{
    return cunei_otf2_parameter(archive, name, "", 0, OTF2_PARAMETER_TYPE_STRING);
}

static void put_enter(struct cunei_otf2 *archive, OTF2_RegionRef region,
                      const char *how)
{
    /* Writing an event clears the list. */
    if (how)
        cunei_otf2_note(archive, archive->otf2->AttributeList_AddStringRef(
                                     archive->attributes, CUNEI_OTF2_ATTRIBUTE_BEGIN,
                                     cunei_otf2_word(archive, how)));
    cunei_otf2_note(archive, archive->otf2->EvtWriter_Enter(
                                 archive->writer, how ? archive->attributes : NULL,
                                 archive->last, region));
    cunei_otf2_count(archive);
}

static void put_leave(struct cunei_otf2 *archive, OTF2_RegionRef region,
                      const char *how)
{
    if (how)
        cunei_otf2_note(archive, archive->otf2->AttributeList_AddStringRef(
                                     archive->attributes, CUNEI_OTF2_ATTRIBUTE_END,
                                     cunei_otf2_word(archive, how)));
    cunei_otf2_note(archive, archive->otf2->EvtWriter_Leave(
                                 archive->writer, how ? archive->attributes : NULL,
                                 archive->last, region));
    cunei_otf2_count(archive);
}

/* A call around a pause cannot end before the pause does. */
static void end_pause(struct writing *writing)
{
    if (writing->is_collecting)
        put_leave(&writing->archive, CUNEI_OTF2_REGION_GC, NULL);
    writing->is_collecting = writing->has_collected = false;
}

static void put_pause(struct writing *writing, bool is_begin)
{
    if (is_begin) {
        end_pause(writing);
        put_enter(&writing->archive, CUNEI_OTF2_REGION_GC, NULL);
        writing->is_collecting = true;
        writing->gc_depth = writing->depth;
    } else if (writing->is_collecting && writing->depth == writing->gc_depth) {
        end_pause(writing);
    } else {
        writing->has_collected = writing->is_collecting;
    }
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct writing *writing = encoding->shared;

    (void)is_begin;
    end_pause(writing);
    writing->depth = 0;
    int rc = cunei_otf2_location(&writing->archive, packet);
    if (rc == 0)
        (void)cunei_otf2_stamp(&writing->archive, time);
    return rc;
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    static const char *const notes[] = {
        [CUNEI_BEGIN_RESUME] = "resume",
        [CUNEI_BEGIN_SWITCH] = "switch",
        [CUNEI_BEGIN_FOUND] = "missing",
    };
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;

    (void)cunei_otf2_stamp(archive, call->time);
    put_enter(archive, cunei_otf2_region(archive, call->function), notes[call->how]);
    writing->depth++;
    for (size_t i = 0; i < call->argument_count; i++) {
        const struct cunei_value *value = &call->arguments[i];
        put_text(archive,
                 cunei_otf2_parameter(archive, "argname:", value->name,
                                      value->name_size, OTF2_PARAMETER_TYPE_STRING),
                 value->text, value->size);
    }
    return cunei_otf2_result(archive);
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    static const char *const notes[] = {
        [CUNEI_END_YIELD] = "yield",   [CUNEI_END_RAISE] = "raise",
        [CUNEI_END_SWITCH] = "switch", [CUNEI_END_UNSEEN] = "missing",
        [CUNEI_END_OPEN] = "open",
    };
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;

    (void)cunei_otf2_stamp(archive, call->time);
    if (writing->depth == writing->gc_depth)
        end_pause(writing);
    if (call->result)
        put_text(archive, text_parameter(archive, "return"), call->result->text,
                 call->result->size);
    put_leave(archive, cunei_otf2_region(archive, call->function), notes[call->how]);
    writing->depth--;
    if (writing->has_collected && writing->depth == writing->gc_depth)
        end_pause(writing);
    return cunei_otf2_result(archive);
}

static int put_orphan(struct cunei_encoding *encoding, uint32_t function, uint64_t time)
{
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, function);
    struct cunei_buffer name = {0};

    cunei_buffer_format(&name, "%s:%s", names ? names->module : "?",
                        names ? names->qualname : "?");
    (void)cunei_otf2_stamp(archive, time);
    put_enter(archive, CUNEI_OTF2_REGION_ERROR, NULL);
    put_text(archive, text_parameter(archive, "leave-region"), cunei_buffer_text(&name),
             name.size);
    put_leave(archive, CUNEI_OTF2_REGION_ERROR, NULL);
    cunei_buffer_fini(&name);
    return cunei_otf2_result(archive);
}

static void put_number(struct cunei_otf2 *archive, const char *prefix, const char *name,
                       uint64_t number)
{
    cunei_otf2_note(archive,
                    archive->otf2->EvtWriter_ParameterUnsignedInt(
                        archive->writer, NULL, archive->last,
                        cunei_otf2_parameter(archive, prefix, name, strlen(name),
                                             OTF2_PARAMETER_TYPE_UINT64),
                        number));
    cunei_otf2_count(archive);
}

static int put_step(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                    bool is_begin)
{
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;

    if (!is_begin)
        return 0;
    (void)cunei_otf2_stamp(archive, time);
    put_number(archive, "task", "", task);
    return cunei_otf2_result(archive);
}

static int put_thread_name(struct cunei_encoding *encoding, const char *name,
                           size_t size, uint64_t time)
{
    struct writing *writing = encoding->shared;

    (void)cunei_otf2_stamp(&writing->archive, time);
    cunei_otf2_location_name(&writing->archive, name, size);
    return cunei_otf2_result(&writing->archive);
}

static int put_task_name(struct cunei_encoding *encoding, uint64_t task,
                         const char *name, size_t size, uint64_t time)
{
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;

    (void)task; /* its step precedes the name */
    (void)cunei_otf2_stamp(archive, time);
    put_text(archive, text_parameter(archive, "task name"), name, size);
    return cunei_otf2_result(archive);
}

/* Values of all kinds are texts. */
static void put_detail(struct cunei_otf2 *archive, OTF2_ParameterRef ref,
                       const struct cunei_detail *detail)
{
    struct cunei_buffer text = {0};

    if (detail->kind == CUNEI_DETAIL_TEXT) {
        put_text(archive, ref, detail->text, detail->size);
        return;
    }
    cunei_typed_value_format_number(detail->bits, detail->kind == CUNEI_DETAIL_DOUBLE,
                                    false, &text);
    put_text(archive, ref, cunei_buffer_text(&text), text.size);
    cunei_buffer_fini(&text);
}

static int put_instant(struct cunei_encoding *encoding,
                       const struct cunei_instant *instant, uint64_t time)
{
    static const struct cunei_detail none = {.kind = CUNEI_DETAIL_TEXT, .text = ""};
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;
    char prefix[32];

    (void)cunei_otf2_stamp(archive, time);
    (void)snprintf(
        prefix, sizeof(prefix),
        "%s:", instant->class == CUNEI_CLASS_PARAMETER ? "argname" : instant->category);
    if (instant->class == CUNEI_CLASS_EXCEPTION)
        put_text(archive, text_parameter(archive, "exception"), instant->name,
                 instant->name_size);
    else if (instant->class != CUNEI_CLASS_TOKEN)
        put_detail(archive,
                   cunei_otf2_parameter(archive, prefix, instant->name,
                                        instant->name_size, OTF2_PARAMETER_TYPE_STRING),
                   instant->detail_count > 0 ? &instant->details[0] : &none);
    else if (strcmp(instant->details[1].name, "end") != 0)
        put_number(archive, prefix, instant->name, instant->details[1].bits);
    return cunei_otf2_result(archive);
}

static int put_counter(struct cunei_encoding *encoding,
                       const struct cunei_counter *counter, uint64_t time)
{
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, counter->counter);
    double total = cunei_user_event_number(counter->total,
                                           counter->kind & CUNEI_COUNTER_TOTAL_DOUBLE);

    (void)cunei_otf2_stamp(archive, time);
    if (!isfinite(total))
        return 0;
    cunei_otf2_note(archive,
                    archive->otf2->EvtWriter_Metric(
                        archive->writer, NULL, archive->last,
                        cunei_otf2_metric(archive, names ? names->qualname : "?"), 1,
                        (const OTF2_Type[]){OTF2_TYPE_DOUBLE},
                        (const OTF2_MetricValue[]){{.floating_point = total}}));
    cunei_otf2_count(archive);
    return cunei_otf2_result(archive);
}

static int put_event(struct cunei_encoding *encoding, const uint64_t *event,
                     uint64_t time)
{
    struct writing *writing = encoding->shared;

    (void)cunei_otf2_stamp(&writing->archive, time);
    if (cunei_record_class(event[0]) == CUNEI_CLASS_GC)
        put_pause(writing, cunei_record_phase(event[0]) == CUNEI_PHASE_ENTER);
    return cunei_otf2_result(&writing->archive);
}

static void put_measurement(struct cunei_otf2 *archive, OTF2_MeasurementMode mode)
{
    cunei_otf2_note(archive, archive->otf2->EvtWriter_MeasurementOnOff(
                                 archive->writer, NULL, archive->last, mode));
    cunei_otf2_count(archive);
}

/* Nothing was measured since the last known event. */
static int put_lost(struct cunei_encoding *encoding, const struct cunei_loss *loss)
{
    struct writing *writing = encoding->shared;
    struct cunei_otf2 *archive = &writing->archive;

    put_measurement(archive, OTF2_MEASUREMENT_OFF);
    (void)cunei_otf2_stamp(archive, loss->end);
    put_measurement(archive, OTF2_MEASUREMENT_ON);
    return cunei_otf2_result(archive);
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
    .step = put_step,
    .thread_name = put_thread_name,
    .task_name = put_task_name,
    .counter = put_counter,
    .instant = put_instant,
    .event = put_event,
    .orphan = put_orphan,
    .lost = put_lost,
};

static int write_process(struct writing *writing, size_t index)
{
    struct cunei_export *export = writing->archive.export;
    const struct cunei_trace_process *process = &export->trace->processes[index];
    struct cunei_encoding encoding = {
        .export = export,
        .encoder = &encoder,
        .process = process,
        .kinds = cunei_trace_kinds(process),
        .shared = writing,
    };
    int rc = 0;

    cunei_otf2_process(&writing->archive, index);
    for (size_t i = 0; rc == 0 && i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            rc = cunei_stream_encoding_whole(export, index, &process->streams[i],
                                             &encoding);
    }
    if (rc == 0)
        end_pause(writing);
    cunei_otf2_location_end(&writing->archive);
    cunei_stream_encoding_count(export, &encoding);
    cunei_encoding_fini(&encoding);
    return rc;
}

int cunei_export_otf2(struct cunei_export *export)
{
    struct writing writing = {.archive = {.export = export}};
    int rc = cunei_otf2_open(&writing.archive);

    for (size_t i = 0; rc == 0 && i < export->trace->process_count; i++) {
        if (export->selections[i].is_wanted)
            rc = write_process(&writing, i);
    }
    return cunei_otf2_close(&writing.archive, rc);
}
