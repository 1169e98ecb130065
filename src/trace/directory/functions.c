// SPDX-License-Identifier: MIT
#include "trace/directory/functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "trace/live/live.h"
#include "trace/packet/stream_reader.h"
#include "trace/process/error.h"
#include "trace/process/file.h"
#include "trace/process/process.h"

/* Names of 20 000 functions: far beyond anything we write. */
#define METADATA_MAX (256u << 20)

/* Memory that the texts of functions lie in. */
struct block {
    struct block *next;
    char *text; /* owned */
};

/* Functions in the order of their definition, which need not be that of their ids. */
struct list {
    struct cunei_function *items; /* owned */
    size_t count;
    size_t capacity;
    uint32_t end; /* behind the highest id */
};

static int list_add(struct list *list, const struct cunei_function *function)
{
    if (!CUNEI_VECTOR_RESERVE(list->items, list->capacity, list->count + 1))
        return -ENOMEM;
    list->items[list->count++] = *function;
    if (function->id >= list->end)
        list->end = function->id + 1;
    return 0;
}

/* Leave `size` bytes of text to the process, which frees them. */
static int keep(struct cunei_trace_process *process, char *text, size_t size)
{
    struct block *block = size > 0 ? malloc(sizeof(*block)) : NULL;

    if (!block) {
        free(text);
        return size > 0 ? -ENOMEM : 0;
    }
    *block = (struct block){.next = process->memory, .text = text};
    process->memory = block;
    return 0;
}

/* Returns how long the whole lines are; `offset` is where they are in the file. */
static int parse_lines(struct list *list, char *text, size_t size, uint64_t offset,
                       const char *path, struct cunei_trace_error *error)
{
    size_t at = 0;

    while (at < size) {
        struct cunei_function function;
        char *end = memchr(text + at, '\n', size - at);
        if (!end)
            break;
        size_t length = (size_t)(end - (text + at)) + 1;
        if (cunei_metadata_parse_function(&function, text + at, length) < 0)
            return cunei_trace_fail(error, -EBADMSG,
                                    "'%s' is damaged at byte %" PRIu64
                                    ": this line does not define a function",
                                    path, offset + at);
        int rc = list_add(list, &function);
        if (rc < 0)
            return rc;
        at += length;
    }
    return (int)at;
}

/* Read the file from the place on; whole lines, NUL-terminated and owned by the caller.
 */
static int read_metadata(const struct cunei_trace_process *process,
                         const struct cunei_trace_functions_place *place, char **text,
                         size_t *size)
{
    uint64_t file_size = 0;

    int fd = cunei_trace_file_open(process, CUNEI_METADATA_NAME, &file_size);
    if (fd < 0)
        return fd;
    uint64_t rest = file_size > place->offset ? file_size - place->offset : 0;
    char *memory = file_size > METADATA_MAX ? NULL : malloc((size_t)rest + 1);
    int64_t count =
        file_size > METADATA_MAX ? -EFBIG
        : !memory                ? -ENOMEM
                  : cunei_trace_file_read(fd, memory, (size_t)rest, place->offset);
    close(fd);
    if (count < 0) {
        free(memory);
        return (int)count;
    }
    memory[count] = '\0';
    *text = memory;
    *size = (size_t)count;
    return 0;
}

/* The lines of the metadata behind the place, which moves behind them. */
static int load_lines(struct cunei_trace_process *process,
                      struct cunei_trace_functions_place *place, struct list *list,
                      struct cunei_trace_error *error)
{
    static char nothing[1];
    struct cunei_metadata metadata;
    size_t size = 0, preamble = 0;
    char *text = NULL;

