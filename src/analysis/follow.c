// SPDX-License-Identifier: MIT
#include "analysis/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/merge_process.h"
#include "analysis/process_sum.h"
#include "base/vector.h"
#include "model/profile/profile_budget.h"
#include "model/profile/profile_packet.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/follow/follow.h"
#include "trace/packet/packet_part.h"

/* What was read of a process so far. */
struct followed {
    struct cunei_profile profile;
    bool has_profile;
    struct cunei_piece_facts *streams; /* owned: by index of the process's streams */
    size_t stream_count, capacity;
    struct cunei_trace_process again; /* opened anew, for what is read again … */
    bool has_again;                   /* … in this sum */
    size_t open; /* the stream whose piece is not sealed, plus one; 0: all are */
};

struct cunei_analysis_follow {
    struct cunei_analysis_options options;
    struct cunei_trace_follow *trace; /* owned */
    struct followed *processes;       /* owned: by index in the trace */
    size_t process_count, capacity;
    struct cunei_functions functions; /* in the order of their first sum */
};

int cunei_analysis_follow_open(struct cunei_analysis_follow **follow, const char *path,
                               const struct cunei_analysis_options *options,
                               struct cunei_trace_error *error)
{
    struct cunei_analysis_follow *opened = calloc(1, sizeof(*opened));

    *error = (struct cunei_trace_error){0};
    if (!opened)
        return -ENOMEM;
    opened->options = *options;
    int rc = cunei_trace_follow_open(&opened->trace, path, &opened->options.processes,
                                     error);
    if (rc < 0) {
        cunei_analysis_follow_close(opened);
        return rc;
    }
    *follow = opened;
    return 0;
}

static void fini_process(struct followed *process)
{
    for (size_t i = 0; i < process->stream_count; i++)
        cunei_piece_fini(&process->streams[i].span);
    free(process->streams);
    if (process->has_profile)
        cunei_profile_fini(&process->profile);
}

void cunei_analysis_follow_close(struct cunei_analysis_follow *follow)
{
    if (!follow)
        return;
    for (size_t i = 0; i < follow->process_count; i++)
        fini_process(&follow->processes[i]);
    free(follow->processes);
    cunei_functions_fini(&follow->functions);
    cunei_trace_follow_close(follow->trace);
    free(follow);
}

/* Seal the piece that is being read: all of the process are sealed then. */
static int seal(struct followed *process)
{
    size_t open = process->open;

    process->open = 0;
    return open
               ? cunei_profile_seal(&process->profile, &process->streams[open - 1].span)
               : 0;
}

/* Make the piece of a stream the one that is read. */
static int turn_to(struct followed *process, size_t stream)
{
    if (process->open == stream + 1)
        return 0;
    int rc = seal(process);
    if (rc == 0)
        cunei_profile_reopen(&process->profile, &process->streams[stream].span);
    process->open = stream + 1;
    return rc;
}

static int reserve_streams(struct followed *process, size_t count)
{
    if (count <= process->stream_count)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(process->streams, process->capacity, count))
        return -ENOMEM;
    memset(process->streams + process->stream_count, 0,
           (count - process->stream_count) * sizeof(*process->streams));
    process->stream_count = count;
    return 0;
}

static int reserve_processes(struct cunei_analysis_follow *follow, size_t count)
{
    if (count <= follow->process_count)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(follow->processes, follow->capacity, count))
        return -ENOMEM;
    memset(follow->processes + follow->process_count, 0,
           (count - follow->process_count) * sizeof(*follow->processes));
    follow->process_count = count;
    return 0;
}

/* Room for all functions that are defined by now. */
static int update_profile(struct cunei_analysis_follow *follow,
                          struct followed *process,
                          const struct cunei_trace_process *trace)
{
    const struct cunei_profile_options options = {
        .function_count = trace->function_count,
        .frequency = trace->metadata.frequency,
        .kinds = cunei_trace_kinds(trace),
        .tree = follow->options.tree,
        .threads = follow->options.threads,
        .edges = follow->options.edges,
    };

    if (process->has_profile)
        return cunei_profile_grow(&process->profile, options.function_count,
                                  options.kinds);
    int rc = cunei_profile_init(&process->profile, &options);
    process->has_profile = rc == 0;
    return rc;
}

