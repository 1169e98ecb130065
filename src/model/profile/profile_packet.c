// SPDX-License-Identifier: MIT
#include "model/profile/profile_packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "model/profile/profile_stack.h"
#include "model/profile/suspended.h"
#include "model/profile/task_steps.h"

void cunei_piece_fini(struct cunei_piece *piece)
{
    for (size_t i = 0; i < piece->thread_count; i++)
        free(piece->threads[i].open);
    free(piece->threads);
    free(piece->inherited);
    free(piece->closings);
    free(piece->frames);
    cunei_suspended_fini(&piece->waits);
    cunei_steps_fini(&piece->steps);
    *piece = (struct cunei_piece){0};
}

/* Put what the piece has open into what is known of a thread. */
static int keep_open(struct cunei_thread *thread, const struct cunei_piece *piece)
{
    uint32_t count = piece->depth < CUNEI_OPEN_MAX ? piece->depth : CUNEI_OPEN_MAX;
    uint32_t *open = malloc(count * sizeof(*open));
    if (!open)
        return -ENOMEM;
    const struct cunei_frame *first = &piece->frames[piece->depth - count + 1];
    for (uint32_t i = 0; i < count; i++)
        open[i] = cunei_slot_known_function(first[i].slot);
    free(thread->open);
    thread->open = open;
    thread->open_count = count;
    thread->open_depth = piece->depth;
    return 0;
}

/* Keep what the thread leaves open, as long as it is the last one. */
int cunei_piece_finish(struct cunei_piece *piece)
{
    if (piece->thread_count == 0 || piece->depth == 0)
        return 0;
    int rc = keep_open(&piece->threads[piece->thread_count - 1], piece);
    if (rc == 0)
        piece->depth = 0;
    return rc;
}

static int copy_thread(struct cunei_thread *copy, const struct cunei_thread *thread)
{
    *copy = *thread;
    copy->open = NULL;
    if (thread->open_count == 0)
        return 0;
    copy->open = malloc(thread->open_count * sizeof(*copy->open));
    if (!copy->open)
        return -ENOMEM;
    memcpy(copy->open, thread->open, thread->open_count * sizeof(*copy->open));
    return 0;
}

static int copy_inherited(struct cunei_piece *copy, const struct cunei_piece *piece)
{
    if (piece->inherited_count == 0)
        return 0;
    copy->inherited = malloc(piece->inherited_count * sizeof(*copy->inherited));
    if (!copy->inherited)
        return -ENOMEM;
    memcpy(copy->inherited, piece->inherited,
           piece->inherited_count * sizeof(*copy->inherited));
    copy->inherited_count = piece->inherited_count;
    return 0;
}

int cunei_piece_copy(struct cunei_piece *copy, const struct cunei_piece *piece)
{
    int rc = 0;

    *copy = (struct cunei_piece){
        .packets = piece->packets, .discarded = piece->discarded, .gap = piece->gap};
    if (piece->thread_count == 0)
        return 0;
    copy->threads = calloc(piece->thread_count, sizeof(*copy->threads));
    if (!copy->threads)
        return -ENOMEM;
    copy->thread_count = piece->thread_count;
    for (size_t i = 0; rc == 0 && i < piece->thread_count; i++)
        rc = copy_thread(&copy->threads[i], &piece->threads[i]);
    if (rc == 0 && piece->depth > 0)
        rc = keep_open(&copy->threads[copy->thread_count - 1], piece);
    if (rc == 0)
        rc = copy_inherited(copy, piece);
    if (rc < 0)
        cunei_piece_fini(copy);
    return rc;
}

int cunei_piece_reserve_threads(struct cunei_piece *piece, size_t more)
{
    return CUNEI_VECTOR_RESERVE(piece->threads, piece->thread_capacity,
                                piece->thread_count + more)
               ? 0
               : -ENOMEM;
}

