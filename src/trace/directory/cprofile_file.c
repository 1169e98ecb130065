// SPDX-License-Identifier: MIT
#include "trace/directory/cprofile_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular_file.h"
#include "base/units.h"
#include "base/vector.h"
#include "trace/directory/trace.h"

/* Profiles of large programs have some megabytes. */
#define SIZE_MAX_BYTES (UINT64_C(1) << 30)
#define DEPTH_MAX      16
#define REF_FLAG       0x80u
#define LONG_SHIFT     15

enum kind {
    KIND_END, /* of a dictionary */
    KIND_OTHER,
    KIND_NUMBER,
    KIND_REAL,
    KIND_TEXT,
    KIND_LIST, /* a tuple, or a dictionary with its keys and values by turns */
    KIND_OPEN, /* one that is not yet read */
};

struct value {
    enum kind kind;
    union {
        uint64_t number;
        double real;
        char *text;
        uint32_t first; /* of a list: in `links` */
    };
    uint32_t count; /* of a list; bytes of a text */
};

/* A value takes at least a byte, so that there are never more than bytes. */
struct parser {
    char *at;
    const char *end;
    struct value *values; /* owned, as the next two */
    uint32_t value_count, value_capacity;
    uint32_t *links; /* values of lists, side by side */
    uint32_t link_count, link_capacity;
    uint32_t *refs;
    uint32_t ref_count, ref_capacity;
    unsigned depth;
};

static bool take(struct parser *parser, void *to, size_t size)
{
    if ((size_t)(parser->end - parser->at) < size)
        return false;
    memcpy(to, parser->at, size);
    parser->at += size;
    return true;
}

