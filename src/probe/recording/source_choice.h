// SPDX-License-Identifier: MIT
/* Which source of events a session asks for. */
#ifndef CUNEI_PROBE_RECORDING_SOURCE_CHOICE_H
#define CUNEI_PROBE_RECORDING_SOURCE_CHOICE_H

#include <Python.h>

#include "probe/core/source.h"
#include "wire/record_env.h"

/* The instrumenter; DEFAULT is replaced by this version's default. */
enum cunei_instrumenter cunei_source_choice_of(const struct cunei_record_env *session);

/* One of `sources`; NULL with an exception set that says why it is not available. */
struct cunei_source *cunei_source_choice_make(const struct cunei_record_env *session,
                                              struct cunei_source *const *sources);

/* Why that was NULL, for the launcher: of python/refusal_reason.h. */
int cunei_source_choice_refusal(const struct cunei_record_env *session);

/*
 * The patterns that select functions, borrowed; with instrumenter none they select
 * nothing.
 */
const struct cunei_patterns *cunei_source_choice_patterns(
    const struct cunei_record_env *session);

/*
 * A recording is about to end: let the source report what it has lost.  If the
 * recording never began, because another tool was in the way: the reason, of
 * python/refusal_reason.h; else 0.
 */
int cunei_source_choice_report_losses(struct cunei_source *source);

#endif
