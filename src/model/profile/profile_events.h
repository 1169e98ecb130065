// SPDX-License-Identifier: MIT
/* Events that are no plain entry or leave of a function: private to the model. */
#ifndef CUNEI_MODEL_PROFILE_PROFILE_EVENTS_H
#define CUNEI_MODEL_PROFILE_PROFILE_EVENTS_H

#include "model/profile/profile_data.h"

/*
 * Read the built-in event at `at`, other than a `call`, and what belongs to it, in a
 * packet that begins at tick `begin`.  Returns the last of its words.
 */
const uint64_t *cunei_profile_events_read(struct cunei_profile *profile,
                                          struct cunei_piece *piece, const uint64_t *at,
                                          const uint64_t *end, uint64_t begin, int *rc);

/* The function of a record, plain or `call`; 0: of none.  `*at` moves to its end. */
uint32_t cunei_profile_events_function(const uint64_t **at, const uint64_t *end);

#endif
