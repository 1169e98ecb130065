// SPDX-License-Identifier: MIT
#include "trace/live/recorded_words.h"

#include <stdlib.h>

#include "trace/live/live.h"
#include "trace/process/process.h"

/* The words in a slot's newest packet; those before it are counted as written. */
static uint64_t newest_words(const struct cunei_trace_live *live, uint32_t number)
{
    struct cunei_trace_packets packets = {0};
    uint64_t words = 0;

    if (cunei_trace_live_copy(live, number, &packets) < 0)
        return 0;
    if (packets.count > 0)
        words = packets.items[packets.count - 1]->content_bits / 64;
    cunei_trace_packets_fini(&packets);
    return words;
}

uint64_t cunei_trace_recorded_words(const struct cunei_trace_process *process)
{
    struct cunei_trace_live live;
    uint64_t words = 0;

    if (cunei_trace_live_open(&live, process) == 0 && live.is_whole) {
        words = live.head.counters[CUNEI_LIVE_WRITTEN] / sizeof(uint64_t);
        for (uint32_t i = 0; i < live.stream_count; i++)
            words += newest_words(&live, i);
    }
    cunei_trace_live_close(&live);
    return words;
}
