// SPDX-License-Identifier: MIT
#include "trace/packet/stream_split.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "trace/packet/check.h"
#include "trace/packet/packet_scan.h"
#include "trace/process/process.h"

static int add(uint64_t **offsets, size_t *count, uint64_t offset)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(*offsets, *count))
        return -ENOMEM;
    (*offsets)[(*count)++] = offset;
    return 0;
}

/* The next packet, if it belongs behind the last one; 0: it does not, or is none. */
static int next_in_order(struct cunei_trace_scan *scan)
{
    uint64_t at = scan->whole, sequence = scan->head.sequence;
    uint64_t end = scan->head.timestamp_end;
    int rc = cunei_trace_scan_next(scan);

    if (rc > 0 && at > 0 && cunei_trace_check_order(&scan->head, sequence, end))
        return 0;
    return rc;
}

int cunei_trace_split(const struct cunei_trace_process *process,
                      const struct cunei_trace_stream *stream, uint64_t target_bytes,
                      uint64_t **offsets, size_t *count)
{
    struct cunei_trace_scan scan;
    uint64_t *found = NULL;
    size_t found_count = 0;

    int rc = add(&found, &found_count, 0);
    if (rc < 0)
        return rc;
    if (stream->size > target_bytes) {
        rc = cunei_trace_scan_open(&scan, process, stream);
        if (rc < 0) {
            free(found);
            return rc;
        }
        if (scan.size > stream->size)
            scan.size = stream->size;
        while ((rc = next_in_order(&scan)) > 0) {
            if (scan.at - found[found_count - 1] < target_bytes ||
                scan.at == found[found_count - 1])
                continue;
            rc = add(&found, &found_count, scan.at);
            if (rc < 0)
                break;
        }
        cunei_trace_scan_close(&scan);
    }
    if (rc == -ENOMEM) {
        free(found);
        return rc;
    }
    *offsets = found;
    *count = found_count;
    return 0;
}
