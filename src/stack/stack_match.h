// SPDX-License-Identifier: MIT
/*
 * Compares two lists of open frames: which frames are in both.
 *
 * Functions are compared with functions, from the bottom up, and regions with regions:
 * a region that stands between other functions than before is still the same region.
 */
#ifndef CUNEI_STACK_STACK_MATCH_H
#define CUNEI_STACK_STACK_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/id_kind.h"

/*
 * Fill `map` for each frame of `there` with its position in `here`, from 1; 0: it is
 * not in `here`.  Both hold ids of functions; 0 is an unknown function and matches any.
 * Returns how many frames match.
 */
uint32_t cunei_stack_match(const struct cunei_id_kinds *kinds, const uint32_t *here,
                           uint32_t here_count, const uint32_t *there,
                           uint32_t there_count, uint32_t *map);

/* Whether any of them is a region. */
bool cunei_stack_has_regions(const struct cunei_id_kinds *kinds,
                             const uint32_t *functions, uint32_t count);

#endif
