// SPDX-License-Identifier: MIT
/* Which source of events a session asks for, of those that this Python has. */
#ifndef CUNEI_PROBE_CHOICE_H
#define CUNEI_PROBE_CHOICE_H

#include <Python.h>

#include "probe/source.h"
#include "wire/session.h"

/* Never DEFAULT: what that is here. */
enum cunei_instrumenter cunei_choice_of(const struct cunei_session *session);

/* One of `sources`; NULL with an exception set that says why it cannot be had. */
struct cunei_source *cunei_choice_make(const struct cunei_session *session,
                                       struct cunei_source *const *sources);

/* Why that was NULL, for who cannot catch exceptions: of wire/reason.h. */
int cunei_choice_refusal(const struct cunei_session *session);

/* Which functions are recorded, borrowed: of a source that tells of none, none. */
const struct cunei_patterns *cunei_choice_patterns(const struct cunei_session *session);

/*
 * A recording is about to end: have the source tell what it has not heard of.  Where
 * there was none, because another tool was there when it was to begin: the reason why,
 * of wire/reason.h; else 0.
 */
int cunei_choice_tell_losses(struct cunei_source *source);

#endif
