// SPDX-License-Identifier: MIT
#include "trace/follow/follow_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/directory/functions.h"
#include "trace/directory/trace.h"
#include "trace/live/live.h"
#include "trace/packet/packet_scan.h"

static void drop_live(struct cunei_follow_stream *follow)
{
    for (unsigned i = 0; i < 2; i++) {
        free(follow->live[i].words);
        follow->live[i].words = NULL;
    }
    follow->live_count = 0;
    cunei_trace_packets_fini(&follow->queue);
}

void cunei_follow_stream_fini(struct cunei_follow_stream *follow)
{
    drop_live(follow);
    *follow = (struct cunei_follow_stream){0};
}

/* The lowest sequence number that is not handed out as a whole. */
static uint64_t next_sequence(const struct cunei_follow_stream *follow)
{
    if (follow->is_open)
        return follow->head.sequence;
    return follow->has_last ? follow->last_sequence + 1 : 0;
}

/* A packet's head in a live buffer has an end once its thread has closed it. */
static bool is_closed(const struct cunei_packet *head)
{
    return head->timestamp_end - head->timestamp_begin != CUNEI_PACKET_OPEN_SPAN;
}

/* Find the whole packets in the file before the one with number `limit`, which may be
 * under way.  `*next` becomes the number behind the last of them. */
static int scan_file(struct cunei_follow_poll *poll, struct cunei_follow_stream *follow,
                     struct cunei_trace_stream *stream, uint64_t limit, uint64_t *next)
{
    struct cunei_trace_scan scan;
    bool has_class = follow->has_last || follow->is_open || poll->live->is_whole;

    int rc = cunei_trace_scan_open(&scan, cunei_follow_process_of(poll), stream);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    scan.whole = follow->offset;
    while (scan.whole < scan.size && scan.whole - follow->offset < poll->portion &&
           (rc = cunei_trace_scan_next(&scan)) != 0) {
        if (rc == -EBADMSG && !poll->is_final &&
            (*next >= limit || follow->bad_offset != scan.whole + 1)) {
            /* A packet that is being written just now is not damaged. */
            follow->bad_offset = scan.whole + 1;
            break;
        }
        if (rc == -EBADMSG)
            rc = cunei_trace_scan_pass(&scan);
        else if (rc > 0) {
            *next = scan.head.sequence + 1;
            if (!has_class)
                stream->stream_class = (enum cunei_stream_class)scan.head.stream_class;
            has_class = true;
        }
        if (rc < 0)
            break;
    }
    if (poll->has_ring && stream->stream_class == CUNEI_STREAM_EVENTS)
        scan.whole = follow->offset; /* what an interrupted recovery left */
    poll->has_more |= scan.whole - follow->offset >= poll->portion;
    stream->size = scan.whole;
    cunei_trace_scan_close(&scan);
    return rc == -EBADMSG || rc > 0 ? 0 : rc;
}

/* Whether the packets are one, of which `now` was read later. */
static bool is_same(const struct cunei_packet *before, const struct cunei_packet *now)
{
    return before->sequence == now->sequence &&
           before->timestamp_begin == now->timestamp_begin &&
           before->content_bits <= now->content_bits;
}

static int copy_words(struct cunei_follow_poll *poll,
                      struct cunei_follow_stream *follow,
                      const struct cunei_packet *head)
{
    struct cunei_follow_words *copy = &follow->live[follow->live_count];
    bool is_continued = follow->is_open && is_same(&follow->head, head);
    size_t from = is_continued ? follow->word_count : 0;
    size_t all = (size_t)(head->content_bits / 64) - CUNEI_PACKET_WORDS;

    /* One that was emptied for want of space is shorter than what was handed out. */
    if (follow->is_open && !is_continued && head->sequence == follow->head.sequence)
        return 0;
    if (all == from && !poll->is_final)
        return 0;
    uint64_t *words = malloc((all - from + 1) * sizeof(*words));
    if (!words)
        return -ENOMEM;
    int rc = cunei_trace_live_words(poll->live, head, from, words);
    if (rc < 0) {
        free(words);
        return rc == -EAGAIN ? 0 : rc;
    }
    poll->gathered += (all - from) * sizeof(*words);
    memcpy(&copy->head, head, sizeof(*head));
    copy->words = words;
    copy->count = all - from;
    follow->live_count++;
    return 0;
}

