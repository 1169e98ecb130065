// SPDX-License-Identifier: MIT
/*
 * An archive of OTF2, for Vampir, Scalasca and otf2-print.
 *
 * Names are those of Score-P's Python bindings: regions "module:qualname", arguments
 * the parameters "argname:NAME", what is left without having been entered an
 * "error_region" with the parameter "leave-region".  libotf2 writes one location after
 * the other, so that this format uses one core.
 */
#include <errno.h>
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/otf2names.h"
#include "export/selection.h"
#include "export/tell.h"
#include "view/format.h"

#define CHUNK_EVENTS (UINT64_C(1) << 20)
#define CHUNK_DEFS   (UINT64_C(4) << 20)
#define NS_PER_S     UINT64_C(1000000000)

/* Regions that are no functions. */
enum {
    REGION_ERROR,
    REGION_GC,
};

struct location {
    OTF2_LocationRef id;
    OTF2_LocationGroupRef group;
    OTF2_StringRef name;
    uint64_t events;
    uint64_t last; /* timestamp */
};

struct archive {
    struct cunei_export *export;
    OTF2_Archive *handle;
    OTF2_AttributeList *attributes;
    OTF2_GlobalDefWriter *definitions;
    struct cunei_otf2_names strings, parameters;
    struct cunei_buffer text;   /* of what is being defined */
    struct location *locations; /* owned */
    size_t location_count;
    OTF2_EvtWriter *writer; /* of the last of them */
    uint64_t last;          /* its last timestamp */
    const struct cunei_trace_process *process;
    const struct cunei_wall *wall;
    OTF2_LocationGroupRef group; /* of the process */
    OTF2_RegionRef first_region; /* of its functions … */
    OTF2_RegionRef region_count; /* … and of all so far */
    OTF2_ErrorCode error;
};

static OTF2_FlushType before_flush(void *data, OTF2_FileType type,
                                   OTF2_LocationRef location, void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = before_flush};

/* The first thing that goes wrong is what is told. */
static void note(struct archive *archive, OTF2_ErrorCode error)
{
    if (archive->error == OTF2_SUCCESS)
        archive->error = error;
}

static int result(const struct archive *archive)
{
    switch (archive->error) {
    case OTF2_SUCCESS:
        return 0;
    case OTF2_ERROR_MEM_FAULT:
    case OTF2_ERROR_MEM_ALLOC_FAILED:
        return -ENOMEM;
    case OTF2_ERROR_ENOSPC:
        return -ENOSPC;
    case OTF2_ERROR_EACCES:
        return -EACCES;
    default:
        return -EIO;
    }
}

static void count(struct archive *archive)
{
    archive->locations[archive->location_count - 1].events++;
}

static OTF2_StringRef string(struct archive *archive, const char *text, size_t size)
{
    int is_new;
    uint32_t ref = cunei_otf2_names_find(&archive->strings, text, size, &is_new);

    if (!is_new)
        return ref;
    cunei_buffer_clear(&archive->text);
    cunei_buffer_append(&archive->text, text, size);
    if (archive->text.failed)
        note(archive, OTF2_ERROR_MEM_ALLOC_FAILED);
    else
        note(archive, OTF2_GlobalDefWriter_WriteString(archive->definitions, ref,
                                                       archive->text.data));
    return ref;
}

static OTF2_StringRef word(struct archive *archive, const char *text)
{
    return string(archive, text, strlen(text));
}

/* A parameter whose values are texts. */
static OTF2_ParameterRef parameter(struct archive *archive, const char *prefix,
                                   const char *name, size_t size)
{
    struct cunei_buffer whole = {0};
    int is_new;

    cunei_buffer_append_text(&whole, prefix);
    cunei_buffer_append(&whole, name, size);
    uint32_t ref = cunei_otf2_names_find(
        &archive->parameters, whole.data ? whole.data : "", whole.size, &is_new);
    if (is_new)
        note(archive, OTF2_GlobalDefWriter_WriteParameter(
                          archive->definitions, ref,
                          string(archive, whole.data ? whole.data : "", whole.size),
                          OTF2_PARAMETER_TYPE_STRING));
    cunei_buffer_fini(&whole);
    return ref;
}

