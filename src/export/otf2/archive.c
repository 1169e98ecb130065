// SPDX-License-Identifier: MIT
#include "export/otf2/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/vector.h"
#include "export/escaped_name.h"
#include "export/export.h"
#include "export/selection.h"
#include "text/names.h"

#define CHUNK_EVENTS (UINT64_C(1) << 20)
#define CHUNK_DEFS   (UINT64_C(4) << 20)
#define CHUNKS_MAX   2u

struct cunei_otf2_location {
    OTF2_LocationRef id;
    OTF2_LocationGroupRef group;
    OTF2_StringRef name;
    uint32_t tid;
    uint64_t events;
    uint64_t last; /* timestamp */
};

static OTF2_FlushType before_flush(void *data, OTF2_FileType type,
                                   OTF2_LocationRef location, void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

/* The memory of a buffer: by default libotf2 keeps all events of a thread. */
struct chunks {
    void *items[CHUNKS_MAX]; /* owned */
    size_t count;
};

/* NULL: buffers must be flushed first. */
static void *allocate(void *data, OTF2_FileType type, OTF2_LocationRef location,
                      void **buffer, uint64_t size)
{
    struct chunks *chunks = *buffer;

    (void)data, (void)type, (void)location;
    if (!chunks)
        *buffer = chunks = calloc(1, sizeof(*chunks));
    if (!chunks || chunks->count == CHUNKS_MAX)
        return NULL;
    void *chunk = malloc(size);
    if (chunk)
        chunks->items[chunks->count++] = chunk;
    return chunk;
}

static void free_all(void *data, OTF2_FileType type, OTF2_LocationRef location,
                     void **buffer, bool final)
{
    struct chunks *chunks = *buffer;

    (void)data, (void)type, (void)location;
    if (!chunks)
        return;
    while (chunks->count > 0)
        free(chunks->items[--chunks->count]);
    if (!final)
        return;
    free(chunks);
    *buffer = NULL;
}

static const OTF2_MemoryCallbacks memory_callbacks = {.otf2_allocate = allocate,
                                                      .otf2_free_all = free_all};

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = before_flush};

void cunei_otf2_note(struct cunei_otf2 *archive, OTF2_ErrorCode error)
{
    if (archive->error == OTF2_SUCCESS)
        archive->error = error;
}

int cunei_otf2_result(const struct cunei_otf2 *archive)
{
    switch (archive->error) {
    case OTF2_SUCCESS:
        return 0;
    case OTF2_ERROR_MEM_FAULT:
    case OTF2_ERROR_MEM_ALLOC_FAILED:
        return -ENOMEM;
    default:
        return archive->number > 0 ? -archive->number : -EIO;
    }
}

OTF2_StringRef cunei_otf2_string(struct cunei_otf2 *archive, const char *text,
                                 size_t size)
{
    int is_new;
    uint32_t ref = cunei_otf2_names_find(&archive->strings, text, size, &is_new);

    if (!is_new)
        return ref;
    cunei_buffer_clear(&archive->text);
    cunei_escaped_name_put_utf8(&archive->text, text, size);
    cunei_buffer_append_text(&archive->text, "");
    if (archive->text.failed)
        cunei_otf2_note(archive, OTF2_ERROR_MEM_ALLOC_FAILED);
    else
        cunei_otf2_note(archive, archive->otf2->GlobalDefWriter_WriteString(
                                     archive->definitions, ref, archive->text.data));
    return ref;
}

OTF2_StringRef cunei_otf2_word(struct cunei_otf2 *archive, const char *text)
{
    return cunei_otf2_string(archive, text, strlen(text));
}

OTF2_ParameterRef cunei_otf2_parameter(struct cunei_otf2 *archive, const char *prefix,
                                       const char *name, size_t size,
                                       OTF2_ParameterType type)
{
    struct cunei_buffer whole = {0};
    int is_new;

    cunei_buffer_append_text(&whole, prefix);
    cunei_buffer_append(&whole, name, size);
    uint32_t ref = cunei_otf2_names_find(
        &archive->parameters, cunei_buffer_text(&whole), whole.size, &is_new);
    if (is_new)
        cunei_otf2_note(
            archive,
            archive->otf2->GlobalDefWriter_WriteParameter(
                archive->definitions, ref,
                cunei_otf2_string(archive, cunei_buffer_text(&whole), whole.size),
                type));
    cunei_buffer_fini(&whole);
    return ref;
}

