// SPDX-License-Identifier: MIT
#include "wire/metadata.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "wire/event.h"
#include "wire/packet.h"

/* What the preamble begins with; the version stands right after it. */
static const char opening[] = "/* CTF 1.8 */\n/* cunei wire version ";

static const char types[] =
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
    "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := "
    "text_t;\n"
    "typealias integer { size = 2; align = 1; signed = false; } := uint2_t;\n"
    "enum phase : uint2_t { enter = 0, leave = 1, resume = 2, yield = 3 };\n";

static const char context[] =
    "  packet.context := struct {\n"
    "    uint32_t vpid;\n"
    "    uint32_t vtid;\n"
    "    text_t thread_name[32];\n"
    "    time_t timestamp_begin;\n"
    "    time_t timestamp_end;\n"
    "    uint64_t content_size;\n"
    "    uint64_t packet_size;\n"
    "    uint64_t packet_seq_num;\n"
    "    uint64_t events_discarded;\n"
    "    uint64_t monotonic_ns;\n"
    "    uint64_t cpu_begin_ns;\n"
    "    uint64_t cpu_end_ns;\n"
    "    uint32_t thread;\n"
    "    uint32_t flags;\n"
    "  };\n"
    "  event.header := struct {\n"
    "    integer { size = 40; align = 1; signed = false; map = clock.cunei.value; } "
    "timestamp;\n"
    "    integer { size = 22; align = 1; signed = false; } id;\n"
    "  } align(64);\n"
    "  event.context := struct { enum phase phase; };\n";

static const char last_line[] = "/* functions */\n";

/* A string literal of TSDL. */
static void format_string(struct cunei_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"' || text[i] == '\\')
            cunei_buffer_append(out, "\\", 1);
        cunei_buffer_append(out, &text[i], 1);
    }
}