    char *path = cunei_trace_path(process->path, CUNEI_METADATA_NAME);
    if (!path)
        return -ENOMEM;
    int rc = read_metadata(process, place, &text, &size);
    if (rc == -EFBIG)
        rc = cunei_trace_fail(error, -EBADMSG, "'%s' is too large for a metadata file",
                              path);
    else if (rc < 0)
        (void)cunei_trace_fail_to_read(error, rc, path);
    else {
        rc = keep(process, text, size);
        text = size > 0 ? text : nothing;
        if (rc == 0 && place->offset == 0)
            rc = cunei_metadata_parse(&metadata, text, size, &preamble);
        if (rc == -EINVAL)
            rc = cunei_trace_fail(error, -EBADMSG, "'%s' changed while it was read",
                                  path);
    }
    if (rc == 0)
        rc = parse_lines(list, text + preamble, size - preamble,
                         place->offset + preamble, path, error);
    if (rc >= 0)
        place->offset += preamble + (size_t)rc;
    if (list->count > 0 && list->items[list->count - 1].id > place->newest)
        place->newest = list->items[list->count - 1].id;
    if (process->class_end < CUNEI_FUNCTION_CLASS_END)
        process->class_end = CUNEI_FUNCTION_CLASS_END;
    if (process->class_end < list->end)
        process->class_end = list->end;
    free(path);
    return rc < 0 ? rc : 0;
}

/* The definitions of one packet; their texts are taken apart in a copy of it. */
static int parse_definitions(struct cunei_trace_process *process, struct list *list,
                             const uint64_t *words, size_t word_count)
{
    size_t size = word_count * sizeof(uint64_t);
    char *copy = malloc(size + 1);

    if (!copy)
        return -ENOMEM;
    memcpy(copy, words, size);
    int rc = keep(process, copy, size);
    for (size_t at = 0; rc == 0 && at < size;) {
        struct cunei_function function;
        int length = cunei_metadata_parse_define(&function, copy + at, size - at);
        if (length < 0)
            return -EBADMSG;
        rc = list_add(list, &function);
        at += (size_t)length;
    }
    return rc;
}

static int load_definitions(struct cunei_trace_process *process,
                            const struct cunei_trace_stream *stream, struct list *list,
                            struct cunei_trace_error *error)
{
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    int read_rc = 0, rc = 0;

    if (!reader)
        return -ENOMEM;
    while (rc == 0 && (read_rc = cunei_trace_reader_next(reader, &packet)) > 0)
        rc = parse_definitions(process, list, packet.words, packet.word_count);
    if (rc == -EBADMSG)
        (void)cunei_trace_fail(
            error, rc, "'%s' is damaged in packet %llu: a definition is invalid",
            stream->path, (unsigned long long)packet.head->sequence);
    if (read_rc < 0)
        *error = *cunei_trace_reader_error(reader);
    cunei_trace_reader_close(reader);
    return rc < 0 ? rc : read_rc;
}

/* Room in the table for the functions of a list. */
static int grow_table(struct cunei_trace_process *process, const struct list *list)
{
    uint32_t before = process->function_count;
    uint32_t count = list->count ? list->end - CUNEI_FUNCTION_FIRST : 0;

    if (process->functions && count <= before)
        return 0;
    count = count > before ? count : before;
    struct cunei_function *functions =
        realloc(process->functions, ((size_t)count + 1) * sizeof(*functions));
    if (!functions)
        return -ENOMEM;
    memset(functions + before, 0, ((size_t)count + 1 - before) * sizeof(*functions));
    process->functions = functions;
    if (process->kinds) {
        uint8_t *kinds = realloc(process->kinds, count);
        if (!kinds)
            return -ENOMEM;
        memset(kinds + before, 0, count - before);
        process->kinds = kinds;
    }
    process->function_count = count;
    return 0;
}

/* Most programs give no names: then there is no table. */
static int set_kind(struct cunei_trace_process *process,
                    const struct cunei_function *function)
{
    enum cunei_definition kind = cunei_definition_of(function);

    if (kind == CUNEI_DEFINITION_FUNCTION)
        return 0;
    if (!process->kinds)
        process->kinds = calloc(process->function_count, sizeof(*process->kinds));
    if (!process->kinds)
        return -ENOMEM;
    process->kinds[function->id - CUNEI_FUNCTION_FIRST] = (uint8_t)kind;
    return 0;
}

/* From a list to the table by id; of two definitions of an id the first counts. */
static int index_functions(struct cunei_trace_process *process, const struct list *list)
{
    int rc = grow_table(process, list);

    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        struct cunei_function *function =
            &process->functions[list->items[i].id - CUNEI_FUNCTION_FIRST];
        if (function->module)
            continue;
        *function = list->items[i];
        rc = set_kind(process, function);
    }
    while (rc == 0 && process->dense_count < process->function_count &&
           process->functions[process->dense_count].module)
        process->dense_count++;
    return rc;
}

