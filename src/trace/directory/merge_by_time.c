// SPDX-License-Identifier: MIT
#include "trace/directory/merge_by_time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

/* One stream, and where it stands. */
struct cunei_trace_cursor {
    const struct cunei_trace_process *process; /* borrowed, as its stream */
    const struct cunei_trace_stream *stream;
    struct cunei_trace_reader *reader; /* owned; NULL: it has no more events */
    struct cunei_trace_packet packet;
    size_t at;                    /* word of the event */
    uint64_t time_ns;             /* of the event */
    struct cunei_line line, near; /* the last one in full, and one that was not */
};

/* Streams stand in the order of process and number, which decides between equals. */
static bool is_before(const struct cunei_trace_cursor *a,
                      const struct cunei_trace_cursor *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a < b;
}

static void sift_down(struct cunei_trace_merge *merge, size_t index)
{
    struct cunei_trace_cursor **heap = merge->heap;
    struct cunei_trace_cursor *moved = heap[index];

    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= merge->heap_count)
            break;
        if (child + 1 < merge->heap_count && is_before(heap[child + 1], heap[child]))
            child++;
        if (!is_before(heap[child], moved))
            break;
        heap[index] = heap[child];
        index = child;
    }
    heap[index] = moved;
}

static void read_time(struct cunei_trace_cursor *cursor)
{
    uint64_t tick = cunei_record_time(cursor->packet.words[cursor->at],
                                      cursor->packet.head->timestamp_begin);
    cursor->time_ns = cunei_metadata_wall_ns(&cursor->process->metadata, tick);
}

static bool is_wanted(struct cunei_trace_merge *merge,
                      const struct cunei_packet *packet)
{
    char name[CUNEI_PACKET_THREAD_NAME + 1] = "";
    char tid[16];

    memcpy(name, packet->thread_name, CUNEI_PACKET_THREAD_NAME);
    (void)snprintf(tid, sizeof(tid), "%" PRIu32, packet->vtid);
    bool is_wanted = !merge->thread || strcmp(merge->thread, tid) == 0 ||
                     cunei_glob_matches(merge->thread, name);
    merge->is_found |= is_wanted;
    return is_wanted;
}

/* Go to the first event of the next packet that has any and is wanted; 0: none. */
static int next_packet(struct cunei_trace_merge *merge,
                       struct cunei_trace_cursor *cursor)
{
    int rc;

    cursor->at = 0;
    do
        rc = cunei_trace_reader_next(cursor->reader, &cursor->packet);
    while (rc > 0 &&
           (!is_wanted(merge, cursor->packet.head) || cursor->packet.word_count == 0));
    if (rc > 0)
        read_time(cursor);
    if (rc < 0 && merge->rc == 0) {
        merge->rc = rc;
        merge->error = *cunei_trace_reader_error(cursor->reader);
    }
    return rc > 0;
}

/* It has no more events: its memory is not needed any longer. */
static void close_cursor(struct cunei_trace_cursor *cursor)
{
    cunei_trace_reader_close(cursor->reader);
    cursor->reader = NULL;
}

static size_t count_streams(const struct cunei_trace *trace)
{
    size_t count = 0;

    for (size_t i = 0; i < trace->process_count; i++)
        count += trace->processes[i].stream_count;
    return count;
}

static int open_process(struct cunei_trace_merge *merge,
                        const struct cunei_trace_process *process)
{
    for (size_t i = 0; i < process->stream_count; i++) {
        struct cunei_trace_cursor *cursor = &merge->cursors[merge->cursor_count];
        cursor->process = process;
        cursor->stream = &process->streams[i];
        cursor->reader =
            cunei_trace_reader_open(process, cursor->stream, 0, UINT64_MAX);
        if (!cursor->reader)
            return -ENOMEM;
        merge->cursor_count++;
        if (next_packet(merge, cursor))
            merge->heap[merge->heap_count++] = cursor;
        else
            close_cursor(cursor);
    }
    return 0;
}

int cunei_trace_merge_open(struct cunei_trace_merge *merge,
                           const struct cunei_trace *trace,
                           const struct cunei_trace_choice *choice, const char *thread)
{
    size_t count = count_streams(trace);
    int rc = 0;

    *merge = (struct cunei_trace_merge){
        .cursors = calloc(count + 1, sizeof(struct cunei_trace_cursor)),
        .heap = calloc(count + 1, sizeof(struct cunei_trace_cursor *)),
        .thread = thread};
    const struct cunei_trace_error *damage =
        cunei_trace_next_damage(trace, choice, &(size_t){0});
    if (damage) {
        merge->rc = -EBADMSG;
        merge->error = *damage;
    }
    if (!merge->cursors || !merge->heap)
        rc = -ENOMEM;
    for (size_t i = 0; rc == 0 && i < trace->process_count; i++) {
        if (cunei_trace_is_chosen(&trace->processes[i], choice))
            rc = open_process(merge, &trace->processes[i]);
    }
    if (rc < 0) {
        cunei_trace_merge_close(merge);
        return rc;
    }
    for (size_t i = merge->heap_count / 2; i > 0; i--)
        sift_down(merge, i - 1);
    return 0;
}

void cunei_trace_merge_close(struct cunei_trace_merge *merge)
{
    for (size_t i = 0; i < merge->cursor_count; i++)
        cunei_trace_reader_close(merge->cursors[i].reader);
    free(merge->cursors);
    free(merge->heap);
    *merge = (struct cunei_trace_merge){0};
}

/* Leave the event on top, which was handed out by the call before. */
static void leave_top(struct cunei_trace_merge *merge)
{
    struct cunei_trace_cursor *top = merge->heap[0];

    top->at += cunei_event_words(&top->packet.words[top->at],
                                 top->packet.word_count - top->at);
    if (top->at < top->packet.word_count)
        read_time(top);
    else if (!next_packet(merge, top)) {
        close_cursor(top);
        merge->heap[0] = merge->heap[--merge->heap_count];
    }
    if (merge->heap_count > 0)
        sift_down(merge, 0);
}

/* Lines are handed out in full. */
static void complete_line(struct cunei_trace_cursor *cursor, const uint64_t **words,
                          size_t *word_count)
{
    uint32_t class = cunei_record_class(**words);

    if (class == CUNEI_CLASS_LINE)
        cursor->line = *(const struct cunei_line *)(const void *)*words;
    else if (cunei_class_is_near(class)) {
        cursor->near = cunei_line_near(**words, &cursor->line);
        *words = &cursor->near.record;
        *word_count = sizeof(cursor->near) / sizeof(**words);
    }
}

int cunei_trace_merge_next(struct cunei_trace_merge *merge,
                           struct cunei_trace_event *event)
{
    if (merge->is_handed_out)
        leave_top(merge);
    merge->is_handed_out = merge->heap_count > 0;
    if (merge->heap_count == 0)
        return merge->rc;

    struct cunei_trace_cursor *top = merge->heap[0];
    const uint64_t *words = &top->packet.words[top->at];
    size_t word_count = cunei_event_words(words, top->packet.word_count - top->at);
    complete_line(top, &words, &word_count);
    *event = (struct cunei_trace_event){
        .process = top->process,
        .stream = top->stream,
        .packet = top->packet.head,
        .words = words,
        .word_count = word_count,
        .time_ns = top->time_ns,
        .class = cunei_record_class(words[0]),
        .phase = cunei_record_phase(words[0]),
    };
    return 1;
}
