// SPDX-License-Identifier: MIT
/*
 * How long each function of the project took with the libraries that it calls, up to
 * the next function of the project.  What imports take is in none of these times; the
 * code of an imported module of the project counts without libraries.
 */
#ifndef CUNEI_ANALYSIS_OWN_TIME_H
#define CUNEI_ANALYSIS_OWN_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_analysis;
struct cunei_tree;

/*
 * `tree` is not folded; `is_own`: by slot, whether a function is the project's.  The
 * times, by slot, are the caller's to free; NULL: no memory.
 */
uint64_t *cunei_own_times(const struct cunei_analysis *analysis,
                          const struct cunei_tree *tree, const bool *is_own);

#endif
