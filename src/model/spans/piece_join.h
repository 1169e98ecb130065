// SPDX-License-Identifier: MIT
/*
 * What happens between the pieces of a stream that model/spans/spans.h reads
 * independently of each other: calls that are open at the border get the end, or the
 * begin, that is in another piece.
 *
 *     struct cunei_piece_join *join = cunei_piece_join_new(&methods, context, kinds);
 *     cunei_piece_join_pass(join, first);     before the spans of `first`
 *     cunei_piece_join_pass(join, second);    after these, before those of `second`
 *     cunei_piece_join_end(join);
 *     cunei_piece_join_free(join);
 */
#ifndef CUNEI_MODEL_SPANS_PIECE_JOIN_H
#define CUNEI_MODEL_SPANS_PIECE_JOIN_H

#include "model/spans/spans.h"

struct cunei_piece_join;

/* The methods and their context are borrowed.  NULL: no memory. */
struct cunei_piece_join *cunei_piece_join_new(const struct cunei_spans_methods *methods,
                                              void *context,
                                              struct cunei_id_kinds kinds);
void cunei_piece_join_free(struct cunei_piece_join *join);

/* -ENOMEM, or what a method returned. */
int cunei_piece_join_pass(struct cunei_piece_join *join,
                          const struct cunei_spans *piece);
int cunei_piece_join_end(struct cunei_piece_join *join);

#endif
