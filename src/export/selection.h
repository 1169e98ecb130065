// SPDX-License-Identifier: MIT
/* What is exported of a process: functions, threads, a range of time. */
#ifndef CUNEI_EXPORT_SELECTION_H
#define CUNEI_EXPORT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/facts/wall_clock.h"
#include "model/walk/packet_cut.h"

struct cunei_export;
struct cunei_trace_packet;
struct cunei_trace_process;

struct cunei_selection {
    bool is_wanted; /* the process */
    bool is_whole;  /* all of it is selected */
    struct cunei_wall_clock wall;
    struct cunei_cut_options cut;
    uint8_t *functions; /* owned: cut.functions */
    bool has_functions; /* some are selected */
    bool has_threads;   /* not all threads are selected, … */
    uint32_t *threads;  /* … but those with these serials, sorted; owned */
    size_t thread_count;
};

/* Fill in export->selections and export->origin_ns; errors as cunei_export_write. */
int cunei_selection_make(struct cunei_export *export);
void cunei_selection_fini(struct cunei_export *export);

/* Remove what is not selected from a packet; the rest is borrowed from `cut`. */
int cunei_selection_apply(const struct cunei_selection *selection,
                          struct cunei_cut *cut, struct cunei_trace_packet *packet);

/* Report that `bytes` more of the trace were read.  For formats that read it on the
 * calling thread. */
void cunei_selection_progress(struct cunei_export *export, uint64_t bytes);

struct cunei_analysis;

struct cunei_analysis_options;

/* Analyze the selection, and note damage.  Only `tree`, `threads`, `edges`, `lines` and
 * `user_events` of the options are used; lines are those of all threads at all times.
 * Errors as cunei_analyze. */
int cunei_selection_analyze(struct cunei_export *export,
                            const struct cunei_analysis_options *parts,
                            struct cunei_analysis *analysis);

/* Analyze the chosen processes as a whole, for names that were recorded at other times.
 * Show progress on the export's calling thread only. */
int cunei_selection_analyze_names(const struct cunei_export *export, bool is_shown,
                                  struct cunei_analysis *analysis);

#endif
