// SPDX-License-Identifier: MIT
#include "report/replay/replay_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "model/walk/packet_cut.h"
#include "report/replay/replay_line.h"
#include "report/replay/replay_options.h"
#include "trace/directory/project.h"
#include "trace/directory/trace_begin.h"
#include "trace/follow/follow.h"
#include "trace/packet/packet_part.h"

/* Of each stream's file at a time: its lines take thirty times the memory. */
#define PORTION (UINT64_C(256) << 10)

/* A stream, and the replay of its threads. */
struct stream {
    struct cunei_replay_follow *follow; /* borrowed */
    struct cunei_replay_line replay;
    struct cunei_walk *walk; /* owned */
    struct cunei_cut cut;
    bool has_begun;   /* something of its packet is shown */
    uint64_t last_ns; /* of the last event that was read */
    bool has_news;    /* in this poll */
    bool is_done;     /* nothing more of the thread is shown: */
    uint32_t done_thread;
};

struct process {
    struct stream **streams; /* owned, as each: by index of the process's streams */
    size_t count;
    uint8_t *choices; /* owned: what is shown of each function */
    uint32_t choice_count, choice_capacity;
    struct cunei_cut_options selection;
    bool has_ended;
};

/* A line that was found. */
struct line {
    uint64_t time_ns;
    uint64_t number; /* in the order in which they were found */
    size_t offset, size;
};

struct cunei_replay_follow {
    struct cunei_replay_options options; /* what it refers to is borrowed */
    FILE *out;
    struct cunei_trace_follow *trace; /* owned */
    struct process *processes;        /* owned: by index in the trace */
    size_t process_count;
    struct line *lines; /* owned */
    size_t line_count, line_capacity;
    uint64_t line_number;
    struct cunei_buffer text; /* of the lines */
    uint64_t origin_ns;       /* of the first event; UINT64_MAX: there is none */
    uint64_t known_ns;        /* of the last event of any stream */
    bool is_found, failed;
};

int cunei_replay_follow_open(struct cunei_replay_follow **follow, const char *path,
                             const struct cunei_replay_options *options, FILE *out,
                             struct cunei_trace_error *error)
{
    struct cunei_replay_follow *opened = calloc(1, sizeof(*opened));

    *error = (struct cunei_trace_error){0};
    if (!opened)
        return -ENOMEM;
    opened->options = *options;
    opened->out = out;
    opened->origin_ns = UINT64_MAX;
    int rc = cunei_trace_follow_open(&opened->trace, path, &options->processes, error);
    if (rc < 0) {
        cunei_replay_follow_close(opened);
        return rc;
    }
    cunei_trace_follow_set_portion(opened->trace, PORTION);
    *follow = opened;
    return 0;
}

static void free_stream(struct stream *stream)
{
    if (!stream)
        return;
    cunei_walk_free(stream->walk);
    cunei_cut_fini(&stream->cut);
    cunei_replay_line_fini(&stream->replay);
    free(stream);
}

static void fini_process(struct process *process)
{
    for (size_t i = 0; i < process->count; i++)
        free_stream(process->streams[i]);
    free(process->streams);
    free(process->choices);
    process->choices = NULL;
    process->streams = NULL;
    process->count = 0;
}

void cunei_replay_follow_close(struct cunei_replay_follow *follow)
{
    if (!follow)
        return;
    for (size_t i = 0; i < follow->process_count; i++)
        fini_process(&follow->processes[i]);
    free(follow->processes);
    free(follow->lines);
    cunei_buffer_fini(&follow->text);
    cunei_trace_follow_close(follow->trace);
    free(follow);
}

static uint64_t wall_ns(const struct stream *stream, uint64_t tick)
{
    return cunei_metadata_wall_ns(&stream->replay.process->metadata, tick);
}

/* Keep a line until all threads are known up to its time. */
static void put_line(void *context, const char *text, size_t size)
{
    struct stream *stream = context;
    struct cunei_replay_follow *follow = stream->follow;

    if (!CUNEI_VECTOR_RESERVE(follow->lines, follow->line_capacity,
                              follow->line_count + 1)) {
        follow->failed = true;
        return;
    }
    follow->lines[follow->line_count++] =
        (struct line){.time_ns = wall_ns(stream, stream->replay.now),
                      .number = follow->line_number++,
                      .offset = follow->text.size,
                      .size = size};
    cunei_buffer_append(&follow->text, text, size);
}

static int reserve_process(struct cunei_replay_follow *follow, size_t index)
{
    while (follow->process_count <= index) {
        if (!CUNEI_VECTOR_RESERVE_ONE(follow->processes, follow->process_count))
            return -ENOMEM;
        follow->processes[follow->process_count++] = (struct process){0};
    }
    return 0;
}

