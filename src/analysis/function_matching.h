// SPDX-License-Identifier: MIT
/*
 * Which functions of several runs are the same.
 *
 * Functions with the same module and qualified name are the same.  Where several of a
 * module share them (lambdas, for example), those in the same place are the same, and
 * then the others in the order of their lines: lines move.  A cProfile file has
 * no modules.  Next to one, functions are the same that cProfile gives the same label
 * (file, line, name), and a relative file name matches an absolute one that ends with
 * it; add the runs with absolute names first.
 */
#ifndef CUNEI_ANALYSIS_FUNCTION_MATCHING_H
#define CUNEI_ANALYSIS_FUNCTION_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "model/facts/function_map.h"

struct cunei_function;

struct cunei_matched_function {
    char *module, *qualname, *file; /* owned */
    uint32_t line;
    /* Private: whether a function of that side is this one; the next of its group, plus
     * one; and in the first of a group the last one, and for each side the first that
     * may be free. */
    bool is_placed[2];
    uint32_t next, last, free[2];
};

struct cunei_function_matching {
    struct cunei_matched_function *items; /* owned */
    uint32_t count;

    /* Private.  Maps lead to an item plus one. */
    uint32_t capacity;
    struct cunei_function_map groups;    /* the first of those that could be the same */
    struct cunei_function_map places[2]; /* by side: that of a name and a line */
    struct cunei_function_map aliases;   /* what cProfile may call one in C; UINT32_MAX:
                                            several of them */
    struct cunei_buffer text;
};

/*
 * Each returns the number of an item plus one; UINT32_MAX: no memory.
 *
 * The item in the very place of a run's function; 0: there is none.
 */
uint32_t cunei_function_matching_find(struct cunei_function_matching *matching,
                                      unsigned side,
                                      const struct cunei_function *function);

/* For functions that have no such item, after all that have: the next one of the same
 * names, or a new one. */
uint32_t cunei_function_matching_next(struct cunei_function_matching *matching,
                                      unsigned side,
                                      const struct cunei_function *function);

/* By the label of cProfile; `function` is NULL where only that is known. */
uint32_t cunei_function_matching_label(struct cunei_function_matching *matching,
                                       const struct cunei_function *label,
                                       const struct cunei_function *function);

void cunei_function_matching_fini(struct cunei_function_matching *matching);

#endif