static int32_t sign_extend(uint32_t bits)
{
    int32_t number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* Digits of 15 bits; a negative or larger number is not a count. */
static bool take_long(struct parser *parser, uint64_t *number)
{
    uint32_t size;
    uint16_t digit;

    *number = 0;
    if (!take(parser, &size, sizeof(size)) || sign_extend(size) < 0 || size > 4)
        return false;
    for (uint32_t i = 0; i < size; i++) {
        if (!take(parser, &digit, sizeof(digit)))
            return false;
        *number |= (uint64_t)digit << (LONG_SHIFT * i);
    }
    return true;
}

static bool take_size(struct parser *parser, bool is_short, uint32_t *size)
{
    uint8_t byte;

    if (!is_short)
        return take(parser, size, sizeof(*size));
    if (!take(parser, &byte, sizeof(byte)))
        return false;
    *size = byte;
    return true;
}

/*
 * Bytes of names that are not UTF-8 are surrogates in Python, U+DC80 and up, which
 * marshal writes in three bytes each: they become what they were.  Returns the size.
 */
static uint32_t unescape(char *text, uint32_t size)
{
    unsigned char *bytes = (unsigned char *)text;
    uint32_t to = 0;

    for (uint32_t from = 0; from < size;) {
        const unsigned char *at = bytes + from;
        bool is_byte = size - from >= 3 && at[0] == 0xed &&
                       (at[1] == 0xb2 || at[1] == 0xb3) && at[2] >= 0x80 &&
                       at[2] < 0xc0;
        bytes[to++] = is_byte && at[1] == 0xb3 ? at[2] | 0x40 : is_byte ? at[2] : at[0];
        from += is_byte ? 3 : 1;
    }
    return to;
}

/* A text moves to where its size stood, which leaves room for a NUL behind it. */
static bool take_text(struct parser *parser, bool is_short, struct value *value)
{
    char *begin = parser->at - 1; /* the type's byte */
    uint32_t size;

    if (!take_size(parser, is_short, &size) ||
        (size_t)(parser->end - parser->at) < size)
        return false;
    memmove(begin, parser->at, size);
    parser->at += size;
    size = unescape(begin, size);
    begin[size] = '\0';
    *value = (struct value){.kind = KIND_TEXT, .text = begin, .count = size};
    return true;
}

static int read_value(struct parser *parser, uint32_t *index);

/* So many values, or up to the end where `count` is UINT32_MAX. */
static int read_list(struct parser *parser, uint32_t count, struct value *list)
{
    uint32_t *items = NULL, capacity = 0, index, size = 0;
    int rc = 0;

    while (size < count) {
        rc = read_value(parser, &index);
        if (rc < 0 || (parser->values[index].kind == KIND_END && count == UINT32_MAX))
            break;
        if (!CUNEI_VECTOR_RESERVE(items, capacity, size + 1)) {
            rc = -ENOMEM;
            break;
        }
        items[size++] = index;
    }
    *list =
        (struct value){.kind = KIND_LIST, .first = parser->link_count, .count = size};
    if (rc == 0 && !CUNEI_VECTOR_RESERVE(parser->links, parser->link_capacity,
                                         parser->link_count + size))
        rc = -ENOMEM;
    if (rc == 0 && size > 0) {
        memcpy(parser->links + parser->link_count, items, size * sizeof(*items));
        parser->link_count += size;
    }
    free(items);
    return rc;
}

static int read_simple(struct parser *parser, uint8_t type, struct value *value)
{
    uint32_t bits;

    switch (type) {
    case '0':
        value->kind = KIND_END;
        return 0;
    case 'N':
    case 'T':
    case 'F':
        value->kind = KIND_OTHER;
        return 0;
    case 'i':
        if (!take(parser, &bits, sizeof(bits)))
            return -EBADMSG;
        *value = (struct value){.kind = KIND_NUMBER,
                                .number = sign_extend(bits) > 0 ? bits : 0};
        return 0;
    case 'l':
        value->kind = KIND_NUMBER;
        return take_long(parser, &value->number) ? 0 : -EBADMSG;
    case 'g':
        value->kind = KIND_REAL;
        return take(parser, &value->real, sizeof(value->real)) ? 0 : -EBADMSG;
    case 's':
    case 'u':
    case 't':
    case 'a':
    case 'A':
        return take_text(parser, false, value) ? 0 : -EBADMSG;
    case 'z':
    case 'Z':
        return take_text(parser, true, value) ? 0 : -EBADMSG;
    default:
        return -EBADMSG;
    }
}

static int read_compound(struct parser *parser, uint8_t type, struct value *value)
{
    uint32_t size = UINT32_MAX;

    if (type == '{')
        return read_list(parser, size, value);
    if (!take_size(parser, type == ')', &size) ||
        size > (size_t)(parser->end - parser->at))
        return -EBADMSG;
    return read_list(parser, size, value);
}

static int read_reference(struct parser *parser, uint32_t *index)
{
    uint32_t ref;

    if (!take(parser, &ref, sizeof(ref)) || ref >= parser->ref_count ||
        parser->values[parser->refs[ref]].kind == KIND_OPEN)
        return -EBADMSG;
    *index = parser->refs[ref];
    return 0;
}

/* The next value; references are what they refer to. */
static int read_value(struct parser *parser, uint32_t *index)
{
    struct value value = {.kind = KIND_OPEN};
    uint8_t type;

    if (!take(parser, &type, sizeof(type)))
        return -EBADMSG;
    bool is_ref = type & REF_FLAG;
    type &= (uint8_t)~REF_FLAG;
    if (type == 'r')
        return read_reference(parser, index);
    if (!CUNEI_VECTOR_RESERVE(parser->values, parser->value_capacity,
                              parser->value_count + 1) ||
        (is_ref && !CUNEI_VECTOR_RESERVE(parser->refs, parser->ref_capacity,
                                         parser->ref_count + 1)))
        return -ENOMEM;
    *index = parser->value_count++;
    parser->values[*index] = value;
    if (is_ref)
        parser->refs[parser->ref_count++] = *index;
    if (type != '{' && type != '(' && type != ')') {
        int rc = read_simple(parser, type, &value);
        parser->values[*index] = value;
        return rc;
    }
    if (++parser->depth > DEPTH_MAX)
        return -EBADMSG;
    int rc = read_compound(parser, type, &value);
    parser->values[*index] = value;
    parser->depth--;
    return rc;
}

static const struct value *item(const struct parser *parser, const struct value *list,
                                uint32_t index)
{
    return &parser->values[parser->links[list->first + index]];
}

static uint64_t to_ns(const struct value *value)
{
    double ns = value->kind == KIND_REAL ? value->real * (double)CUNEI_NS_PER_S
                : value->kind == KIND_NUMBER
                    ? (double)value->number * (double)CUNEI_NS_PER_S
                    : 0;

    return ns > 0 && ns < 0x1p63 ? (uint64_t)(ns + 0.5) : 0;
}

static bool take_function(const struct parser *parser, const struct value *key,
                          const struct value *facts,
                          struct cunei_cprofile_function *function)
{
    if (key->kind != KIND_LIST || key->count != 3 || facts->kind != KIND_LIST ||
        facts->count < 4)
        return false;
    const struct value *file = item(parser, key, 0), *line = item(parser, key, 1),
                       *name = item(parser, key, 2);
    const struct value *primitive = item(parser, facts, 0),
                       *calls = item(parser, facts, 1);
    if (file->kind != KIND_TEXT || line->kind != KIND_NUMBER ||
        name->kind != KIND_TEXT || primitive->kind != KIND_NUMBER ||
        calls->kind != KIND_NUMBER)
        return false;
    *function = (struct cunei_cprofile_function){
        .file = file->text,
        .name = name->text,
        .line = line->number < UINT32_MAX ? (uint32_t)line->number : 0,
        .calls = calls->number,
        .self_ns = to_ns(item(parser, facts, 2)),
        .total_ns = to_ns(item(parser, facts, 3)),
    };
    return true;
}

static int take_functions(struct cunei_cprofile *prof, const struct parser *parser,
                          const struct value *all)
{
    if (all->kind != KIND_LIST || all->count % 2 != 0)
        return -EBADMSG;
    prof->functions = calloc(all->count / 2 + (size_t)1, sizeof(*prof->functions));
    if (!prof->functions)
        return -ENOMEM;
    for (uint32_t i = 0; i < all->count; i += 2) {
        if (!take_function(parser, item(parser, all, i), item(parser, all, i + 1),
                           &prof->functions[prof->count]))
            return -EBADMSG;
        prof->count++;
    }
    return 0;
}

int cunei_cprofile_parse(struct cunei_cprofile *prof, char *bytes, size_t size)
{
    struct parser parser = {.end = bytes + size};
    uint32_t index;

    parser.at = bytes;
    *prof = (struct cunei_cprofile){0};
    if (size == 0 || (bytes[0] & ~(char)REF_FLAG) != '{' || size > SIZE_MAX_BYTES)
        return -EBADMSG;
    int rc = read_value(&parser, &index);
    if (rc == 0)
        rc = take_functions(prof, &parser, &parser.values[index]);
    free(parser.values);
    free(parser.links);
    free(parser.refs);
    if (rc < 0) {
        free(prof->functions);
        *prof = (struct cunei_cprofile){0};
    }
    return rc;
}

int cunei_cprofile_open(struct cunei_cprofile *prof, const char *path,
                        struct cunei_trace_error *error)
{
    char *bytes = NULL;
    size_t size = 0;

    *prof = (struct cunei_cprofile){0};
    int rc = cunei_regular_file_read(path, SIZE_MAX_BYTES, &bytes, &size);
    if (rc == 0)
        rc = cunei_cprofile_parse(prof, bytes, size);
    if (rc == -EBADMSG)
        (void)snprintf(error->text, sizeof(error->text),
                       "'%s' is neither a trace nor what cProfile writes", path);
    else if (rc < 0)
        (void)snprintf(error->text, sizeof(error->text), "cannot read '%s': %s", path,
                       strerror(-rc));
    if (rc < 0)
        free(bytes);
    else
        prof->memory = bytes;
    return rc;
}

void cunei_cprofile_close(struct cunei_cprofile *prof)
{
    free(prof->functions);
    free(prof->memory);
    *prof = (struct cunei_cprofile){0};
}
