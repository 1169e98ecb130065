// SPDX-License-Identifier: MIT
/* What has come to a ring since it was read last. */
#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "trace/live/ring.h"
#include "wire/packet.h"

/* Blocks that may be under way at a time; more than threads that write at once have. */
#define PENDING_MAX 65536u

struct reading {
    const struct cunei_trace_ring *ring;
    struct cunei_trace_ring_place *place;
    struct cunei_packet *packet;
    uint64_t left; /* bytes that are still wanted */
    bool is_final;
    int (*take)(void *context, struct cunei_packet *packet);
    void *context;
};

/* What stands at a position. */
enum found {
    WHOLE,   /* a packet begins here */
    PENDING, /* its writer has claimed it, and has not written it yet */
    NOTHING, /* it is another block of a packet, or was overwritten */
};

static enum found look_at(const struct reading *reading, uint64_t position)
{
    uint64_t blocks = reading->ring->head.block_count;
    uint64_t claim = reading->ring->table[position % blocks].claim;
    uint64_t claimed = cunei_ring_claim_position(claim);
    enum cunei_ring_state state = cunei_ring_claim_state(claim);

    if (position + blocks <= reading->ring->head.next)
        return NOTHING;
    if (claimed == position && state == CUNEI_RING_WHOLE)
        return WHOLE;
    /* A claim of the round before: the writer has only the number of the position. */
    bool is_older = claimed + blocks <= position || claim == 0;
    return !reading->is_final &&
                   (is_older || (claimed == position && state == CUNEI_RING_WRITING))
               ? PENDING
               : NOTHING;
}

static int add_pending(struct cunei_trace_ring_place *place, uint64_t position)
{
    if (place->pending_count == PENDING_MAX)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(place->pending, place->pending_capacity,
                              place->pending_count + 1))
        return -ENOMEM;
    place->pending[place->pending_count++] = position;
    return 0;
}

/* One that cannot be copied was overwritten, or its writer publishes it just now. */
static int hand_out(struct reading *reading, uint64_t position)
{
    int rc = cunei_trace_ring_copy(reading->ring, position, reading->packet);
    if (rc == 0 && !reading->is_final)
        return add_pending(reading->place, position);
    if (rc <= 0)
        return rc;
    uint64_t size = reading->packet->packet_bits / 8;
    reading->left -= size < reading->left ? size : reading->left;
    return reading->take(reading->context, reading->packet);
}

/* Of what was under way, the same thread has written nothing since: order is kept. */
static int look_again(struct reading *reading)
{
    struct cunei_trace_ring_place *place = reading->place;
    size_t count = place->pending_count;
    int rc = 0;

    place->pending_count = 0;
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        uint64_t position = place->pending[i];
        enum found found = look_at(reading, position);
        if (found == WHOLE)
            rc = hand_out(reading, position);
        else if (found == PENDING)
            rc = add_pending(place, position);
    }
    return rc;
}

static int look_on(struct reading *reading)
{
    struct cunei_trace_ring_place *place = reading->place;
    uint64_t blocks = reading->ring->head.block_count, next = reading->ring->head.next;
    int rc = 0;

    if (next > blocks && place->next < next - blocks)
        place->next = next - blocks; /* the rest is overwritten */
    while (rc >= 0 && place->next < next && reading->left > 0) {
        uint64_t position = place->next++;
        enum found found = look_at(reading, position);
        if (found == WHOLE) {
            place->next = position + cunei_trace_ring_count(reading->ring, position);
            rc = hand_out(reading, position);
        } else if (found == PENDING)
            rc = add_pending(place, position);
    }
    return rc;
}

int cunei_trace_ring_continue(struct cunei_trace_ring *ring,
                              struct cunei_trace_ring_place *place, uint64_t max,
                              bool is_final,
                              int (*take)(void *context, struct cunei_packet *packet),
                              void *context)
{
    struct reading reading = {.ring = ring,
                              .place = place,
                              .packet = malloc(CUNEI_PACKET_SIZE),
                              .left = max,
                              .is_final = is_final,
                              .take = take,
                              .context = context};

    int rc = reading.packet ? look_again(&reading) : -ENOMEM;
    if (rc >= 0)
        rc = look_on(&reading);
    free(reading.packet);
    return rc < 0 ? rc : place->next < ring->head.next;
}

void cunei_trace_ring_place_fini(struct cunei_trace_ring_place *place)
{
    free(place->pending);
    *place = (struct cunei_trace_ring_place){0};
}
