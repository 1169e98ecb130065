// SPDX-License-Identifier: MIT
/*
 * What is open, told twice: which of it is the same.  Private to the model.
 *
 * Functions are compared from the bottom up, among themselves, and so are regions:
 * where a region stands among the functions is nothing that makes it another one.
 */
#ifndef CUNEI_MODEL_STACK_MATCH_H
#define CUNEI_MODEL_STACK_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/id_kind.h"

/*
 * Fill `map` with a place in `here`, from 1, for each of `there`; 0: it was not open.
 * Both hold ids of functions, 0 being one that is not known, which is like any.
 * Returns how many were found.
 */
uint32_t cunei_match(const struct cunei_id_kinds *kinds, const uint32_t *here,
                     uint32_t here_count, const uint32_t *there, uint32_t there_count,
                     uint32_t *map);

/* Whether any of them is a region. */
bool cunei_match_has_regions(const struct cunei_id_kinds *kinds,
                             const uint32_t *functions, uint32_t count);

#endif
