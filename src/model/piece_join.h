// SPDX-License-Identifier: MIT
/*
 * What happens between the pieces of a stream that model/spans.h reads independently of
 * each other: calls that are open at the border get the end, or the begin, that is in
 * another piece.
 *
 *     struct cunei_piece_join join = {.methods = &methods, .context = …};
 *     cunei_piece_join_pass(&join, &first);     before the spans of `first`
 *     cunei_piece_join_pass(&join, &second);    after these, before those of `second`
 *     cunei_piece_join_end(&join);
 *     cunei_piece_join_fini(&join);
 */
#ifndef CUNEI_MODEL_PIECE_JOIN_H
#define CUNEI_MODEL_PIECE_JOIN_H

#include "model/spans.h"

struct cunei_piece_join {
    const struct cunei_spans_methods *methods;
    void *context;
    struct cunei_id_kinds kinds;

    /* Private: what the piece before left open. */
    struct cunei_spans_edge last;
    struct cunei_spans_steps steps;
    uint32_t depth; /* spans that are open */
    uint64_t time;  /* of the border that is passed */
    bool has_thread;
};

int cunei_piece_join_pass(struct cunei_piece_join *join,
                          const struct cunei_spans *piece);
int cunei_piece_join_end(struct cunei_piece_join *join);
void cunei_piece_join_fini(struct cunei_piece_join *join);

#endif