/* Copy live packets from number `next` on. */
static int copy_live(struct cunei_follow_poll *poll, struct cunei_follow_stream *follow,
                     const struct cunei_packet *heads, unsigned count, uint64_t next)
{
    int rc = 0;

    while (count > 0 && heads->sequence < next) {
        heads++;
        count--;
    }
    if (poll->has_ring && !poll->is_final) {
        /* Its thread has put it into the ring, or dropped it, before it began the next.
         */
        while (count > 1 && is_closed(heads)) {
            heads++;
            count--;
        }
        if (count > 0 && is_closed(heads))
            return 0;
    }
    /* The second one follows when the first one is in the file. */
    if (count > 1 && !poll->is_final)
        count = 1;
    for (unsigned i = 0; rc == 0 && i < count; i++)
        rc = copy_words(poll, follow, &heads[i]);
    return rc;
}

/*
 * The live packets: those that wait for the file are copied, of the others there are
 * heads.  A ring has no queue.  Returns the number of heads.
 */
static int look(struct cunei_follow_poll *poll, struct cunei_follow_stream *follow,
                const struct cunei_trace_stream *stream, struct cunei_packet heads[2])
{
    const uint32_t number = (uint32_t)stream->number;

    if (!poll->live->is_whole || stream->number >= poll->live->stream_count)
        return 0;
    if (poll->has_ring)
        return cunei_trace_live_heads(poll->live, number, heads);
    int count = cunei_trace_live_look(poll->live, number, next_sequence(follow),
                                      &follow->queue, heads);
    for (size_t i = 0; i < follow->queue.count; i++)
        poll->gathered += (size_t)(follow->queue.items[i]->content_bits / 8);
    return count;
}

int cunei_follow_stream_gather(struct cunei_follow_poll *poll,
                               struct cunei_follow_stream *follow,
                               struct cunei_trace_stream *stream)
{
    uint64_t next = next_sequence(follow), limit = UINT64_MAX;
    const struct cunei_trace_packets *queue = &follow->queue;
    struct cunei_packet heads[2];
    int rc = 0;

    drop_live(follow);
    int count = look(poll, follow, stream, heads);
    if (count < 0)
        return count;
    bool needs_file = poll->is_final || count == 0;
    for (int i = count; i > 0; i--) {
        if (heads[i - 1].sequence < next)
            continue;
        limit = heads[i - 1].sequence;
        needs_file |= limit > next || is_closed(&heads[i - 1]);
    }
    if (queue->count > 0) {
        limit = queue->items[0]->sequence;
        needs_file = poll->is_final || limit > next;
    }
    bool is_in_ring = poll->has_ring && poll->live->is_whole &&
                      stream->stream_class == CUNEI_STREAM_EVENTS;
    if (needs_file && !is_in_ring)
        rc = scan_file(poll, follow, stream, limit, &next);
    if (rc < 0 || stream->size - follow->offset >= poll->portion) {
        cunei_trace_packets_fini(&follow->queue);
        return rc;
    }
    return copy_live(poll, follow, heads, (unsigned)count, next);
}

/* The first damage of a stream is noted. */
static int note_damage(struct cunei_follow_poll *poll,
                       struct cunei_follow_stream *follow,
                       const struct cunei_trace_error *error)
{
    if (follow->has_damage)
        return 0;
    follow->has_damage = true;
    return cunei_trace_add_damage(
        poll->trace, cunei_trace_folder(cunei_follow_process_of(poll)), error);
}

static int note(struct cunei_follow_poll *poll, struct cunei_follow_stream *follow,
                const struct cunei_trace_stream *stream, const char *wrong)
{
    struct cunei_trace_error error;

    (void)cunei_trace_fail(&error, -EBADMSG, "'%s' is damaged: %s", stream->path,
                           wrong);
    return note_damage(poll, follow, &error);
}

/* Definitions are taken in before they are handed out. */
static int hand_part(struct cunei_follow_poll *poll, struct cunei_trace_part *part)
{
    int rc = 0;

    part->process = poll->index;
    poll->handed += part->word_count;
    if (part->stream->stream_class == CUNEI_STREAM_DEFINITIONS && part->word_count > 0)
        rc = cunei_trace_functions_define(cunei_follow_process_of(poll), part->words,
                                          part->word_count);
    if (rc < 0 && rc != -EBADMSG)
        return rc;
    return poll->read(poll->context, part);
}

/* The packet that was handed out in part has ended. */
static void close_open(struct cunei_follow_stream *follow,
                       const struct cunei_packet *head)
{
    follow->is_open = follow->is_bad = false;
    follow->has_last = true;
    follow->last_sequence = head->sequence;
    follow->last_end = head->timestamp_end;
    follow->last_discarded = head->events_discarded;
}