static struct stream *new_stream(struct cunei_replay_follow *follow)
{
    struct stream *stream = malloc(sizeof(*stream));

    if (!stream)
        return NULL;
    *stream =
        (struct stream){.follow = follow,
                        .replay = {.options = &follow->options,
                                   .put = put_line,
                                   .put_context = stream,
                                   .has_labels = true,
                                   .arguments = {.is_json = follow->options.json}}};
    stream->walk =
        cunei_walk_new(cunei_replay_step, &stream->replay, (struct cunei_id_kinds){0});
    if (stream->walk)
        return stream;
    free(stream);
    return NULL;
}

/* The stream of a part, made if it is new; NULL: no memory. */
static struct stream *find_stream(struct cunei_replay_follow *follow,
                                  const struct cunei_trace_part *part, size_t index)
{
    if (reserve_process(follow, part->process) < 0)
        return NULL;
    struct process *process = &follow->processes[part->process];
    while (process->count <= index) {
        if (!CUNEI_VECTOR_RESERVE_ONE(process->streams, process->count))
            return NULL;
        process->streams[process->count++] = NULL;
    }
    if (!process->streams[index])
        process->streams[index] = new_stream(follow);
    return process->streams[index];
}

/* When the first event of the recording was; by this packet, where that is not known.
 */
static uint64_t find_origin(const struct cunei_replay_follow *follow, uint64_t begin_ns)
{
    struct cunei_trace_error error;
    struct cunei_trace trace;

    if (cunei_trace_open(&trace, cunei_trace_follow_trace(follow->trace)->path,
                         &error) < 0)
        return begin_ns;
    uint64_t first_ns = cunei_trace_begin_ns(&trace);
    cunei_trace_close(&trace);
    return first_ns < begin_ns ? first_ns : begin_ns;
}

static bool shows_all(const struct cunei_replay_options *options)
{
    return (options->no_fold || options->json) && options->patterns.count == 0;
}

/* Choose among the functions that came since the last part. */
static int choose_functions(struct cunei_replay_follow *follow, struct process *process,
                            const struct cunei_trace_process *trace)
{
    uint32_t count = trace->function_count;

    if (!CUNEI_VECTOR_RESERVE(process->choices, process->choice_capacity,
                              (size_t)count + 1))
        return -ENOMEM;
    follow->options.patterns.project =
        cunei_trace_project(cunei_trace_follow_trace(follow->trace));
    cunei_replay_choose(&follow->options, trace, process->choice_count,
                        process->choices);
    process->choice_count = count;
    process->selection = (struct cunei_cut_options){.functions = process->choices,
                                                    .function_count = count,
                                                    .kinds = cunei_trace_kinds(trace),
                                                    .until = UINT64_MAX};
    return 0;
}

static int read_words(struct cunei_replay_follow *follow, struct stream *stream,
                      const struct cunei_trace_part *part)
{
    struct process *process = &follow->processes[part->process];
    const struct cunei_packet *head = part->head;
    const uint64_t *words = part->words;
    size_t count = part->word_count;
    int rc = 0;

    if (stream->is_done && head->thread == stream->done_thread)
        return 0;
    if (!shows_all(&follow->options)) {
        stream->cut.options = &process->selection;
        rc = choose_functions(follow, process, stream->replay.process);
        if (rc == 0)
            rc = part->is_first ? cunei_cut_packet(&stream->cut, head, words, count)
                                : cunei_cut_continue(&stream->cut, head, words, count);
        words = stream->cut.words;
        count = stream->cut.word_count;
    }
    stream->has_begun &= !part->is_first;
    if (rc < 0 || count == 0)
        return rc;
    rc = stream->has_begun ? cunei_walk_continue(stream->walk, head, words, count)
                           : cunei_walk_packet(stream->walk, head, words, count);
    stream->has_begun = true;
    stream->is_done = rc == CUNEI_REPLAY_DONE;
    stream->done_thread = head->thread;
    return stream->is_done ? 0 : rc;
}