static int read_events(struct followed *process, size_t stream,
                       const struct cunei_trace_part *part)
{
    struct cunei_piece *piece = &process->streams[stream].span;

    int rc = turn_to(process, stream);
    if (rc == 0 && part->is_first)
        rc = cunei_profile_read(&process->profile, piece, part->head, part->words,
                                part->word_count);
    else if (rc == 0 && part->word_count > 0)
        rc = cunei_profile_continue(&process->profile, piece, part->head, part->words,
                                    part->word_count);
    if (rc == 0 && part->is_closed && !(part->is_first && part->word_count == 0))
        cunei_piece_end_packet(piece, part->head, part->is_cut);
    return rc;
}

static int read_part(void *context, const struct cunei_trace_part *part)
{
    struct cunei_analysis_follow *follow = context;
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);
    const struct cunei_trace_process *from = &trace->processes[part->process];
    size_t stream = (size_t)(part->stream - from->streams);

    int rc = reserve_processes(follow, trace->process_count);
    if (rc < 0)
        return rc;
    struct followed *process = &follow->processes[part->process];
    rc = reserve_streams(process, from->stream_count);
    if (rc == 0)
        rc = update_profile(follow, process, from);
    if (rc < 0)
        return rc;
    if (part->stream->stream_class != CUNEI_STREAM_DEFINITIONS)
        return read_events(process, stream, part);
    cunei_event_count_words(&process->streams[stream].definitions, NULL, part->words,
                            part->word_count);
    return 0;
}

int cunei_analysis_follow_poll(struct cunei_analysis_follow *follow)
{
    return cunei_trace_follow_poll(follow->trace, read_part, follow);
}

/* Copies of a process's pieces, as they would be if it ended now. */
static struct cunei_piece_facts *copy_pieces(const struct followed *process, int *rc)
{
    struct cunei_piece_facts *copies =
        calloc(process->stream_count + 1, sizeof(*copies));

    *rc = copies ? 0 : -ENOMEM;
    for (size_t i = 0; *rc == 0 && i < process->stream_count; i++) {
        copies[i].definitions = process->streams[i].definitions;
        *rc = cunei_piece_copy(&copies[i].span, &process->streams[i].span);
    }
    return copies;
}

/* The estimates up to now, in a profile that shares everything else. */
static int close_budget(struct cunei_profile *profile, uint64_t last)
{
    size_t size = profile->slot_count * sizeof(*profile->guesses.items);

    if (!profile->guesses.items)
        return 0;
    struct cunei_budget_estimate *copy = malloc(size);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, profile->guesses.items, size);
    profile->guesses.items = copy;
    cunei_profile_budget_close(profile, last);
    return 0;
}

static int add_process(struct cunei_analysis *analysis, size_t index,
                       struct followed *process,
                       const struct cunei_analysis_options *options)
{
    struct cunei_process_sum sum = {.index = index,
                                    .piece_count = process->stream_count};
    struct cunei_trace_process source = *analysis->processes[index].process;
    struct cunei_profile profile;

    if (process->has_again) {
        /* Texts of functions stay as long as the follower. */
        source.streams = process->again.streams;
        source.stream_count = process->again.stream_count;
        sum.source = &source;
    }

    int rc = seal(process);
    if (rc < 0)
        return rc;
    if (options->ended_tasks > 0)
        cunei_tasks_forget(&process->profile.tasks, options->ended_tasks);
    profile = process->profile;
    profile.scale =
        cunei_tick_scale(analysis->processes[index].process->metadata.frequency);
    struct cunei_piece_facts *copies = copy_pieces(process, &rc);
    sum.profile = &profile;
    sum.pieces = copies;
    if (rc == 0)
        rc = close_budget(&profile, cunei_process_sum_last_tick(&sum));
    if (rc == 0)
        rc = cunei_process_sum_add(analysis, &sum, options);
    for (size_t i = 0; copies && i < process->stream_count; i++)
        cunei_piece_fini(&copies[i].span);
    free(copies);
    if (profile.guesses.items != process->profile.guesses.items)
        free(profile.guesses.items);
    return rc;
}

/* Functions keep their indices from sum to sum: they come first, in that order. */
static int keep_functions(struct cunei_analysis_follow *follow,
                          const struct cunei_analysis *analysis)
{
    for (uint32_t i = follow->functions.count; i < analysis->functions.count; i++) {
        struct cunei_function function = analysis->functions.items[i];
        function.source = 0; /* each sum finds out again */
        int index = cunei_functions_add(&follow->functions, &function);
        if (index < 0)
            return index;
    }
    return 0;
}

