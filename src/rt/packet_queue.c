// SPDX-License-Identifier: MIT
#include "rt/packet_queue.h"

#include <stdio.h>
#include <string.h>

#include "rt/packet_store.h"
#include "rt/state.h"

/* What is larger costs more to copy than to write. */
#define QUEUED_MAX (CUNEI_PACKET_SIZE / 8)

static char *queue_of(const struct cunei_slot *slot)
{
    return (char *)slot->buffers + (size_t)(slot->current ^ 1) * CUNEI_PACKET_SIZE;
}

/* The place for one more packet, which is the end of the queue until it is there. */
static struct cunei_packet *place_at(const struct cunei_slot *slot, uint64_t offset)
{
    return (void *)(queue_of(slot) + offset);
}

bool cunei_packet_queue_add(struct cunei_recorder_state *recording,
                            struct cunei_slot *slot, const struct cunei_packet *packet)
{
    uint64_t size = packet->packet_bits / 8;
    uint64_t end = slot->queued + size;
    struct cunei_packet head;

    /* There is always room for the magic of a packet that does not exist. */
    if (size > QUEUED_MAX || end > CUNEI_PACKET_SIZE - sizeof(uint64_t))
        return false;
    memcpy(&head, packet, sizeof(head));
    head.magic = 0;
    cunei_packet_invalidate(place_at(slot, slot->queued));
    cunei_packet_invalidate(place_at(slot, end));
    cunei_packet_store(place_at(slot, slot->queued), &head, packet + 1,
                       (size_t)(size / sizeof(uint64_t)) - CUNEI_PACKET_HEAD_WORDS);
    slot->queued = (uint32_t)end;
    cunei_recorder_count(recording, CUNEI_LIVE_WRITTEN, size);
    return true;
}

/* A reader that is looking at one of its packets must not take it for a later one. */
static void clear(struct cunei_slot *slot)
{
    for (uint64_t at = 0, size = 1; at < slot->queued && size > 0; at += size) {
        struct cunei_packet *packet = place_at(slot, at);
        size = packet->packet_bits / 8;
        cunei_packet_invalidate(packet);
    }
    slot->queued = 0;
}

void cunei_packet_queue_name_file(const struct cunei_slot *slot, char name[16])
{
    (void)snprintf(name, 16, "s%u", slot->number);
}

int cunei_packet_queue_write(struct cunei_recorder_state *recording,
                             struct cunei_slot *slot)
{
    char name[16];

    if (slot->queued == 0)
        return 0;
    cunei_packet_queue_name_file(slot, name);
    int rc = cunei_file_append(&recording->folder, name, queue_of(slot), slot->queued,
                               &slot->end);
    if (rc == 0)
        clear(slot);
    return rc;
}
