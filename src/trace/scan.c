// SPDX-License-Identifier: MIT
#include "trace/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "trace/check.h"
#include "trace/file.h"

int cunei_trace_scan_open(struct cunei_trace_scan *scan, const char *path,
                          const uint8_t uuid[16], uint64_t number)
{
    *scan = (struct cunei_trace_scan){.uuid = uuid, .number = number};
    scan->fd = cunei_trace_file_open(path, O_RDONLY, &scan->size);
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

void cunei_trace_scan_close(struct cunei_trace_scan *scan)
{
    if (scan->fd >= 0)
        close(scan->fd);
    scan->fd = -1;
}
