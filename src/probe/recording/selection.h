// SPDX-License-Identifier: MIT
/*
 * The events that a recording sets on code objects at first sight, and removes at its
 * end: of selected functions, of watched calls, of lines.
 */
#ifndef CUNEI_PROBE_RECORDING_SELECTION_H
#define CUNEI_PROBE_RECORDING_SELECTION_H

#include "probe/core/source.h"

struct cunei_probe;

/* What the recording asks its source for, with the patterns that it has now. */
struct cunei_source_config cunei_selection_config(const struct cunei_probe *state);

/* Decide again for every function whether it is recorded. */
void cunei_selection_apply(struct cunei_probe *state);

/* Decide now for functions with open frames. */
void cunei_selection_resolve_open(void);

/* Switch the events off, and remove them from all code objects. */
void cunei_selection_remove(struct cunei_probe *state);

#endif
