// SPDX-License-Identifier: MIT
/* What a process's profile adds to a survey: private to survey.c. */
#ifndef CUNEI_SURVEY_INTAKE_H
#define CUNEI_SURVEY_INTAKE_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "survey/survey.h"
#include "trace/trace.h"

/*
 * Where each slot of a profile goes: slot 0 stays, others become an index plus one, or
 * 0 where nothing is known of the function.  Owned by the caller; NULL: no memory.
 */
uint32_t *cunei_intake_map(struct cunei_survey *survey,
                           const struct cunei_trace_process *process,
                           const struct cunei_profile *profile);

/* -ENOMEM, from each of these. */
int cunei_intake_functions(struct cunei_survey *survey,
                           const struct cunei_profile *profile, const uint32_t *map);
int cunei_intake_tasks(struct cunei_survey *survey, size_t process,
                       const struct cunei_profile *profile, const uint32_t *map);
int cunei_intake_thread(struct cunei_survey *survey, size_t process,
                        const struct cunei_profile *profile,
                        const struct cunei_thread *thread);

/* Its lines, in a pass of their own over its streams: model/lines.h says why. */
int cunei_intake_lines(struct cunei_survey *survey,
                       const struct cunei_trace_process *process,
                       const struct cunei_profile *profile, const uint32_t *map);

/* What it said itself, in the same way; whether there is anything. */
bool cunei_intake_has_said(const struct cunei_trace_process *process,
                           const struct cunei_profile *profile);
int cunei_intake_said(struct cunei_survey *survey, size_t index,
                      const struct cunei_profile *profile,
                      const struct cunei_survey_options *options);

#endif