/* The id that a line defines, or 0. */
static uint32_t defined_by(const char *line, size_t size)
{
    struct cunei_function function = {0};
    char *copy = malloc(size);

    if (copy) {
        memcpy(copy, line, size);
        if (cunei_metadata_parse_function(&function, copy, size) < 0)
            function.id = 0;
    }
    free(copy);
    return function.id;
}

/* The length of the line at `text`, its end included; 0: it has none. */
static size_t line_length(const char *text, size_t size)
{
    const char *end = memchr(text, '\n', size);
    return end ? (size_t)(end - text) + 1 : 0;
}

uint32_t cunei_trace_functions_last(const char *lines, size_t size)
{
    const char *end = size > 1 ? memrchr(lines, '\n', size - 1) : NULL;
    return end ? defined_by(end + 1, size - (size_t)(end + 1 - lines)) : 0;
}

size_t cunei_trace_functions_newer(const char *lines, size_t size, uint32_t newest,
                                   size_t *begin)
{
    size_t first = 0, at = 0, length = 0;

    for (; (length = line_length(lines + at, size - at)) > 0; at += length) {
        uint32_t id = defined_by(lines + at, length);
        if (id == 0 || (id <= newest && at > first))
            break;
        if (id <= newest)
            first = at + length;
        else
            newest = id;
    }
    *begin = first;
    return at - first;
}

/* Take over the lines of the live file that the metadata lacks. */
static int parse_tail(struct cunei_trace_functions_place *place, struct list *list,
                      char *tail, size_t size)
{
    struct cunei_trace_error ignored;
    size_t begin = 0;

    size_t length = cunei_trace_functions_newer(tail, size, place->newest, &begin);
    int rc = parse_lines(list, tail + begin, length, 0, "", &ignored);
    if (rc > 0)
        place->newest = list->items[list->count - 1].id;
    return rc < 0 ? rc : 0;
}

static int load_all_lines(struct cunei_trace_process *process,
                          const struct cunei_trace_live *live,
                          struct cunei_trace_functions_place *place, struct list *list,
                          struct cunei_trace_error *error)
{
    size_t size = 0;
    char *tail = NULL;

    /* Copied first: a line that moves to the file in between is then seen twice. */
    int rc = cunei_trace_live_tail(live, &tail, &size);
    if (rc == 0)
        rc = keep(process, tail, size);
    if (rc == 0)
        rc = load_lines(process, place, list, error);
    return rc == 0 && size > 0 ? parse_tail(place, list, tail, size) : rc;
}

int cunei_trace_functions_load(struct cunei_trace_process *process,
                               const struct cunei_trace_live *live,
                               struct cunei_trace_error *error)
{
    struct cunei_trace_functions_place place = {0};
    struct list list = {0};

    int rc = load_all_lines(process, live, &place, &list, error);
    for (size_t i = 0; rc == 0 && i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_DEFINITIONS)
            rc = load_definitions(process, &process->streams[i], &list, error);
    }
    if (rc == 0)
        rc = index_functions(process, &list);
    free(list.items);
    return rc;
}

int cunei_trace_functions_update(struct cunei_trace_process *process,
                                 const struct cunei_trace_live *live,
                                 struct cunei_trace_functions_place *place,
                                 struct cunei_trace_error *error)
{
    struct list list = {0};

    int rc = load_all_lines(process, live, place, &list, error);
    if (rc == 0)
        rc = index_functions(process, &list);
    free(list.items);
    return rc;
}

int cunei_trace_functions_define(struct cunei_trace_process *process,
                                 const uint64_t *words, size_t word_count)
{
    struct list list = {0};

    int rc = parse_definitions(process, &list, words, word_count);
    if (rc == 0)
        rc = index_functions(process, &list);
    free(list.items);
    return rc;
}

void cunei_trace_functions_fini(struct cunei_trace_process *process)
{
    struct block *block = process->memory;

    while (block) {
        struct block *next = block->next;
        free(block->text);
        free(block);
        block = next;
    }
    process->memory = NULL;
    free(process->functions);
    free(process->kinds);
    process->functions = NULL;
    process->kinds = NULL;
}