static int begin_thread(struct cunei_profile *profile, struct cunei_piece *piece,
                        const struct cunei_packet *packet)
{
    int rc = cunei_piece_reserve_threads(piece, 1);
    if (rc == 0 && piece->thread_count > 0) {
        cunei_profile_stack_seal(profile, piece);
        cunei_steps_seal(&profile->tasks, &piece->steps, piece->thread_count == 1,
                         piece->last);
        cunei_steps_drop(&piece->steps);
        rc = cunei_piece_finish(piece);
    }
    if (rc == 0 && !cunei_profile_stack_reserve(piece))
        rc = -ENOMEM;
    if (rc < 0)
        return rc;

    if (piece->thread_count == 1)
        piece->first_collecting = piece->collecting;
    piece->collecting = (struct cunei_gc_open_pause){0};
    piece->threads[piece->thread_count++] = (struct cunei_thread){
        .serial = packet->thread,
        .vtid = packet->vtid,
        .cpu_begin_ns = packet->cpu_begin_ns,
    };
    piece->frames[0] = (struct cunei_frame){
        .entered = CUNEI_FRAME_UNKNOWN,
        .node = cunei_profile_stack_ground(profile,
                                           &piece->threads[piece->thread_count - 1]),
    };
    piece->beyond = 0;
    piece->last = 0;
    piece->lost = false;
    piece->renewed = false;
    piece->begun = false;
    return 0;
}

/* A packet's name is cut short: whether it may be what is left of the whole. */
static bool is_cut_of(const char *name, size_t size, const char *whole)
{
    return size == cunei_text_cut(whole, strlen(whole), CUNEI_PACKET_THREAD_NAME) &&
           memcmp(name, whole, size) == 0;
}

void cunei_thread_set_name(struct cunei_thread *thread, const char *name, size_t size)
{
    if (is_cut_of(name, size, thread->name))
        return;
    memset(thread->name, 0, sizeof(thread->name));
    memcpy(thread->name, name, size);
}

/* What a packet's head says of its end. */
static void take_end(struct cunei_thread *thread, const struct cunei_packet *packet)
{
    thread->ended = packet->flags & CUNEI_PACKET_LAST;
    if (packet->cpu_end_ns > packet->cpu_begin_ns) {
        thread->cpu_end_ns = packet->cpu_end_ns;
        thread->cpu_end = packet->timestamp_end;
    }
}

int cunei_piece_begin_packet(struct cunei_profile *profile, struct cunei_piece *piece,
                             const struct cunei_packet *packet, bool has_events)
{
    bool first = piece->packets == 0;
    const struct cunei_thread *last =
        piece->thread_count ? &piece->threads[piece->thread_count - 1] : NULL;

    if (first && !has_events)
        return 0;
    bool renewed = packet->flags & CUNEI_PACKET_RENEWED;
    if (first) {
        piece->first_sequence = packet->sequence;
        piece->first_discarded = packet->events_discarded;
        piece->first_renewed = renewed;
    } else {
        piece->lost |=
            !cunei_piece_is_next(piece, packet->sequence, packet->events_discarded);
        cunei_piece_add_gap(piece, packet->sequence, packet->events_discarded);
    }
    piece->packets++;
    piece->last_sequence = packet->sequence;
    piece->discarded = packet->events_discarded;
    if (!has_events)
        return 0;

    if (!last || last->serial != packet->thread || last->vtid != packet->vtid) {
        int rc = begin_thread(profile, piece, packet);
        if (rc < 0)
            return rc;
    }
    piece->renewed |= renewed;
    struct cunei_thread *thread = &piece->threads[piece->thread_count - 1];
    cunei_thread_set_name(thread, packet->thread_name,
                          strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
    if (piece->lost) {
        piece->collecting.is_seen = true; /* whatever it was */
        piece->collecting.is_open = false;
    }
    thread->packets++;
    take_end(thread, packet);
    return 0;
}

void cunei_piece_end_packet(struct cunei_piece *piece,
                            const struct cunei_packet *packet, bool is_cut)
{
    if (piece->thread_count > 0)
        take_end(&piece->threads[piece->thread_count - 1], packet);
    /* Lost while it was written; where in it is not known. */
    piece->lost |= is_cut || packet->events_discarded != piece->discarded;
    piece->gap.missing += is_cut;
    piece->last_sequence = packet->sequence;
    piece->discarded = packet->events_discarded;
}

int cunei_profile_seal(struct cunei_profile *profile, struct cunei_piece *piece)
{
    if (piece->thread_count == 0)
        return 0;
    cunei_profile_stack_seal(profile, piece);
    cunei_steps_seal(&profile->tasks, &piece->steps, piece->thread_count == 1,
                     piece->last);
    return cunei_suspended_seal(profile->functions, profile->slot_count, &piece->waits);
}

void cunei_profile_reopen(struct cunei_profile *profile, struct cunei_piece *piece)
{
    if (piece->thread_count == 0)
        return;
    cunei_profile_stack_reopen(profile, piece);
    cunei_suspended_reopen(profile->functions, &piece->waits);
}
