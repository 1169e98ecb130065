// SPDX-License-Identifier: MIT
#include "analysis/analyzer.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/piece_reader.h"
#include "analysis/process_sum.h"
#include "model/profile/profile_budget.h"

/* Add up the pieces of each stream into the facts of its first one. */
static int join_pieces(const struct cunei_piece_reader *reader,
                       struct cunei_read_process *process)
{
    const struct cunei_trace_piece *pieces =
        &reader->pieces.items[process->first_piece];
    struct cunei_piece_facts *facts = &reader->facts[process->first_piece];
    size_t first = 0;

    for (size_t i = 1; i < process->piece_count; i++) {
        if (pieces[i].stream != pieces[first].stream) {
            first = i;
            continue;
        }
        int rc =
            cunei_profile_join(&process->profile, &facts[first].span, &facts[i].span);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < process->piece_count; i++) {
        int rc = cunei_piece_finish(&facts[i].span);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int finish_process(void *context, struct cunei_piece_reader *reader,
                          struct cunei_read_process *process)
{
    struct cunei_piece_facts *pieces = &reader->facts[process->first_piece];
    const struct cunei_process_sum sum = {
        .index = (size_t)(process - reader->processes),
        .profile = &process->profile,
        .pieces = pieces,
        .piece_count = process->piece_count,
    };

    int rc = join_pieces(reader, process);
    if (rc == 0) {
        cunei_profile_budget_close(&process->profile,
                                   cunei_process_sum_last_tick(&sum));
        rc = cunei_process_sum_add(context, &sum, reader->options);
    }
    for (size_t i = 0; i < process->piece_count; i++)
        cunei_piece_fini(&pieces[i].span);
    cunei_profile_fini(&process->profile);
    process->has_profile = false;
    return rc;
}

static void note_damage(void *context, const struct cunei_trace_error *error)
{
    cunei_process_sum_note_damage(context, error);
}

static int begin(struct cunei_analysis *analysis,
                 const struct cunei_piece_reader *reader,
                 const struct cunei_trace *trace)
{
    const struct cunei_trace_process **processes =
        calloc(reader->process_count + 1, sizeof(void *));
    if (!processes)
        return -ENOMEM;
    for (size_t i = 0; i < reader->process_count; i++)
        processes[i] = reader->processes[i].process;
    int rc = cunei_process_sum_begin(analysis, trace, reader->options, processes,
                                     reader->process_count);
    free(processes);
    return rc;
}

static int read_trace(struct cunei_analysis *analysis,
                      struct cunei_piece_reader *reader,
                      const struct cunei_trace *trace)
{
    int rc = cunei_piece_reader_init(reader, trace);
    if (rc == 0 && reader->process_count == 0 && reader->options->processes.count > 0)
        rc = -ESRCH;
    if (rc == 0)
        rc = begin(analysis, reader, trace);
    return rc == 0 ? cunei_piece_reader_run(reader) : rc;
}

int cunei_analyze(struct cunei_analysis *analysis, const struct cunei_trace *trace,
                  const struct cunei_analysis_options *options)
{
    struct cunei_piece_reader reader = {
        .options = options,
        .context = analysis,
        .finish = finish_process,
        .damage = note_damage,
    };

    *analysis = (struct cunei_analysis){0};
    cunei_user_facts_init(&analysis->user_facts);
    int rc = read_trace(analysis, &reader, trace);
    cunei_piece_reader_fini(&reader);
    if (rc == 0)
        rc = cunei_process_sum_end(analysis);
    if (rc < 0)
        cunei_analysis_fini(analysis);
    return rc;
}
