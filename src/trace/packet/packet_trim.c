// SPDX-License-Identifier: MIT
#include "trace/packet/packet_trim.h"

#include "trace/packet/check.h"
#include "wire/event.h"
#include "wire/packet.h"

/* The words of the events up to `until`; those behind damage are kept with it. */
static uint64_t count_words(const struct cunei_packet *packet, uint64_t until)
{
    const uint64_t *words = (const uint64_t *)(const void *)packet + CUNEI_PACKET_WORDS;
    uint64_t count = packet->content_bits / 64 - CUNEI_PACKET_WORDS, at = 0;

    while (at < count &&
           cunei_record_time(words[at], packet->timestamp_begin) <= until) {
        uint64_t size = cunei_event_words(&words[at], count - at);
        if (size == 0)
            return count;
        at += size;
    }
    return at;
}

bool cunei_trace_packet_trim(struct cunei_packet *packet, uint64_t until)
{
    if (packet->timestamp_end <= until)
        return true;
    if (packet->timestamp_begin > until)
        return false;
    uint64_t bits = 64 * (CUNEI_PACKET_WORDS + count_words(packet, until));
    packet->content_bits = packet->packet_bits = bits;
    packet->timestamp_end = until;
    packet->flags &= ~CUNEI_PACKET_LAST;
    return true;
}
