// SPDX-License-Identifier: MIT
/*
 * What a recording sets on code objects, at their first sight, and takes from them
 * again: events of those that are selected, that are watched, whose lines are recorded.
 */
#ifndef CUNEI_PROBE_RECORDING_SELECTION_H
#define CUNEI_PROBE_RECORDING_SELECTION_H

#include <stdbool.h>

#include "probe/core/source.h"

struct cunei_probe;

/* Whether events are set for each code object that is selected. */
bool cunei_selection_is_on(const struct cunei_probe *state);

/* What the recording asks its source for, with the patterns that it has now. */
struct cunei_source_config cunei_selection_config(const struct cunei_probe *state);

/* Decide anew of every function whether it is recorded. */
void cunei_selection_apply(struct cunei_probe *state);

/* Decide it now of those whose frames are open. */
void cunei_selection_resolve_open(void);

/* The events off, and no trace of them on any code object. */
void cunei_selection_remove(struct cunei_probe *state);

#endif