/* Packets between the last one and this one, which the recorder has not dropped. */
static void count_missed(struct cunei_follow_poll *poll,
                         const struct cunei_follow_stream *follow,
                         const struct cunei_packet *head)
{
    if (poll->has_ring && follow->has_last &&
        head->sequence > follow->last_sequence + 1 &&
        head->events_discarded == follow->last_discarded)
        poll->missed += head->sequence - follow->last_sequence - 1;
}

/* It was never written: it ends where it was read last. */
static int give_up_open(struct cunei_follow_poll *poll,
                        struct cunei_follow_stream *follow,
                        const struct cunei_trace_stream *stream)
{
    struct cunei_trace_part part = {.stream = stream,
                                    .head = &follow->head,
                                    .is_closed = true,
                                    .is_cut = poll->has_ring && !poll->is_final};

    if (!follow->is_open)
        return 0;
    poll->missed += part.is_cut;
    int rc = hand_part(poll, &part);
    close_open(follow, &follow->head);
    return rc;
}

int cunei_follow_stream_end(struct cunei_follow_poll *poll,
                            struct cunei_follow_stream *follow,
                            const struct cunei_trace_stream *stream)
{
    return give_up_open(poll, follow, stream);
}

/*
 * The packet that is open, under the same number, or under another one that it got
 * because of losses before it (rt/packet.c).
 */
static bool continues(const struct cunei_follow_stream *follow,
                      const struct cunei_packet *head)
{
    return follow->is_open && (head->sequence == follow->head.sequence ||
                               head->timestamp_begin == follow->head.timestamp_begin);
}

int cunei_follow_stream_hand_packet(struct cunei_follow_poll *poll,
                                    struct cunei_follow_stream *follow,
                                    const struct cunei_trace_stream *stream,
                                    const struct cunei_trace_packet *packet)
{
    const struct cunei_packet *head = packet->head;
    int rc = 0;

    if (follow->has_last && head->sequence <= follow->last_sequence &&
        (poll->had_ring || head->sequence < follow->queue_end))
        return 0;
    if (follow->has_last && head->sequence <= follow->last_sequence)
        return note(poll, follow, stream, "the packet's sequence number goes back");
    bool is_continued = continues(follow, head);
    /* It was emptied for want of space, or it stands in front of the open one. */
    if (is_continued && packet->word_count < follow->word_count) {
        follow->has_last = true;
        follow->last_sequence = head->sequence;
        return 0;
    }
    if (!is_continued) {
        rc = give_up_open(poll, follow, stream);
        count_missed(poll, follow, head);
    }
    if (rc < 0)
        return rc;
    size_t skip = is_continued ? follow->word_count : 0;
    struct cunei_trace_part part = {
        .stream = stream,
        .head = head,
        .is_first = !is_continued,
        .is_closed = true,
        .words = packet->words + skip,
        .word_count = packet->word_count - skip,
        .event_count = packet->event_count - (is_continued ? follow->event_count : 0),
    };
    close_open(follow, head);
    return hand_part(poll, &part);
}

/* The packets of the file up to the stream's size. */
static int hand_out_file(struct cunei_follow_poll *poll,
                         struct cunei_follow_stream *follow,
                         const struct cunei_trace_stream *stream)
{
    struct cunei_trace_packet packet;
    int rc = 0, read_rc = 0;

    if (stream->size <= follow->offset)
        return 0;
    struct cunei_trace_reader *reader = cunei_trace_reader_open(
        cunei_follow_process_of(poll), stream, follow->offset, stream->size);
    if (!reader)
        return -ENOMEM;
    while (rc == 0 && (read_rc = cunei_trace_reader_next(reader, &packet)) > 0)
        rc = cunei_follow_stream_hand_packet(poll, follow, stream, &packet);
    if (rc == 0 && read_rc < 0)
        rc = note_damage(poll, follow, cunei_trace_reader_error(reader));
    cunei_trace_reader_close(reader);
    follow->offset = stream->size;
    return rc;
}

/* A live packet that was not known before. */
static const char *begin_packet(struct cunei_follow_stream *follow,
                                const struct cunei_trace_stream *stream,
                                const struct cunei_packet *head)
{
    if (head->stream_class != stream->stream_class)
        return "the packet has another stream class than those before it";
    const char *wrong =
        follow->has_last
            ? cunei_trace_check_order(head, follow->last_sequence, follow->last_end)
            : NULL;
    if (!wrong) {
        follow->is_open = true;
        follow->is_bad = false;
        follow->checked = (struct cunei_trace_checked){0};
        follow->word_count = follow->event_count = 0;
    }
    return wrong;
}