static void put_parameter(struct archive *archive, OTF2_ParameterRef ref,
                          const char *text, size_t size)
{
    note(archive, OTF2_EvtWriter_ParameterString(archive->writer, NULL, archive->last,
                                                 ref, string(archive, text, size)));
    count(archive);
}

static void define_region(struct archive *archive, const char *module,
                          const char *qualname, const char *file, uint32_t line)
{
    struct cunei_buffer name = {0};

    if (module[0])
        cunei_buffer_format(&name, "%s:", module);
    cunei_buffer_append_text(&name, qualname);
    OTF2_StringRef ref = word(archive, name.data ? name.data : "");
    note(archive, OTF2_GlobalDefWriter_WriteRegion(
                      archive->definitions, archive->region_count++, ref,
                      word(archive, qualname), word(archive, module),
                      OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
                      OTF2_REGION_FLAG_NONE, word(archive, file), line, line));
    cunei_buffer_fini(&name);
}

/* The process is a group of locations on its host, its functions are regions. */
static void begin_process(struct archive *archive, size_t index)
{
    const struct cunei_trace_process *process =
        &archive->export->trace->processes[index];
    struct cunei_buffer name = {0};

    archive->process = process;
    archive->wall = &archive->export->selections[index].wall;
    archive->group = (OTF2_LocationGroupRef)index;
    archive->first_region = archive->region_count;
    for (uint32_t i = 0; i < process->function_count; i++) {
        const struct cunei_function *function = &process->functions[i];
        bool is_known = function->module != NULL;
        define_region(archive, is_known ? function->module : "?",
                      is_known ? function->qualname : "?",
                      is_known ? function->file : "", function->line);
    }
    cunei_format_command(&name, &process->description);
    cunei_buffer_format(&name, " (%" PRIu32 ")", process->metadata.pid);
    note(archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                      archive->definitions, (OTF2_SystemTreeNodeRef)index,
                      word(archive, process->metadata.host), word(archive, "node"),
                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    note(archive, OTF2_GlobalDefWriter_WriteLocationGroup(
                      archive->definitions, archive->group,
                      word(archive, name.data ? name.data : "?"),
                      OTF2_LOCATION_GROUP_TYPE_PROCESS, (OTF2_SystemTreeNodeRef)index,
                      OTF2_UNDEFINED_LOCATION_GROUP));
    cunei_buffer_fini(&name);
}

/* Timestamps of a location never go back. */
static uint64_t stamp(struct archive *archive, uint64_t time)
{
    uint64_t ns = cunei_wall_ns(archive->wall, time) - archive->export->origin_ns;

    archive->last = ns > archive->last ? ns : archive->last;
    return archive->last;
}

static void end_location(struct archive *archive)
{
    if (!archive->writer)
        return;
    archive->locations[archive->location_count - 1].last = archive->last;
    note(archive, OTF2_Archive_CloseEvtWriter(archive->handle, archive->writer));
    archive->writer = NULL;
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct archive *archive = encoding->labels;
    struct location *grown;

    (void)is_begin;
    end_location(archive);
    grown = realloc(archive->locations,
                    (archive->location_count + 1) * sizeof(*archive->locations));
    if (!grown)
        return -ENOMEM;
    archive->locations = grown;
    struct location *location = &grown[archive->location_count];
    *location = (struct location){
        .id = archive->location_count,
        .group = archive->group,
        .name = string(archive, packet->thread_name,
                       strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME)),
    };
    archive->location_count++;
    archive->last = 0;
    archive->writer = OTF2_Archive_GetEvtWriter(archive->handle, location->id);
    (void)stamp(archive, time);
    return archive->writer ? result(archive) : -EIO;
}

