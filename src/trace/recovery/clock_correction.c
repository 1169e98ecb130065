// SPDX-License-Identifier: MIT
#include "trace/recovery/clock_correction.h"

#include <errno.h>
#include <stdbool.h>

#include "base/units.h"
#include "trace/directory/trace.h"
#include "trace/packet/packet_scan.h"

/* Pairs closer together do not improve on the calibration at the start. */
#define APART_NS CUNEI_NS_PER_S

/* A clock that is further off has another reason, such as a machine that slept. */
#define DEVIATION_MAX 100 /* at most 1 % */

struct pair {
    uint64_t tick;
    uint64_t ns;
};

struct pairs {
    bool has_any;
    struct pair first;
    struct pair last;
};

static void add_pair(struct pairs *pairs, struct pair pair)
{
    if (!pairs->has_any || pair.tick < pairs->first.tick)
        pairs->first = pair;
    if (!pairs->has_any || pair.tick > pairs->last.tick)
        pairs->last = pair;
    pairs->has_any = true;
}

static int add_stream(struct pairs *pairs, const struct cunei_trace_process *process,
                      const struct cunei_trace_stream *stream)
{
    struct cunei_trace_scan scan;

    for (size_t i = 0; i < stream->live.count; i++)
        add_pair(pairs, (struct pair){.tick = stream->live.items[i]->timestamp_begin,
                                      .ns = stream->live.items[i]->monotonic_ns});
    int rc = cunei_trace_scan_open(&scan, process, stream);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    while ((rc = cunei_trace_scan_next(&scan)) > 0)
        add_pair(pairs, (struct pair){.tick = scan.head.timestamp_begin,
                                      .ns = scan.head.monotonic_ns});
    cunei_trace_scan_close(&scan);
    return rc == -EBADMSG ? 0 : rc;
}

int cunei_trace_clock_correct(const struct cunei_trace_process *process,
                              struct cunei_metadata *metadata)
{
    struct pairs pairs = {0};
    uint64_t old = process->metadata.frequency;

    for (size_t i = 0; i < process->stream_count; i++) {
        int rc = add_stream(&pairs, process, &process->streams[i]);
        if (rc < 0)
            return rc;
    }
    uint64_t ticks = pairs.last.tick - pairs.first.tick;
    uint64_t ns = pairs.last.ns - pairs.first.ns;
    if (pairs.last.ns < pairs.first.ns || ns < APART_NS)
        return 0;
    unsigned __int128 wide = ((unsigned __int128)ticks * CUNEI_NS_PER_S + ns / 2) / ns;
    if (wide > old + old / DEVIATION_MAX || wide < old - old / DEVIATION_MAX ||
        wide == old)
        return 0;

    *metadata = process->metadata;
    cunei_metadata_set_clock(
        metadata, (uint64_t)wide, pairs.first.tick,
        cunei_metadata_wall_ns(&process->metadata, pairs.first.tick));
    return 1;
}