static int compare_processes(const void *left, const void *right)
{
    return cunei_trace_compare_processes(*(void *const *)left, *(void *const *)right);
}

/* The processes that are read, in the order of their start, as in a trace. */
static const struct cunei_trace_process **sort_processes(
    const struct cunei_analysis_follow *follow, size_t *count)
{
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);
    const struct cunei_trace_process **sorted =
        calloc(trace->process_count + 1, sizeof(void *));

    *count = 0;
    for (size_t i = 0; sorted && i < trace->process_count; i++) {
        if (cunei_trace_follow_is_read(follow->trace, i))
            sorted[(*count)++] = &trace->processes[i];
    }
    if (sorted)
        qsort(sorted, *count, sizeof(void *), compare_processes);
    return sorted;
}

/* Whether there is something that only another pass over the events finds out. */
static bool needs_again(const struct cunei_analysis_follow *follow, size_t index)
{
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);
    const struct followed *process = &follow->processes[index];

    if (!process->has_profile)
        return false;
    return (follow->options.lines && process->profile.lines > 0) ||
           (follow->options.user_events &&
            cunei_merge_process_has_user_events(&trace->processes[index],
                                                &process->profile));
}

static void close_again(struct cunei_analysis_follow *follow)
{
    for (size_t i = 0; i < follow->process_count; i++) {
        if (follow->processes[i].has_again)
            cunei_process_folder_close(&follow->processes[i].again);
        follow->processes[i].has_again = false;
    }
}

/* Open what is read again; then take in what is new, so that the functions of all that
 * was opened are known. */
static int open_again(struct cunei_analysis_follow *follow)
{
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);
    const struct cunei_trace_open_options opening = {0};
    struct cunei_trace_error error;
    bool has_any = false;

    for (size_t i = 0; i < follow->process_count; i++) {
        struct followed *process = &follow->processes[i];
        if (!needs_again(follow, i))
            continue;
        process->has_again =
            cunei_process_folder_open(&process->again, trace->processes[i].path,
                                      &opening, &error) == 0;
        has_any |= process->has_again;
    }
    int rc = has_any ? cunei_analysis_follow_poll(follow) : 0;
    return rc < 0 ? rc : 0;
}

static int add_up(struct cunei_analysis_follow *follow, struct cunei_analysis *analysis,
                  const struct cunei_trace_process *const *processes, size_t count)
{
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);

    int rc =
        cunei_process_sum_begin(analysis, trace, &follow->options, processes, count);
    if (rc == 0)
        rc = cunei_merge_process_seed(analysis, &follow->functions);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        size_t index = (size_t)(processes[i] - trace->processes);
        if (index < follow->process_count && follow->processes[index].has_profile)
            rc = add_process(analysis, i, &follow->processes[index], &follow->options);
    }
    if (rc == 0)
        rc = cunei_process_sum_end(analysis);
    return rc == 0 ? keep_functions(follow, analysis) : rc;
}

int cunei_analysis_follow_sum(struct cunei_analysis_follow *follow,
                              struct cunei_analysis *analysis)
{
    const struct cunei_trace_process **processes = NULL;
    size_t count = 0;

    *analysis = (struct cunei_analysis){0};
    cunei_user_facts_init(&analysis->user_facts);
    int rc = open_again(follow);
    if (rc == 0) {
        processes = sort_processes(follow, &count);
        rc = processes ? add_up(follow, analysis, processes, count) : -ENOMEM;
    }
    close_again(follow);
    free(processes);
    if (rc < 0)
        cunei_analysis_fini(analysis);
    return rc;
}

bool cunei_analysis_follow_is_exact(const struct cunei_analysis_follow *follow)
{
    const struct cunei_trace *trace = cunei_trace_follow_trace(follow->trace);

    for (size_t i = 0; i < follow->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        if (!follow->processes[i].has_profile || process->has_ring)
            continue;
        if (process->has_live && process->state != CUNEI_TRACE_RUNNING)
            return false;
        if (process->metadata.frequency != follow->processes[i].profile.scale.frequency)
            return false;
    }
    return true;
}

const struct cunei_trace *cunei_analysis_follow_trace(
    const struct cunei_analysis_follow *follow)
{
    return cunei_trace_follow_trace(follow->trace);
}

uint64_t cunei_analysis_follow_missed(const struct cunei_analysis_follow *follow)
{
    return cunei_trace_follow_missed(follow->trace);
}