static OTF2_RegionRef region(const struct archive *archive, uint32_t function)
{
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    return index < archive->process->function_count ? archive->first_region + index
                                                    : REGION_ERROR;
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct archive *archive = encoding->labels;

    note(archive,
         OTF2_EvtWriter_Enter(archive->writer, NULL, stamp(archive, call->time),
                              region(archive, call->function)));
    count(archive);
    for (size_t i = 0; i < call->argument_count; i++) {
        const struct cunei_value *value = &call->arguments[i];
        put_parameter(archive,
                      parameter(archive, "argname:", value->name, value->name_size),
                      value->text, value->size);
    }
    return result(archive);
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    static const char *const notes[] = {
        [CUNEI_END_YIELD] = "yield",   [CUNEI_END_RAISE] = "raise",
        [CUNEI_END_SWITCH] = "switch", [CUNEI_END_UNSEEN] = "missing",
        [CUNEI_END_OPEN] = "open",
    };
    struct archive *archive = encoding->labels;
    uint64_t time = stamp(archive, call->time);

    if (call->result)
        put_parameter(archive, parameter(archive, "return", "", 0), call->result->text,
                      call->result->size);
    if (notes[call->how])
        note(archive, OTF2_AttributeList_AddStringRef(archive->attributes, 0,
                                                      word(archive, notes[call->how])));
    /* The list is empty again behind it. */
    note(archive, OTF2_EvtWriter_Leave(archive->writer,
                                       notes[call->how] ? archive->attributes : NULL,
                                       time, region(archive, call->function)));
    count(archive);
    return result(archive);
}

static int put_orphan(struct cunei_encoding *encoding, uint32_t function, uint64_t time)
{
    struct archive *archive = encoding->labels;
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, function);
    struct cunei_buffer name = {0};
    uint64_t ns = stamp(archive, time);

    cunei_buffer_format(&name, "%s:%s", names ? names->module : "?",
                        names ? names->qualname : "?");
    note(archive, OTF2_EvtWriter_Enter(archive->writer, NULL, ns, REGION_ERROR));
    put_parameter(archive, parameter(archive, "leave-region", "", 0),
                  name.data ? name.data : "", name.size);
    note(archive, OTF2_EvtWriter_Leave(archive->writer, NULL, ns, REGION_ERROR));
    count(archive);
    count(archive);
    cunei_buffer_fini(&name);
    return result(archive);
}

static int put_event(struct cunei_encoding *encoding, const uint64_t *event,
                     uint64_t time)
{
    const struct cunei_exception *exception = (const void *)event;
    const struct cunei_thread_name *name = (const void *)event;
    struct archive *archive = encoding->labels;
    bool is_begin = cunei_record_phase(event[0]) == CUNEI_PHASE_ENTER;
    uint64_t ns = stamp(archive, time);

    switch (cunei_record_class(event[0])) {
    case CUNEI_CLASS_EXCEPTION:
        if (is_begin)
            put_parameter(archive, parameter(archive, "exception", "", 0),
                          exception->type, strnlen(exception->type, exception->length));
        break;
    case CUNEI_CLASS_GC:
        note(archive, (is_begin ? OTF2_EvtWriter_Enter : OTF2_EvtWriter_Leave)(
                          archive->writer, NULL, ns, REGION_GC));
        count(archive);
        break;
    case CUNEI_CLASS_THREAD_NAME:
        archive->locations[archive->location_count - 1].name =
            string(archive, name->name, strnlen(name->name, name->length));
        break;
    default:
        break;
    }
    return result(archive);
}

/* Nothing was measured from the last event that is known up to here. */
static int put_lost(struct cunei_encoding *encoding, uint64_t time, uint64_t lost)
{
    struct archive *archive = encoding->labels;

    (void)lost;
    note(archive, OTF2_EvtWriter_MeasurementOnOff(archive->writer, NULL, archive->last,
                                                  OTF2_MEASUREMENT_OFF));
    note(archive,
         OTF2_EvtWriter_MeasurementOnOff(archive->writer, NULL, stamp(archive, time),
                                         OTF2_MEASUREMENT_ON));
    count(archive);
    count(archive);
    return result(archive);
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
    .event = put_event,
    .orphan = put_orphan,
    .lost = put_lost,
};