/* The class has one member, of the same number. */
OTF2_MetricRef cunei_otf2_metric(struct cunei_otf2 *archive, const char *name)
{
    int is_new;
    uint32_t ref =
        cunei_otf2_names_find(&archive->metrics, name, strlen(name), &is_new);

    if (is_new) {
        OTF2_StringRef none = cunei_otf2_word(archive, "");
        cunei_otf2_note(archive,
                        archive->otf2->GlobalDefWriter_WriteMetricMember(
                            archive->definitions, ref, cunei_otf2_word(archive, name),
                            none, OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_LAST,
                            OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, none));
        cunei_otf2_note(archive,
                        archive->otf2->GlobalDefWriter_WriteMetricClass(
                            archive->definitions, ref, 1,
                            (const OTF2_MetricMemberRef[]){ref},
                            OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
    }
    return ref;
}

static void define_region(struct cunei_otf2 *archive, const char *module,
                          const char *qualname, const char *file, uint32_t line)
{
    struct cunei_buffer name = {0};

    if (module[0])
        cunei_buffer_format(&name, "%s:", module);
    cunei_buffer_append_text(&name, qualname);
    OTF2_StringRef ref = cunei_otf2_word(archive, cunei_buffer_text(&name));
    cunei_otf2_note(archive,
                    archive->otf2->GlobalDefWriter_WriteRegion(
                        archive->definitions, archive->region_count++, ref,
                        cunei_otf2_word(archive, qualname),
                        cunei_otf2_word(archive, module), OTF2_REGION_ROLE_FUNCTION,
                        OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                        cunei_otf2_word(archive, file), line, line));
    cunei_buffer_fini(&name);
}

static OTF2_SystemTreeNodeRef host(struct cunei_otf2 *archive, const char *name)
{
    int is_new;
    uint32_t ref = cunei_otf2_names_find(&archive->hosts, name, strlen(name), &is_new);

    if (is_new)
        cunei_otf2_note(archive,
                        archive->otf2->GlobalDefWriter_WriteSystemTreeNode(
                            archive->definitions, ref, cunei_otf2_word(archive, name),
                            cunei_otf2_word(archive, "node"),
                            OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    return ref;
}

/* Whether calls of it are recorded. */
static bool is_region(const struct cunei_selection *selection,
                      const struct cunei_function *function, uint32_t index)
{
    enum cunei_definition kind =
        function->module ? cunei_definition_of(function) : CUNEI_DEFINITION_FUNCTION;

    return (!selection->functions || selection->functions[index] == CUNEI_CUT_WANTED) &&
           kind != CUNEI_DEFINITION_COUNTER && kind != CUNEI_DEFINITION_TOKENS;
}

static void define_regions(struct cunei_otf2 *archive,
                           const struct cunei_selection *selection)
{
    const struct cunei_trace_process *process = archive->process;

    free(archive->regions);
    archive->regions = calloc(process->function_count + 1, sizeof(*archive->regions));
    if (!archive->regions) {
        cunei_otf2_note(archive, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    for (uint32_t i = 0; i < process->function_count; i++) {
        const struct cunei_function *function = &process->functions[i];
        bool is_known = function->module != NULL;
        archive->regions[i] = CUNEI_OTF2_REGION_ERROR;
        if (!is_region(selection, function, i))
            continue;
        archive->regions[i] = archive->region_count;
        define_region(archive, is_known ? cunei_escaped_name_module(function) : "?",
                      is_known ? function->qualname : "?",
                      is_known ? function->file : "", function->line);
    }
}

/* The process is a group of locations on its host, its functions are regions. */
void cunei_otf2_process(struct cunei_otf2 *archive, size_t index)
{
    const struct cunei_trace_process *process =
        &archive->export->trace->processes[index];
    const struct cunei_selection *selection = &archive->export->selections[index];
    struct cunei_buffer name = {0};

    archive->process = process;
    archive->wall = &selection->wall;
    archive->group = (OTF2_LocationGroupRef)index;
    define_regions(archive, selection);
    cunei_format_process(&name, &process->description);
    cunei_buffer_format(&name, " (%" PRIu32 ")", process->metadata.pid);
    cunei_otf2_note(archive, archive->otf2->GlobalDefWriter_WriteLocationGroup(
                                 archive->definitions, archive->group,
                                 cunei_otf2_word(archive, name.data ? name.data : "?"),
                                 OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                 host(archive, process->metadata.host),
                                 OTF2_UNDEFINED_LOCATION_GROUP));
    cunei_otf2_note(archive,
                    archive->otf2->GlobalDefWriter_WriteLocationGroupProperty(
                        archive->definitions, archive->group,
                        cunei_otf2_word(archive, "pid"), OTF2_TYPE_UINT32,
                        (OTF2_AttributeValue){.uint32 = process->metadata.pid}));
    cunei_buffer_fini(&name);
}

uint64_t cunei_otf2_stamp(struct cunei_otf2 *archive, uint64_t time)
{
    uint64_t ns =
        cunei_export_since(archive->export, cunei_wall_clock_ns(archive->wall, time));

    archive->last = ns > archive->last ? ns : archive->last;
    return archive->last;
}

void cunei_otf2_location_end(struct cunei_otf2 *archive)
{
    /* What could not be written, libotf2 3.0 writes once more, from memory that it has
     * freed: nothing is closed then, and the process ends soon. */
    if (!archive->writer || archive->error != OTF2_SUCCESS)
        return;
    archive->locations[archive->location_count - 1].last = archive->last;
    cunei_otf2_note(archive, archive->otf2->Archive_CloseEvtWriter(archive->handle,
                                                                   archive->writer));
    archive->writer = NULL;
}

int cunei_otf2_location(struct cunei_otf2 *archive, const struct cunei_packet *packet)
{
    cunei_otf2_location_end(archive);
    if (!CUNEI_VECTOR_RESERVE_ONE(archive->locations, archive->location_count))
        return -ENOMEM;
    struct cunei_otf2_location *location = &archive->locations[archive->location_count];
    *location = (struct cunei_otf2_location){
        .id = archive->location_count,
        .group = archive->group,
        .tid = packet->vtid,
    };
    archive->location_count++;
    cunei_otf2_location_name(archive, packet->thread_name,
                             strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
    archive->last = 0;
    archive->writer =
        archive->otf2->Archive_GetEvtWriter(archive->handle, location->id);
    return archive->writer ? cunei_otf2_result(archive) : -EIO;
}

void cunei_otf2_location_name(struct cunei_otf2 *archive, const char *name, size_t size)
{
    archive->locations[archive->location_count - 1].name =
        cunei_otf2_string(archive, name, size);
}

void cunei_otf2_count(struct cunei_otf2 *archive)
{
    archive->locations[archive->location_count - 1].events++;
}

OTF2_RegionRef cunei_otf2_region(const struct cunei_otf2 *archive, uint32_t function)
{
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    return archive->regions && index < archive->process->function_count
               ? archive->regions[index]
               : CUNEI_OTF2_REGION_ERROR;
}

/* The name of a location and its number of events are known at the end. */
static void define_locations(struct cunei_otf2 *archive)
{
    uint64_t length = 0;

    cunei_otf2_note(archive, archive->otf2->Archive_CloseEvtFiles(archive->handle));
    cunei_otf2_note(archive, archive->otf2->Archive_OpenDefFiles(archive->handle));
    for (size_t i = 0; i < archive->location_count && archive->error == OTF2_SUCCESS;
         i++) {
        const struct cunei_otf2_location *location = &archive->locations[i];
        OTF2_DefWriter *writer =
            archive->otf2->Archive_GetDefWriter(archive->handle, location->id);
        cunei_otf2_note(archive,
                        archive->otf2->Archive_CloseDefWriter(archive->handle, writer));
        cunei_otf2_note(archive, archive->otf2->GlobalDefWriter_WriteLocation(
                                     archive->definitions, location->id, location->name,
                                     OTF2_LOCATION_TYPE_CPU_THREAD, location->events,
                                     location->group));
        cunei_otf2_note(archive, archive->otf2->GlobalDefWriter_WriteLocationProperty(
                                     archive->definitions, location->id,
                                     cunei_otf2_word(archive, "tid"), OTF2_TYPE_UINT32,
                                     (OTF2_AttributeValue){.uint32 = location->tid}));
        length = location->last > length ? location->last : length;
    }
    cunei_otf2_note(archive, archive->otf2->Archive_CloseDefFiles(archive->handle));
    cunei_otf2_note(archive, archive->otf2->GlobalDefWriter_WriteClockProperties(
                                 archive->definitions, CUNEI_NS_PER_S, 0, length + 1,
                                 archive->export->origin_ns));
}

/*
 * Without a callback libotf2 prints errors itself.  Some errors of writing are reported
 * here only, and not by the functions that we call.
 */
static OTF2_ErrorCode take_error(void *data, const char *file, uint64_t line,
                                 const char *function, OTF2_ErrorCode code,
                                 const char *format, va_list arguments)
{
    struct cunei_otf2 *archive = data;

    if (archive->error == OTF2_SUCCESS)
        archive->number = errno;
    (void)file, (void)line, (void)function, (void)format, (void)arguments;
    cunei_otf2_note(archive, code);
    return code;
}

static void define_attribute(struct cunei_otf2 *archive, OTF2_AttributeRef ref,
                             const char *name, const char *meaning)
{
    cunei_otf2_note(archive,
                    archive->otf2->GlobalDefWriter_WriteAttribute(
                        archive->definitions, ref, cunei_otf2_word(archive, name),
                        cunei_otf2_word(archive, meaning), OTF2_TYPE_STRING));
}

int cunei_otf2_open(struct cunei_otf2 *archive)
{
    archive->otf2 = cunei_otf2_load();
    if (!archive->otf2)
        return -ELIBACC;
    (void)archive->otf2->Error_RegisterCallback(take_error, archive);
    archive->handle = archive->otf2->Archive_Open(
        archive->export->folder, "traces", OTF2_FILEMODE_WRITE, CHUNK_EVENTS,
        CHUNK_DEFS, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    archive->attributes = archive->otf2->AttributeList_New();
    if (!archive->handle || !archive->attributes)
        return -EIO;
    cunei_otf2_note(archive, archive->otf2->Archive_SetFlushCallbacks(
                                 archive->handle, &flush_callbacks, NULL));
    cunei_otf2_note(archive, archive->otf2->Archive_SetMemoryCallbacks(
                                 archive->handle, &memory_callbacks, NULL));
    cunei_otf2_note(
        archive, archive->otf2->Archive_SetSerialCollectiveCallbacks(archive->handle));
    cunei_otf2_note(archive, archive->otf2->Archive_SetCreator(archive->handle,
                                                               "cunei " CUNEI_VERSION));
    cunei_otf2_note(archive, archive->otf2->Archive_OpenEvtFiles(archive->handle));
    archive->definitions = archive->otf2->Archive_GetGlobalDefWriter(archive->handle);
    if (!archive->definitions)
        return -EIO;
    (void)cunei_otf2_word(archive, "");
    define_attribute(archive, CUNEI_OTF2_ATTRIBUTE_BEGIN, "begin",
                     "how it began, if not by a call");
    define_attribute(archive, CUNEI_OTF2_ATTRIBUTE_END, "end",
                     "how it ended, if not by a return");
    define_region(archive, "", "error_region", "", 0);
    define_region(archive, "", "gc", "", 0);
    return cunei_otf2_result(archive);
}

int cunei_otf2_close(struct cunei_otf2 *archive, int rc)
{
    if (rc == 0) {
        define_locations(archive);
        rc = cunei_otf2_result(archive);
    }
    if (archive->handle && archive->error == OTF2_SUCCESS) {
        cunei_otf2_note(archive, archive->otf2->Archive_Close(archive->handle));
        rc = rc == 0 ? cunei_otf2_result(archive) : rc;
    }
    if (archive->otf2) {
        (void)archive->otf2->Error_RegisterCallback(NULL, NULL);
        if (archive->attributes)
            (void)archive->otf2->AttributeList_Delete(archive->attributes);
    }
    cunei_otf2_names_fini(&archive->strings);
    cunei_otf2_names_fini(&archive->parameters);
    cunei_otf2_names_fini(&archive->hosts);
    cunei_otf2_names_fini(&archive->metrics);
    cunei_buffer_fini(&archive->text);
    free(archive->locations);
    free(archive->regions);
    *archive = (struct cunei_otf2){0};
    return rc;
}
