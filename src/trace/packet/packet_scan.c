// SPDX-License-Identifier: MIT
#include "trace/packet/packet_scan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "trace/packet/check.h"
#include "trace/process/file.h"
#include "trace/process/process.h"

int cunei_trace_scan_open(struct cunei_trace_scan *scan,
                          const struct cunei_trace_process *process,
                          const struct cunei_trace_stream *stream)
{
    *scan = (struct cunei_trace_scan){.uuid = process->metadata.uuid,
                                      .number = stream->number};
    scan->fd = cunei_trace_stream_open(process, stream, &scan->size);
    return scan->fd < 0 ? scan->fd : 0;
}

/* What a machine may not have written back when it went down; more is damage. */
#define UNWRITTEN_MAX (64u << 20)

/* A machine that went down leaves zeros where data never reached the disk. */
static bool is_zero_from(int fd, uint64_t offset, uint64_t end)
{
    char bytes[4096];

    if (end - offset > UNWRITTEN_MAX)
        return false;
    while (offset < end) {
        int64_t count = cunei_trace_file_read(fd, bytes, sizeof(bytes), offset);
        if (count <= 0)
            return count == 0;
        for (int64_t i = 0; i < count; i++) {
            if (bytes[i] != 0)
                return false;
        }
        offset += (uint64_t)count;
    }
    return true;
}

int cunei_trace_scan_next(struct cunei_trace_scan *scan)
{
    struct cunei_packet head;

    if (scan->size - scan->whole < sizeof(head))
        return 0;
    int64_t count = cunei_trace_file_read(scan->fd, &head, sizeof(head), scan->whole);
    if (count < (int64_t)sizeof(head))
        return count < 0 ? (int)count : 0;

    scan->wrong = cunei_trace_check_head(&head, scan->uuid, scan->number);
    if (scan->wrong)
        return is_zero_from(scan->fd, scan->whole, scan->size) ? 0 : -EBADMSG;
    if (head.packet_bits / 8 > scan->size - scan->whole)
        return 0;
    scan->head = head;
    scan->at = scan->whole;
    scan->whole += head.packet_bits / 8;
    return 1;
}

int cunei_trace_scan_read(const struct cunei_trace_scan *scan,
                          struct cunei_packet *packet)
{
    size_t size = (size_t)(scan->head.packet_bits / 8);

    int64_t count = cunei_trace_file_read(scan->fd, packet, size, scan->at);
    if (count < 0)
        return (int)count;
    /* The head that was checked need not be the one that was read now. */
    bool is_same = count == (int64_t)size &&
                   !cunei_trace_check_head(packet, scan->uuid, scan->number) &&
                   packet->packet_bits == scan->head.packet_bits;
    return is_same ? 0 : -EBADMSG;
}

/* Bytes that are read at a time: few at first, for what is wanted is often near. */
#define FIND_FIRST ((size_t)1 << 10)
#define FIND_MOST  ((size_t)1 << 16)

/*
 * Where the next bytes are that are not a hole, at most `end`: a file of a gigabyte can
 * be extended to a terabyte at once, and reading its zeros would take minutes.
 */
static uint64_t skip_hole(int fd, uint64_t offset, uint64_t end)
{
    off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

    if (data < 0)
        return errno == ENXIO ? end : offset;
    return (uint64_t)data < end ? (uint64_t)data : end;
}

int64_t cunei_trace_scan_find(int fd, uint64_t offset, uint64_t end,
                              const uint8_t uuid[16], uint64_t number)
{
    uint64_t words[FIND_MOST / sizeof(uint64_t)];
    size_t block = FIND_FIRST;
    struct cunei_packet head;

    while (offset < end && end - offset >= sizeof(head)) {
        uint64_t skipped = skip_hole(fd, offset, end) - offset;
        offset += skipped - skipped % sizeof(*words);
        size_t wanted = end - offset < block ? (size_t)(end - offset) : block;
        int64_t count = cunei_trace_file_read(fd, words, wanted, offset);
        if (count < (int64_t)sizeof(head))
            return count < 0 ? count : (int64_t)end;
        /* Packets are whole words, and so begin at them. */
        size_t places = ((size_t)count - sizeof(head)) / sizeof(*words) + 1;
        for (size_t i = 0; i < places; i++) {
            if ((uint32_t)words[i] != CUNEI_PACKET_MAGIC)
                continue;
            uint64_t at = offset + i * sizeof(*words);
            memcpy(&head, &words[i], sizeof(head));
            if (!cunei_trace_check_head(&head, uuid, number) &&
                head.packet_bits / 8 <= end - at)
                return (int64_t)at;
        }
        offset += places * sizeof(*words);
        block = block < FIND_MOST ? 2 * block : block;
    }
    return (int64_t)end;
}

int cunei_trace_scan_pass(struct cunei_trace_scan *scan)
{
    int64_t found = cunei_trace_scan_find(scan->fd, scan->whole + sizeof(uint64_t),
                                          scan->size, scan->uuid, scan->number);
    if (found < 0)
        return (int)found;
    scan->whole = (uint64_t)found;
    return 0;
}

void cunei_trace_scan_close(struct cunei_trace_scan *scan)
{
    if (scan->fd >= 0)
        close(scan->fd);
    scan->fd = -1;
}