/* Hand out what is in order of the new words of the open packet. */
static int hand_words(struct cunei_follow_poll *poll,
                      struct cunei_follow_stream *follow,
                      const struct cunei_trace_stream *stream,
                      const struct cunei_follow_words *copy)
{
    struct cunei_trace_events events = {.last_time = follow->checked.last_time};
    int rc = 0;

    if (!follow->is_bad)
        events = cunei_trace_check_part(cunei_follow_process_of(poll), &copy->head,
                                        &follow->checked, copy->words, copy->count);
    if (events.wrong) {
        follow->is_bad = true;
        rc = note(poll, follow, stream, events.wrong);
    }
    bool is_whole = events.announcing == 0 || poll->is_final || events.wrong;
    memcpy(&follow->head, &copy->head, sizeof(copy->head));
    if (poll->is_final &&
        (!is_closed(&copy->head) || copy->head.timestamp_end < events.last_time))
        follow->head.timestamp_end = events.last_time;
    struct cunei_trace_part part = {
        .stream = stream,
        .head = &follow->head,
        .is_first = follow->word_count == 0,
        .is_closed = poll->is_final,
        .words = copy->words,
        .word_count = events.word_count - (is_whole ? 0 : events.announcing),
        .event_count = events.event_count - !is_whole,
    };
    follow->word_count += part.word_count;
    follow->event_count += part.event_count;
    if (poll->is_final)
        close_open(follow, &follow->head);
    if (rc == 0 && (part.word_count > 0 || part.is_closed))
        rc = hand_part(poll, &part);
    return rc;
}

/*
 * Whether packets are missing before a live one: those may be on their way to the file,
 * unless the next poll finds the same.  A ring was read later than the live one: what
 * it does not have then was overwritten, or dropped.
 */
static bool is_doubtful(const struct cunei_follow_poll *poll,
                        struct cunei_follow_stream *follow, uint64_t sequence)
{
    uint64_t doubted = follow->doubted;

    if (poll->has_ring)
        return false;
    follow->doubted = sequence > next_sequence(follow) ? sequence + 1 : 0;
    return follow->doubted != 0 && doubted != sequence + 1 && !poll->is_final;
}

/* The packets that wait for the file; those that were in it by now are known. */
static int hand_out_queue(struct cunei_follow_poll *poll,
                          struct cunei_follow_stream *follow,
                          const struct cunei_trace_stream *stream)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < follow->queue.count; i++) {
        const struct cunei_packet *head = follow->queue.items[i];
        struct cunei_trace_packet packet = {
            .head = head, .words = (const uint64_t *)(const void *)(head + 1)};
        if (head->sequence < next_sequence(follow))
            continue;
        if (is_doubtful(poll, follow, head->sequence))
            return 0;
        struct cunei_trace_events events = cunei_trace_check_events(
            cunei_follow_process_of(poll), head, packet.words,
            (size_t)(head->content_bits / 64) - CUNEI_PACKET_WORDS);
        if (events.wrong)
            rc = note(poll, follow, stream, events.wrong);
        packet.word_count = events.word_count;
        packet.event_count = events.event_count;
        follow->queue_end = head->sequence + 1;
        if (rc == 0)
            rc = cunei_follow_stream_hand_packet(poll, follow, stream, &packet);
    }
    return rc;
}

static int hand_out_live(struct cunei_follow_poll *poll,
                         struct cunei_follow_stream *follow,
                         const struct cunei_trace_stream *stream,
                         const struct cunei_follow_words *copy)
{
    const char *wrong = NULL;
    int rc = 0;

    if (poll->has_ring && poll->has_more)
        return 0; /* packets before it are still to come */
    if (copy->head.sequence < next_sequence(follow))
        return 0; /* it has ended, and came from the queue */
    if (is_doubtful(poll, follow, copy->head.sequence))
        return 0;
    if (!follow->is_open || !is_same(&follow->head, &copy->head)) {
        rc = give_up_open(poll, follow, stream);
        count_missed(poll, follow, &copy->head);
        wrong = begin_packet(follow, stream, &copy->head);
    }
    if (rc == 0 && wrong)
        return note(poll, follow, stream, wrong);
    return rc == 0 ? hand_words(poll, follow, stream, copy) : rc;
}

int cunei_follow_stream_hand_out(struct cunei_follow_poll *poll,
                                 struct cunei_follow_stream *follow,
                                 struct cunei_trace_stream *stream)
{
    int rc = hand_out_file(poll, follow, stream);

    if (rc == 0)
        rc = hand_out_queue(poll, follow, stream);
    for (unsigned i = 0; rc == 0 && i < follow->live_count; i++)
        rc = hand_out_live(poll, follow, stream, &follow->live[i]);
    drop_live(follow);
    return rc;
}
