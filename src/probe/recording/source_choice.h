// SPDX-License-Identifier: MIT
/* Which source of events a session asks for, of those that this Python has. */
#ifndef CUNEI_PROBE_RECORDING_SOURCE_CHOICE_H
#define CUNEI_PROBE_RECORDING_SOURCE_CHOICE_H

#include <Python.h>

#include "probe/core/source.h"
#include "wire/record_env.h"

/* Never DEFAULT: what that is here. */
enum cunei_instrumenter cunei_source_choice_of(const struct cunei_record_env *session);

/* One of `sources`; NULL with an exception set that says why it cannot be had. */
struct cunei_source *cunei_source_choice_make(const struct cunei_record_env *session,
                                              struct cunei_source *const *sources);

/* Why that was NULL, for who cannot catch exceptions: of python/refusal_reason.h. */
int cunei_source_choice_refusal(const struct cunei_record_env *session);

/* Which functions are recorded, borrowed: of a source that tells of none, none. */
const struct cunei_patterns *cunei_source_choice_patterns(
    const struct cunei_record_env *session);

/*
 * A recording is about to end: have the source tell what it has not heard of.  Where
 * there was none, because another tool was there when it was to begin: the reason why,
 * of python/refusal_reason.h; else 0.
 */
int cunei_source_choice_report_losses(struct cunei_source *source);

#endif
