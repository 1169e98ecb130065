// SPDX-License-Identifier: MIT
#include "trace/source_code/zip_member.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUNEI_HAS_ZLIB
#define ZLIB_CONST /* of the input */
#include <zlib.h>
#endif

/* Sizes of the three headers, without the names and comments that follow. */
enum {
    END_SIZE = 22,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT_MAX = 65535,
};

enum method {
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
};

struct archive {
    const unsigned char *bytes;
    size_t size;
    size_t entries, entries_end; /* the table of members */
    size_t shift;                /* of all offsets: a #! line may stand before it */
};

struct member {
    bool is_encrypted;
    uint32_t method, packed_size, size;
    size_t header; /* its offset */
};

static uint32_t read_16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t read_32(const unsigned char *at)
{
    return read_16(at) | read_16(at + 2) << 16;
}

/* Whether `size` bytes are at `offset`, and begin with PK and these two. */
static bool is_header(const struct archive *archive, size_t offset, size_t size,
                      const char *kind)
{
    return offset <= archive->size && size <= archive->size - offset &&
           memcmp(archive->bytes + offset, "PK", 2) == 0 &&
           memcmp(archive->bytes + offset + 2, kind, 2) == 0;
}

/* The table of members is named at the end of the archive, before its comment. */
static int find_entries(struct archive *archive)
{
    if (archive->size < END_SIZE)
        return -EBADMSG;
    size_t last = archive->size - END_SIZE, end = last;
    while (!is_header(archive, end, END_SIZE, "\5\6")) {
        if (end == 0 || last - end == COMMENT_MAX)
            return -EBADMSG;
        end--;
    }
    size_t size = read_32(archive->bytes + end + 12);
    size_t offset = read_32(archive->bytes + end + 16);
    if (size > end || offset > end - size)
        return -EBADMSG;
    archive->entries = end - size;
    archive->entries_end = end;
    archive->shift = end - size - offset;
    return 0;
}

static int find_member(const struct archive *archive, const char *name,
                       struct member *member)
{
    const size_t length = strlen(name);
    size_t at = archive->entries;

    while (at < archive->entries_end) {
        const unsigned char *entry = archive->bytes + at;
        if (!is_header(archive, at, ENTRY_SIZE, "\1\2"))
            return -EBADMSG;
        size_t name_size = read_16(entry + 28);
        size_t rest = name_size + read_16(entry + 30) + read_16(entry + 32);
        at += ENTRY_SIZE;
        if (rest > archive->size - at)
            return -EBADMSG;
        at += rest;
        if (name_size != length || memcmp(entry + ENTRY_SIZE, name, length) != 0)
            continue;
        *member = (struct member){
            .is_encrypted = entry[8] & 1,
            .method = read_16(entry + 10),
            .packed_size = read_32(entry + 20),
            .size = read_32(entry + 24),
            .header = archive->shift + read_32(entry + 42),
        };
        return 0;
    }
    return -ENOENT;
}

/* The bytes of a member, behind a header of its own. */
static const unsigned char *find_data(const struct archive *archive,
                                      const struct member *member)
{
    if (!is_header(archive, member->header, LOCAL_SIZE, "\3\4"))
        return NULL;
    const unsigned char *header = archive->bytes + member->header;
    size_t offset =
        member->header + LOCAL_SIZE + read_16(header + 26) + read_16(header + 28);
    return offset <= archive->size && member->packed_size <= archive->size - offset
               ? archive->bytes + offset
               : NULL;
}

#ifdef CUNEI_HAS_ZLIB
static int inflate_all(const unsigned char *data, const struct member *member,
                       unsigned char *text)
{
    z_stream stream = {
        .next_in = data,
        .avail_in = member->packed_size,
        .avail_out = member->size,
    };

    stream.next_out = text;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) /* without a header of zlib */
        return -ENOMEM;
    int rc = inflate(&stream, Z_FINISH);
    (void)inflateEnd(&stream);
    return rc == Z_STREAM_END && stream.avail_out == 0 ? 0 : -EBADMSG;
}
#endif

static int unpack(const unsigned char *data, const struct member *member, char *text)
{
    if (member->is_encrypted)
        return -ENOTSUP;
    if (member->method == METHOD_STORED) {
        if (member->packed_size != member->size)
            return -EBADMSG;
        memcpy(text, data, member->size);
        return 0;
    }
#ifdef CUNEI_HAS_ZLIB
    if (member->method == METHOD_DEFLATED)
        return inflate_all(data, member, (unsigned char *)text);
#endif
    return -ENOTSUP;
}

int cunei_zip_member_read(const char *zip, size_t zip_size, const char *name,
                          size_t max, char **text, size_t *size)
{
    struct archive archive = {.bytes = (const unsigned char *)zip, .size = zip_size};
    struct member member = {0};

    int rc = find_entries(&archive);
    if (rc == 0)
        rc = find_member(&archive, name, &member);
    if (rc < 0)
        return rc;
    if (member.size > max)
        return -EFBIG;
    const unsigned char *data = find_data(&archive, &member);
    if (!data)
        return -EBADMSG;
    char *memory = malloc((size_t)member.size + 1);
    rc = memory ? unpack(data, &member, memory) : -ENOMEM;
    if (rc < 0) {
        free(memory);
        return rc;
    }
    memory[member.size] = '\0';
    *text = memory;
    *size = member.size;
    return 0;
}
