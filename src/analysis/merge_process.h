// SPDX-License-Identifier: MIT
/* Adds the profile of a process to an analysis: private to analyzer.c. */
#ifndef CUNEI_ANALYSIS_MERGE_PROCESS_H
#define CUNEI_ANALYSIS_MERGE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "model/profile/profile.h"
#include "trace/directory/trace.h"

/*
 * Where each slot of a profile goes: slot 0 stays, others become an index plus one, or
 * 0 where nothing is known of the function.  Owned by the caller; NULL: no memory.
 */
uint32_t *cunei_merge_process_map(struct cunei_analysis *analysis,
                                  const struct cunei_trace_process *process,
                                  const struct cunei_profile *profile);

/* -ENOMEM, from each of these. */

/* Functions that come first, in this order, before anything is merged. */
int cunei_merge_process_seed(struct cunei_analysis *analysis,
                             const struct cunei_functions *functions);
int cunei_merge_process_functions(struct cunei_analysis *analysis,
                                  const struct cunei_profile *profile,
                                  const uint32_t *map);
int cunei_merge_process_tasks(struct cunei_analysis *analysis, size_t process,
                              const struct cunei_profile *profile, const uint32_t *map);
int cunei_merge_process_thread(struct cunei_analysis *analysis, size_t process,
                               const struct cunei_profile *profile,
                               const struct cunei_thread *thread);

/* Lines, in a separate pass over the streams; see model/walk/lines.h. */
int cunei_merge_process_lines(struct cunei_analysis *analysis,
                              const struct cunei_trace_process *process,
                              const struct cunei_profile *profile, const uint32_t *map);

/* Events of the program, in the same way; and whether it has any. */
bool cunei_merge_process_has_user_events(const struct cunei_trace_process *process,
                                         const struct cunei_profile *profile);
int cunei_merge_process_user_facts(struct cunei_analysis *analysis, size_t index,
                                   const struct cunei_trace_process *process,
                                   const struct cunei_profile *profile,
                                   const struct cunei_analysis_options *options);

#endif