static void format_uuid(struct cunei_buffer *out, const uint8_t uuid[16])
{
    for (int i = 0; i < 16; i++)
        cunei_buffer_format(out, "%s%02x",
                            i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

uint64_t cunei_metadata_wall_ns(const struct cunei_metadata *metadata, uint64_t tick)
{
    unsigned __int128 ticks = (unsigned __int128)metadata->offset + tick;
    return metadata->offset_s * CUNEI_NS_PER_S +
           cunei_ticks_ns(ticks, metadata->frequency);
}

void cunei_metadata_set_clock(struct cunei_metadata *metadata, uint64_t frequency,
                              uint64_t tick, uint64_t wall_ns)
{
    uint64_t since_ns = cunei_ticks_ns(tick, frequency) + 1;
    uint64_t origin_ns = wall_ns > since_ns ? wall_ns - since_ns : 0;

    metadata->frequency = frequency;
    metadata->offset_s = origin_ns / CUNEI_NS_PER_S;
    metadata->offset = (uint64_t)((unsigned __int128)(origin_ns % CUNEI_NS_PER_S) *
                                  frequency / CUNEI_NS_PER_S);
}

static const char clock_format[] = "  freq = %-20" PRIu64 ";\n  offset_s = %-20" PRIu64
                                   ";\n  offset = %-20" PRIu64 ";\n";

void cunei_metadata_format_clock(const struct cunei_metadata *metadata,
                                 char text[CUNEI_METADATA_CLOCK_SIZE + 1])
{
    (void)snprintf(text, CUNEI_METADATA_CLOCK_SIZE + 1, clock_format,
                   metadata->frequency, metadata->offset_s, metadata->offset);
}

/* The classes of near lines; their names are the distance from the last `line`. */
static void format_near(struct cunei_buffer *out)
{
    for (uint32_t i = 0; i < CUNEI_NEAR_COUNT; i++)
        cunei_buffer_format(
            out, "event { name = \"line%+d\"; id = %" PRIu32 "; stream_id = %d; };\n",
            (int)i - (int)CUNEI_NEAR_ABOVE, CUNEI_NEAR_FIRST + i, CUNEI_STREAM_EVENTS);
}

static void format_class(struct cunei_buffer *out, uint32_t number)
{
    const struct cunei_event_class *class = cunei_event_class(number);
    const char *length = NULL; /* the field before an array */

    cunei_buffer_format(out,
                        "event { name = \"%s\"; id = %" PRIu32
                        "; stream_id = %d; fields := struct {",
                        class->name, number, class->stream);
    for (const struct cunei_field *field = class->fields; field->name; field++) {
        const char *type = field->kind == CUNEI_FIELD_SIGNED ? "int64_t"
                           : field->kind == CUNEI_FIELD_TEXT ? "text_t"
                           : field->size == sizeof(uint64_t) ? "uint64_t"
                                                             : "uint32_t";
        bool is_array = cunei_field_is_array(field);
        /* At the start of each process: printf took 130 000 instructions more. */
        const char *const parts[] = {" ",
                                     type,
                                     " ",
                                     field->name,
                                     is_array ? "[" : "",
                                     is_array ? length : "",
                                     is_array ? "];" : ";"};
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
            cunei_buffer_append_text(out, parts[i]);
        length = field->name;
    }
    cunei_buffer_append_text(out, " }; };\n");
}

void cunei_metadata_format(const struct cunei_metadata *metadata,
                           struct cunei_buffer *out)
{
    char clock[CUNEI_METADATA_CLOCK_SIZE + 1];
    cunei_metadata_format_clock(metadata, clock);

    cunei_buffer_format(out, "%s%d */\n%s", opening, CUNEI_WIRE_VERSION, types);
    cunei_buffer_append_text(
        out, "trace {\n  major = 1;\n  minor = 8;\n  byte_order = le;\n  uuid = \"");
    format_uuid(out, metadata->uuid);
    cunei_buffer_append_text(out, "\";\n  packet.header := struct {\n"
                                  "    uint32_t magic;\n    uint8_t uuid[16];\n"
                                  "    uint32_t stream_id;\n"
                                  "    uint64_t stream_instance_id;\n  };\n};\n"
                                  "env {\n  hostname = \"");
    format_string(out, metadata->host, strlen(metadata->host));
    cunei_buffer_format(out,
                        "\";\n  vpid = %" PRIu32 ";\n  procname = \"python\";\n"
                        "  tracer_name = \"cunei\";\n  tracer_major = %d;\n};\n",
                        metadata->pid, CUNEI_WIRE_VERSION);
    cunei_buffer_format(out, "clock {\n  name = \"cunei\";\n%s  absolute = true;\n};\n",
                        clock);
    cunei_buffer_append_text(out, "typealias integer { size = 64; align = 8; signed = "
                                  "false; map = clock.cunei.value; } := time_t;\n");
    for (int id = 0; id < 2; id++)
        cunei_buffer_format(out, "stream {\n  id = %d;\n%s};\n", id, context);
    for (uint32_t class = 0; class < CUNEI_CLASS_COUNT; class ++) {
        if (cunei_event_class(class))
            format_class(out, class);
    }
    if (metadata->has_lines)
        format_near(out);
    cunei_buffer_append_text(out, last_line);
}

/* What follows `key` in the preamble, or NULL. */
static const char *find_value(const char *text, size_t size, const char *key)
{
    const char *at = memmem(text, size, key, strlen(key));
    return at ? at + strlen(key) : NULL;
}

/* A number that `text` begins with, followed by spaces and `end`. */
static int parse_number(const char *text, char end, uint64_t max, uint64_t *number)
{
    char *rest = NULL;

    if (!text || text[0] < '0' || text[0] > '9')
        return -EINVAL;
    errno = 0;
    unsigned long long value = strtoull(text, &rest, 10);
    rest += strspn(rest, " ");
    if (errno != 0 || *rest != end || value > max)
        return -EINVAL;
    *number = value;
    return 0;
}

static int parse_uuid(const char *text, uint8_t uuid[16])
{
    for (int i = 0; i < 16; i++) {
        text += *text == '-';
        if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
            return -EINVAL;
        const char digits[] = {text[0], text[1], '\0'};
        uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
        text += 2;
    }
    return *text == '"' ? 0 : -EINVAL;
}

static int parse_host(const char *text, char host[CUNEI_METADATA_HOST_MAX])
{
    size_t length = 0;

    for (; *text != '"'; text++) {
        text += *text == '\\';
        if (*text == '\0' || length == CUNEI_METADATA_HOST_MAX - 1)
            return -EINVAL;
        host[length++] = *text;
    }
    host[length] = '\0';
    return 0;
}

static int parse_preamble(struct cunei_metadata *metadata, const char *text,
                          size_t size)
{
    uint64_t version = 0, pid = 0;
    const char *uuid = find_value(text, size, "uuid = \"");
    const char *host = find_value(text, size, "hostname = \"");

    if (parse_number(text + sizeof(opening) - 1, '*', INT32_MAX, &version) < 0)
        return -EINVAL;
    metadata->version = (uint32_t)version;
    if (version != CUNEI_WIRE_VERSION)
        return -EPROTO;
    if (!uuid || parse_uuid(uuid, metadata->uuid) < 0 || !host ||
        parse_host(host, metadata->host) < 0 ||
        parse_number(find_value(text, size, "vpid = "), ';', UINT32_MAX, &pid) < 0 ||
        parse_number(find_value(text, size, "freq = "), ';', UINT64_C(1) << 40,
                     &metadata->frequency) < 0 ||
        parse_number(find_value(text, size, "offset_s = "), ';', UINT64_C(1) << 33,
                     &metadata->offset_s) < 0 ||
        parse_number(find_value(text, size, "offset = "), ';', UINT64_C(1) << 40,
                     &metadata->offset) < 0)
        return -EINVAL;
    metadata->pid = (uint32_t)pid;
    return metadata->frequency >= 1000 ? 0 : -EINVAL;
}

int cunei_metadata_parse(struct cunei_metadata *metadata, const char *text, size_t size,
                         size_t *preamble_size)
{
    if (size < sizeof(opening) || memcmp(text, opening, sizeof(opening) - 1) != 0)
        return -EINVAL;
    const char *end = memmem(text, size, last_line, sizeof(last_line) - 1);
    size_t length = end ? (size_t)(end - text) : size;

    /* A copy ends in NUL, which stops every parser above. */
    char *copy = strndup(text, length);
    if (!copy)
        return -ENOMEM;
    struct cunei_metadata parsed = {0};
    int rc = parse_preamble(&parsed, copy, strlen(copy));
    free(copy);
    /* Another version may end differently: report the version before a missing end. */
    if (rc == 0 && !end)
        rc = -EINVAL;
    if (rc == -EPROTO)
        metadata->version = parsed.version;
    if (rc < 0)
        return rc;
    *metadata = parsed;
    *preamble_size = length + sizeof(last_line) - 1;
    return 0;
}

int cunei_metadata_find_clock(const char *text, size_t size, size_t *offset)
{
    static const char before[] = "clock {\n  name = \"cunei\";\n";
    const char *at = memmem(text, size, before, sizeof(before) - 1);

    if (!at ||
        size - (size_t)(at - text) - (sizeof(before) - 1) < CUNEI_METADATA_CLOCK_SIZE)
        return -EINVAL;
    *offset = (size_t)(at - text) + sizeof(before) - 1;
    return 0;
}

/* The name of an event: `module:qualname (file:line)`, and whether it is escaped. */
static bool format_name(const struct cunei_function *function,
                        struct cunei_buffer *name, size_t lengths[3])
{
    const char *parts[] = {function->module, function->qualname, function->file};
    static const char *const after[] = {":", " (", ":"};
    bool escaped = false;

    for (size_t i = 0; i < 3; i++)
        escaped |= !cunei_text_is_safe(parts[i], strlen(parts[i]));
    for (size_t i = 0; i < 3; i++) {
        size_t start = name->size;
        if (escaped)
            cunei_text_escape(name, parts[i], strlen(parts[i]));
        else
            cunei_buffer_append_text(name, parts[i]);
        lengths[i] = name->size - start;
        cunei_buffer_append_text(name, after[i]);
    }
    cunei_buffer_format(name, "%" PRIu32 ")", function->line);
    return escaped;
}

void cunei_metadata_format_name(const struct cunei_function *function,
                                struct cunei_buffer *out)
{
    size_t lengths[3];
    (void)format_name(function, out, lengths);
}

/* The reverse, in place: parts of these lengths within `name`. */
static int parse_name(struct cunei_function *function, char *name, size_t size,
                      const uint64_t lengths[3], bool escaped)
{
    char *parts[3];
    uint64_t line = 0;
    static const size_t gaps[] = {1, 2, 1};

    for (size_t i = 0; i < 3; i++) {
        if (size < lengths[i] + gaps[i])
            return -EINVAL;
        parts[i] = name;
        name += lengths[i] + gaps[i];
        size -= lengths[i] + gaps[i];
    }
    if (parts[1][-1] != ':' || parts[2][-2] != ' ' || parts[2][-1] != '(' ||
        name[-1] != ':' || parse_number(name, ')', UINT32_MAX, &line) < 0)
        return -EINVAL;
    for (size_t i = 0; i < 3; i++) {
        size_t length = lengths[i];
        if (escaped)
            length = cunei_text_unescape(parts[i], length);
        parts[i][length] = '\0';
    }
    function->module = parts[0];
    function->qualname = parts[1];
    function->file = parts[2];
    function->line = (uint32_t)line;
    return 0;
}

void cunei_metadata_format_function(const struct cunei_function *function,
                                    struct cunei_buffer *out)
{
    struct cunei_buffer name = {0};
    size_t lengths[3];

    bool escaped = format_name(function, &name, lengths);
    cunei_buffer_append_text(out, "event { name = \"");
    if (!name.failed)
        format_string(out, name.data, name.size);
    cunei_buffer_format(out, "\"; id = %" PRIu32 "; stream_id = 0; }; /* %zu %zu %zu%s",
                        function->id, lengths[0], lengths[1], lengths[2],
                        escaped ? " e" : "");
    if (function->source)
        cunei_buffer_format(out, " s%" PRIu64, function->source);
    cunei_buffer_append_text(out, " */\n");
    out->failed |= name.failed;
    cunei_buffer_fini(&name);
}

/* Step over `words`, if they are next. */
static bool take(const char **text, const char *words)
{
    size_t length = strlen(words);

    if (strncmp(*text, words, length) != 0)
        return false;
    *text += length;
    return true;
}

/* Step over a number, if one is next. */
static bool take_number(const char **text, uint64_t *number)
{
    char *end = NULL;

    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

int cunei_metadata_parse_function(struct cunei_function *function, char *line,
                                  size_t size)
{
    static const char before[] = "event { name = \"";
    uint64_t lengths[3], id = 0, source = 0;
    size_t name_size = 0, at = sizeof(before) - 1;

    if (size > 0 && line[size - 1] == '\n')
        size--;
    if (size < sizeof(before) || memcmp(line, before, sizeof(before) - 1) != 0 ||
        memchr(line, '\0', size))
        return -EINVAL;

    char *name = line + at;
    for (; at < size && line[at] != '"'; at++) {
        at += line[at] == '\\' && at + 1 < size;
        name[name_size++] = line[at];
    }
    if (at == size)
        return -EINVAL;

    /* What is left is short and plain: a NUL-terminated copy can be scanned safely. */
    char rest[160] = {0};
    if (size - at >= sizeof(rest))
        return -EINVAL;
    memcpy(rest, line + at, size - at);
    const char *next = rest;
    bool is_whole = take(&next, "\"; id = ") && take_number(&next, &id) &&
                    take(&next, "; stream_id = 0; }; /*");
    for (size_t i = 0; i < 3; i++)
        is_whole = is_whole && take(&next, " ") && take_number(&next, &lengths[i]);
    bool escaped = is_whole && take(&next, " e");
    if (is_whole && take(&next, " s"))
        is_whole = take_number(&next, &source);
    if (!is_whole || !take(&next, " */") || id < CUNEI_FUNCTION_FIRST ||
        id >= CUNEI_FUNCTION_END)
        return -EINVAL;
    for (size_t i = 0; i < 3; i++) {
        if (lengths[i] > name_size)
            return -EINVAL;
    }
    /* The quote itself has been read: its place ends the name for parse_number. */
    name[name_size] = '\0';
    function->id = (uint32_t)id;
    function->source = source;
    return parse_name(function, name, name_size, lengths, escaped);
}

void cunei_metadata_format_define(const struct cunei_function *function, uint64_t time,
                                  struct cunei_buffer *out)
{
    static const char zeros[8] = {0};
    struct cunei_buffer name = {0};
    size_t lengths[3];

    bool escaped = format_name(function, &name, lengths);
    size_t padding = 8 - name.size % 8;
    struct cunei_define define = {
        .record = cunei_record(time, CUNEI_CLASS_DEFINE,
                               escaped ? CUNEI_DEFINE_ESCAPED : CUNEI_DEFINE_PLAIN),
        .function = function->id,
        .line = function->line,
        .module_length = (uint32_t)lengths[0],
        .qualname_length = (uint32_t)lengths[1],
        .file_length = (uint32_t)lengths[2],
        .length = (uint32_t)(name.size + padding),
    };
    cunei_buffer_append(out, &define, sizeof(define));
    cunei_buffer_append(out, name.data, name.size);
    cunei_buffer_append(out, zeros, padding);
    out->failed |= name.failed;
    cunei_buffer_fini(&name);
}

int cunei_metadata_parse_define(struct cunei_function *function, char *event,
                                size_t size)
{
    struct cunei_define define;

    if (size < sizeof(define))
        return -EINVAL;
    memcpy(&define, event, sizeof(define));
    if (cunei_record_class(define.record) != CUNEI_CLASS_DEFINE ||
        define.length > size - sizeof(define) || define.length % 8 != 0 ||
        define.length == 0 || define.function < CUNEI_FUNCTION_CLASS_END ||
        define.function >= CUNEI_FUNCTION_END)
        return -EINVAL;

    char *text = event + sizeof(define);
    const uint64_t lengths[] = {define.module_length, define.qualname_length,
                                define.file_length};
    if (text[define.length - 1] != '\0')
        return -EINVAL;
    int rc = parse_name(function, text, strlen(text), lengths,
                        (define.record >> CUNEI_PHASE_SHIFT) == CUNEI_DEFINE_ESCAPED);
    if (rc < 0)
        return rc;
    if (function->line != define.line)
        return -EINVAL;
    function->id = define.function;
    function->source = 0;
    return (int)(sizeof(define) + define.length);
}
