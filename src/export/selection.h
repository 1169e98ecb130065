// SPDX-License-Identifier: MIT
/* What of a process is wanted: its functions, its threads, a window of its time. */
#ifndef CUNEI_EXPORT_SELECTION_H
#define CUNEI_EXPORT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/packet_cut.h"
#include "model/wall_clock.h"

struct cunei_export;
struct cunei_trace_packet;
struct cunei_trace_process;

struct cunei_selection {
    bool is_wanted; /* the process */
    bool is_whole;  /* everything of it: nothing needs to be cut */
    struct cunei_wall_clock wall;
    struct cunei_cut_options cut;
    uint8_t *functions; /* owned: cut.functions */
    bool has_functions; /* some are wanted */
    bool has_threads;   /* not all threads are wanted, … */
    uint32_t *threads;  /* … but those of these serials, sorted; owned */
    size_t thread_count;
};

/* Fill in export->selections and export->origin_ns; errors as cunei_export_write. */
int cunei_selection_make(struct cunei_export *export);
void cunei_selection_fini(struct cunei_export *export);

/* Take out of a packet what is not wanted; what is left is borrowed from `cut`. */
int cunei_selection_apply(const struct cunei_selection *selection,
                          struct cunei_cut *cut, struct cunei_trace_packet *packet);

/* So many more bytes of the trace were read, of all that are to be: say how far it is.
 * For who goes through it from the calling thread. */
void cunei_selection_progress(struct cunei_export *export, uint64_t bytes);

struct cunei_analysis;

struct cunei_analysis_options;

/* Everything that is wanted, added up; damage is noted.  Of the options, `tree`,
 * `edges` and `said` count.  Errors as cunei_analyze. */
int cunei_selection_analyze(struct cunei_export *export,
                            const struct cunei_analysis_options *parts,
                            struct cunei_analysis *analysis);

/* The same of the chosen processes as a whole: names that were told at another time.
 * Its progress may be shown on the calling thread of the export only. */
int cunei_selection_analyze_names(const struct cunei_export *export, bool is_shown,
                                  struct cunei_analysis *analysis);

#endif