static int read_part(void *context, const struct cunei_trace_part *part)
{
    struct cunei_replay_follow *follow = context;
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);
    const struct cunei_trace_process *process = &trace->processes[part->process];

    if (part->head->stream_class != CUNEI_STREAM_EVENTS)
        return 0;
    struct stream *stream =
        find_stream(follow, part, (size_t)(part->stream - process->streams));
    if (!stream)
        return -ENOMEM;
    stream->replay.process = process;
    cunei_walk_set_kinds(stream->walk, cunei_trace_kinds(process));
    uint64_t begin_ns = wall_ns(stream, part->head->timestamp_begin);
    if (follow->origin_ns == UINT64_MAX)
        follow->origin_ns = find_origin(follow, begin_ns);
    stream->replay.origin_ns = follow->origin_ns;
    int rc = part->word_count > 0 ? read_words(follow, stream, part) : 0;
    if (part->is_cut)
        cunei_walk_cut_packet(stream->walk);
    if (part->word_count > 0)
        stream->last_ns = wall_ns(stream, cunei_walk_time(stream->walk));
    stream->has_news |= part->word_count > 0;
    follow->is_found |= stream->replay.is_found;
    return rc < 0 ? rc : follow->failed ? -ENOMEM : 0;
}

/* A process has ended: print what is still open in it. */
static int end_process(struct cunei_replay_follow *follow, size_t index)
{
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);
    struct process *process = &follow->processes[index];
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < process->count; i++) {
        struct stream *stream = process->streams[i];
        if (!stream)
            continue;
        stream->replay.process = &trace->processes[index];
        if (!stream->is_done)
            rc = cunei_walk_end(stream->walk);
    }
    process->has_ended = true;
    fini_process(process);
    return rc < 0 ? rc : 0;
}

static int end_processes(struct cunei_replay_follow *follow)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < follow->process_count; i++) {
        if (!follow->processes[i].has_ended &&
            cunei_trace_follow_has_ended(follow->trace, i))
            rc = end_process(follow, i);
    }
    return rc;
}

/*
 * The time up to which all threads are known.  What one did before the last event that
 * the poll before has found is in its packet by now.  While there is more than a poll
 * takes in, those that have least of it count.
 */
static uint64_t find_limit(struct cunei_replay_follow *follow, bool has_more)
{
    uint64_t known_ns = follow->known_ns, least_ns = UINT64_MAX;

    for (size_t i = 0; i < follow->process_count; i++) {
        for (size_t j = 0; j < follow->processes[i].count; j++) {
            struct stream *stream = follow->processes[i].streams[j];
            if (!stream || !stream->has_news)
                continue;
            stream->has_news = false;
            least_ns = stream->last_ns < least_ns ? stream->last_ns : least_ns;
            if (stream->last_ns > follow->known_ns)
                follow->known_ns = stream->last_ns;
        }
    }
    return has_more ? least_ns : known_ns;
}

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* The text of the lines that are left becomes the whole. */
static void drop_printed(struct cunei_replay_follow *follow, size_t printed)
{
    struct cunei_buffer rest = {0};

    for (size_t i = printed; i < follow->line_count; i++) {
        struct line *line = &follow->lines[i];
        size_t offset = rest.size;
        cunei_buffer_append(&rest, follow->text.data + line->offset, line->size);
        line->offset = offset;
        follow->lines[i - printed] = *line;
    }
    follow->line_count -= printed;
    cunei_buffer_fini(&follow->text);
    follow->text = rest;
}

static int print_until(struct cunei_replay_follow *follow, uint64_t limit_ns)
{
    size_t printed = 0;

    if (follow->line_count == 0)
        return 0;
    if (follow->text.failed)
        return -ENOMEM;
    qsort(follow->lines, follow->line_count, sizeof(*follow->lines), compare_lines);
    for (; printed < follow->line_count; printed++) {
        const struct line *line = &follow->lines[printed];
        if (line->time_ns > limit_ns)
            break;
        if (fwrite(follow->text.data + line->offset, 1, line->size, follow->out) !=
            line->size)
            return errno ? -errno : -EIO;
    }
    drop_printed(follow, printed);
    return fflush(follow->out) == 0 ? 0 : -errno;
}

int cunei_replay_follow_flush(struct cunei_replay_follow *follow)
{
    return print_until(follow, UINT64_MAX);
}

int cunei_replay_follow_poll(struct cunei_replay_follow *follow)
{
    int more = cunei_trace_follow_poll(follow->trace, read_part, follow);
    if (more < 0)
        return more;
    uint64_t limit_ns = find_limit(follow, more == 2);
    int rc = end_processes(follow);
    if (rc == 0)
        rc = print_until(follow, more == 0 ? UINT64_MAX : limit_ns);
    return rc < 0 ? rc : more;
}

bool cunei_replay_follow_has_found(const struct cunei_replay_follow *follow)
{
    return follow->is_found;
}

uint64_t cunei_replay_follow_missed(const struct cunei_replay_follow *follow)
{
    return cunei_trace_follow_missed(follow->trace);
}

const struct cunei_trace *cunei_replay_follow_trace(
    const struct cunei_replay_follow *follow)
{
    return cunei_trace_follow_trace(follow->trace);
}
