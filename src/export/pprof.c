// SPDX-License-Identifier: MIT
/*
 * The call tree as pprof's profile.proto, in gzip: a sample for each call path,
 * with its calls and self time.
 *
 * https://github.com/google/pprof/blob/main/proto/profile.proto
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "analysis/analysis.h"
#include "base/buffer.h"
#include "export/escaped_name.h"
#include "export/export.h"
#include "export/import_name.h"
#include "export/protobuf.h"
#include "export/rounding.h"
#include "export/selection.h"
#include "export/write_buffer.h"
#include "export/writers.h"
#include "model/facts/call_tree.h"
#include "text/names.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_TYPE = 14,
};

enum type_field {
    TYPE_TYPE = 1,
    TYPE_UNIT = 2
};
enum sample_field {
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2
};
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7
};
enum location_field {
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4
};
enum line_field {
    LINE_FUNCTION = 1,
    LINE_LINE = 2
};
enum function_field {
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5,
};

/* Strings by their number in the table; the functions' follow. */
enum string {
    STRING_EMPTY,
    STRING_CALLS,
    STRING_COUNT,
    STRING_TIME,
    STRING_NANOSECONDS,
    STRING_PROGRAM,
    STRING_UNKNOWN,
    STRING_FIRST,
};

struct writer {
    FILE *out;
    const struct cunei_export *export;
    const struct cunei_analysis *analysis;
    struct cunei_buffer proto;
    z_stream zip;
    bool has_zip;
    char packed[CUNEI_WRITE_BUFFER_BYTES];
};

/* Compress the buffer into the file; `flush` as for deflate. */
static int zip(struct writer *writer, int flush)
{
    int rc = Z_OK;

    if (writer->proto.failed)
        return -ENOMEM;
    writer->zip.next_in = (Bytef *)writer->proto.data;
    writer->zip.avail_in = (uInt)writer->proto.size;
    do {
        writer->zip.next_out = (Bytef *)writer->packed;
        writer->zip.avail_out = sizeof(writer->packed);
        rc = deflate(&writer->zip, flush);
        size_t size = sizeof(writer->packed) - writer->zip.avail_out;
        if (fwrite(writer->packed, 1, size, writer->out) != size)
            return errno ? -errno : -EIO;
    } while (rc == Z_OK && writer->zip.avail_out == 0);
    cunei_buffer_clear(&writer->proto);
    return 0;
}

static int zip_full(struct writer *writer)
{
    return writer->proto.failed || writer->proto.size >= CUNEI_WRITE_BUFFER_BYTES
               ? zip(writer, Z_NO_FLUSH)
               : 0;
}

static void put_type(struct cunei_buffer *out, uint32_t field, enum string type,
                     enum string unit)
{
    size_t at = cunei_proto_open(out, field);

    cunei_proto_number(out, TYPE_TYPE, type);
    cunei_proto_number(out, TYPE_UNIT, unit);
    cunei_proto_close(out, at);
}

static void put_head(struct writer *writer)
{
    const struct cunei_analysis *analysis = writer->analysis;
    struct cunei_buffer *out = &writer->proto;

    put_type(out, PROFILE_SAMPLE_TYPE, STRING_CALLS, STRING_COUNT);
    put_type(out, PROFILE_SAMPLE_TYPE, STRING_TIME, STRING_NANOSECONDS);
    put_type(out, PROFILE_PERIOD_TYPE, STRING_TIME, STRING_NANOSECONDS);
    cunei_proto_number(out, PROFILE_PERIOD, 1);
    cunei_proto_number(out, PROFILE_DEFAULT_TYPE, STRING_TIME);
    cunei_proto_number(out, PROFILE_TIME, analysis->begin_ns);
    cunei_proto_number(out, PROFILE_DURATION, cunei_analysis_duration_ns(analysis));
    /* Without a mapping pprof looks for a binary. */
    size_t mapping = cunei_proto_open(out, PROFILE_MAPPING);
    cunei_proto_number(out, MAPPING_ID, 1);
    cunei_proto_number(out, MAPPING_FILE, STRING_PROGRAM);
    cunei_proto_number(out, MAPPING_HAS_FUNCTIONS, 1);
    cunei_proto_close(out, mapping);
}

/*
 * A location and its function have the same number, which is the slot's plus one.  A
 * function has no system name: pprof would treat it as a C++ template and cut <module>
 * out of it.
 */
static void put_function(struct cunei_buffer *out, uint32_t slot, uint64_t name,
                         uint64_t file, uint32_t first_line)
{
    uint64_t id = (uint64_t)slot + 1;

    size_t function = cunei_proto_open(out, PROFILE_FUNCTION);
    cunei_proto_number(out, FUNCTION_ID, id);
    cunei_proto_number(out, FUNCTION_NAME, name);
    cunei_proto_number(out, FUNCTION_FILE, file);
    cunei_proto_number(out, FUNCTION_LINE, first_line);
    cunei_proto_close(out, function);
    size_t location = cunei_proto_open(out, PROFILE_LOCATION);
    cunei_proto_number(out, LOCATION_ID, id);
    cunei_proto_number(out, LOCATION_MAPPING, 1);
    size_t line = cunei_proto_open(out, LOCATION_LINE);
    cunei_proto_number(out, LINE_FUNCTION, id);
    cunei_proto_number(out, LINE_LINE, first_line);
    cunei_proto_close(out, line);
    cunei_proto_close(out, location);
}

