// SPDX-License-Identifier: MIT
#include "top/recordings/finished.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/analyzer.h"
#include "model/facts/wall_clock.h"
#include "model/walk/packet_cut.h"

static int find_ends(struct cunei_top_finished *finished)
{
    const struct cunei_analysis_options options = {.processes = finished->choice};
    struct cunei_analysis analysis;

    int rc = cunei_analyze(&analysis, &finished->trace, &options);
    if (rc < 0)
        return rc;
    finished->begin_ns = analysis.begin_ns;
    finished->end_ns = analysis.end_ns;
    cunei_analysis_fini(&analysis);
    return 0;
}

int cunei_top_finished_open(struct cunei_top_finished *finished, const char *path,
                            const char *const *word, struct cunei_trace_error *error)
{
    *finished = (struct cunei_top_finished){0};
    int rc = cunei_trace_open(&finished->trace, path, error);
    if (rc < 0)
        return rc;
    if (*word)
        finished->choice = (struct cunei_trace_choice){word, 1};
    finished->cuts = calloc(finished->trace.process_count + 1, sizeof(*finished->cuts));
    rc = finished->cuts ? find_ends(finished) : -ENOMEM;
    if (rc < 0)
        cunei_top_finished_close(finished);
    return rc;
}

void cunei_top_finished_close(struct cunei_top_finished *finished)
{
    cunei_trace_close(&finished->trace);
    free(finished->cuts);
    *finished = (struct cunei_top_finished){0};
}

/* A packet that was still being written at that time was not the last of its thread. */
static int select_before(void *context, const struct cunei_trace_process *process,
                         struct cunei_cut *cut, struct cunei_trace_packet *packet)
{
    const struct cunei_top_finished *finished = context;
    const struct cunei_cut_options *wanted =
        &finished->cuts[process - finished->trace.processes];

    if (packet->head->timestamp_end < wanted->until)
        return 0;
    cut->options = wanted;
    int rc = cunei_cut_packet(cut, packet->head, packet->words, packet->word_count);
    cut->packet.flags &= ~CUNEI_PACKET_LAST;
    if (cut->packet.timestamp_begin > wanted->until)
        cut->packet.timestamp_begin = wanted->until;
    cut->packet.timestamp_end = wanted->until;
    cut->packet.cpu_end_ns = cut->packet.cpu_begin_ns;
    packet->head = &cut->packet;
    packet->words = cut->words;
    packet->word_count = cut->word_count;
    return rc;
}

int cunei_top_finished_sum(struct cunei_top_finished *finished, uint64_t until_ns,
                           bool has_all, struct cunei_analysis *analysis)
{
    const struct cunei_analysis_options options = {
        .processes = finished->choice,
        .tree = true,
        .edges = true,
        .lines = has_all,
        .user_events = has_all,
        .select = until_ns == UINT64_MAX ? NULL : select_before,
        .select_context = finished,
    };

    for (size_t i = 0; i < finished->trace.process_count; i++) {
        const struct cunei_trace_process *process = &finished->trace.processes[i];
        struct cunei_wall_clock wall;
        cunei_wall_clock_init(&wall, &process->metadata);
        finished->cuts[i] =
            (struct cunei_cut_options){.kinds = cunei_trace_kinds(process),
                                       .until = cunei_wall_clock_tick(&wall, until_ns)};
    }
    return cunei_analyze(analysis, &finished->trace, &options);
}