static int write_process(struct archive *archive, size_t index)
{
    struct cunei_encoding encoding = {.export = archive->export,
                                      .encoder = &encoder,
                                      .process = archive->process,
                                      .labels = archive};
    const struct cunei_trace_process *process = archive->process;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            rc = cunei_tell_stream(archive->export, index, &process->streams[i],
                                   &encoding);
    }
    end_location(archive);
    archive->export->threads += encoding.threads;
    archive->export->calls += encoding.calls;
    return rc;
}

/* What a location is called, and how much is in it, is known at the end. */
static void define_locations(struct archive *archive)
{
    uint64_t length = 0;

    note(archive, OTF2_Archive_CloseEvtFiles(archive->handle));
    note(archive, OTF2_Archive_OpenDefFiles(archive->handle));
    for (size_t i = 0; i < archive->location_count; i++) {
        const struct location *location = &archive->locations[i];
        OTF2_DefWriter *writer =
            OTF2_Archive_GetDefWriter(archive->handle, location->id);
        note(archive, OTF2_Archive_CloseDefWriter(archive->handle, writer));
        note(archive,
             OTF2_GlobalDefWriter_WriteLocation(
                 archive->definitions, location->id, location->name,
                 OTF2_LOCATION_TYPE_CPU_THREAD, location->events, location->group));
        length = location->last > length ? location->last : length;
    }
    note(archive, OTF2_Archive_CloseDefFiles(archive->handle));
    note(archive, OTF2_GlobalDefWriter_WriteClockProperties(
                      archive->definitions, NS_PER_S, 0, length + 1,
                      archive->export->origin_ns));
}

static int open_archive(struct archive *archive)
{
    archive->handle = OTF2_Archive_Open(archive->export->folder, "traces",
                                        OTF2_FILEMODE_WRITE, CHUNK_EVENTS, CHUNK_DEFS,
                                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    archive->attributes = OTF2_AttributeList_New();
    if (!archive->handle || !archive->attributes)
        return -EIO;
    note(archive,
         OTF2_Archive_SetFlushCallbacks(archive->handle, &flush_callbacks, NULL));
    note(archive, OTF2_Archive_SetSerialCollectiveCallbacks(archive->handle));
    note(archive, OTF2_Archive_SetCreator(archive->handle, "cunei " CUNEI_VERSION));
    note(archive, OTF2_Archive_OpenEvtFiles(archive->handle));
    archive->definitions = OTF2_Archive_GetGlobalDefWriter(archive->handle);
    if (!archive->definitions)
        return -EIO;
    (void)word(archive, "");
    note(archive,
         OTF2_GlobalDefWriter_WriteAttribute(
             archive->definitions, 0, word(archive, "end"),
             word(archive, "how a call ended, if not by a return"), OTF2_TYPE_STRING));
    define_region(archive, "", "error_region", "", 0);
    define_region(archive, "", "gc", "", 0);
    return result(archive);
}

static OTF2_ErrorCode ignore_error(void *data, const char *file, uint64_t line,
                                   const char *function, OTF2_ErrorCode code,
                                   const char *format, va_list arguments)
{
    (void)data, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

int cunei_export_otf2(struct cunei_export *export)
{
    struct archive archive = {.export = export};

    /* It would print what we say ourselves. */
    (void)OTF2_Error_RegisterCallback(ignore_error, NULL);
    int rc = open_archive(&archive);
    for (size_t i = 0; rc == 0 && i < export->trace->process_count; i++) {
        if (!export->selections[i].is_wanted)
            continue;
        begin_process(&archive, i);
        rc = write_process(&archive, i);
    }
    if (rc == 0) {
        define_locations(&archive);
        rc = result(&archive);
    }
    if (archive.handle) {
        note(&archive, OTF2_Archive_Close(archive.handle));
        rc = rc == 0 ? result(&archive) : rc;
    }
    if (archive.attributes)
        (void)OTF2_AttributeList_Delete(archive.attributes);
    cunei_otf2_names_fini(&archive.strings);
    cunei_otf2_names_fini(&archive.parameters);
    cunei_buffer_fini(&archive.text);
    free(archive.locations);
    return rc;
}