static int put_functions(struct writer *writer)
{
    const struct cunei_functions *functions = &writer->analysis->functions;
    uint64_t string = STRING_FIRST;
    int rc = 0;

    put_function(&writer->proto, 0, STRING_UNKNOWN, STRING_EMPTY, 0);
    for (uint32_t i = 0; rc == 0 && i < functions->count; i++, string += 2) {
        put_function(&writer->proto, i + 1, string, string + 1,
                     functions->items[i].line);
        rc = zip_full(writer);
    }
    return rc;
}

static void put_string(struct cunei_buffer *out, const struct cunei_buffer *text)
{
    cunei_proto_text(out, PROFILE_STRING, cunei_buffer_text(text), text->size);
}

static int put_strings(struct writer *writer)
{
    static const char *const fixed[] = {"",   "calls", "count", "time", "nanoseconds",
                                        NULL, "?"};
    const struct cunei_analysis *analysis = writer->analysis;
    struct cunei_buffer text = {0};
    int rc = 0;

    for (unsigned i = 0; i < STRING_FIRST; i++) {
        cunei_buffer_clear(&text);
        if (fixed[i])
            cunei_buffer_append_text(&text, fixed[i]);
        else if (analysis->process_count > 0)
            cunei_format_command(&text, &analysis->processes[0].process->description);
        put_string(&writer->proto, &text);
    }
    for (uint32_t i = 0; rc == 0 && i < analysis->functions.count; i++) {
        const struct cunei_function *function = &analysis->functions.items[i];
        cunei_buffer_clear(&text);
        cunei_import_name_put(writer->export, &text, function, '\0');
        put_string(&writer->proto, &text);
        cunei_buffer_clear(&text);
        cunei_escaped_name_put(&text, function->file, strlen(function->file), '\0');
        put_string(&writer->proto, &text);
        rc = text.failed ? -ENOMEM : zip_full(writer);
    }
    cunei_buffer_fini(&text);
    return rc;
}

static void put_sample(struct cunei_buffer *out, const struct cunei_node *nodes,
                       uint32_t node)
{
    size_t sample = cunei_proto_open(out, PROFILE_SAMPLE);
    size_t locations = cunei_proto_open(out, SAMPLE_LOCATION);

    for (uint32_t i = node; i > 0; i = nodes[i].parent) {
        char *at = cunei_buffer_room(out, CUNEI_PROTO_VARINT_MAX);
        if (at)
            cunei_buffer_grow(out, cunei_proto_put(at, (uint64_t)nodes[i].slot + 1));
    }
    cunei_proto_close(out, locations);
    size_t values = cunei_proto_open(out, SAMPLE_VALUE);
    char *at = cunei_buffer_room(out, 2 * (size_t)CUNEI_PROTO_VARINT_MAX);
    if (at)
        cunei_buffer_grow(out, cunei_proto_put(cunei_proto_put(at, nodes[node].calls),
                                               nodes[node].self));
    cunei_proto_close(out, values);
    cunei_proto_close(out, sample);
}

static int put_samples(struct writer *writer)
{
    const struct cunei_tree *tree = writer->analysis->tree;
    int rc = 0;

    for (uint32_t i = 1; rc == 0 && i < tree->count; i++) {
        if (tree->nodes[i].self == 0 && tree->nodes[i].calls == 0)
            continue;
        put_sample(&writer->proto, tree->nodes, i);
        rc = zip_full(writer);
    }
    return rc;
}

static int begin_zip(struct writer *writer)
{
    /* Plus 16: zlib's flag for gzip. */
    int rc = deflateInit2(&writer->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                          MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);

    writer->has_zip = rc == Z_OK;
    return writer->has_zip ? 0 : -ENOMEM;
}

int cunei_export_pprof(struct cunei_export *export)
{
    struct writer *writer = calloc(1, sizeof(*writer));
    struct cunei_analysis analysis;

    if (!writer)
        return -ENOMEM;
    int rc = cunei_selection_analyze(
        export, &(struct cunei_analysis_options){.tree = true}, &analysis);
    if (rc < 0) {
        free(writer);
        return rc;
    }
    writer->out = export->out;
    writer->export = export;
    writer->analysis = &analysis;
    rc = cunei_rounding_correct_tree(&analysis);
    if (rc == 0)
        rc = begin_zip(writer);
    if (rc == 0) {
        put_head(writer);
        rc = put_functions(writer);
    }
    if (rc == 0)
        rc = put_strings(writer);
    if (rc == 0)
        rc = put_samples(writer);
    if (rc == 0)
        rc = zip(writer, Z_FINISH);
    if (writer->has_zip)
        (void)deflateEnd(&writer->zip);
    cunei_buffer_fini(&writer->proto);
    cunei_analysis_fini(&analysis);
    free(writer);
    return rc;
}
