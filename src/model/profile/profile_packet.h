// SPDX-License-Identifier: MIT
/* A piece's packets and threads, and how pieces are joined. */
#ifndef CUNEI_MODEL_PROFILE_PROFILE_PACKET_H
#define CUNEI_MODEL_PROFILE_PROFILE_PACKET_H

#include <stdbool.h>

#include "model/profile/profile_data.h"

/* The next packet; one without events only shows that none is missing. */
int cunei_piece_begin_packet(struct cunei_profile *profile, struct cunei_piece *piece,
                             const struct cunei_packet *packet, bool has_events);

/* The packet that was read last has ended, its head is final; `is_cut`: what came last
 * in it is not known. */
void cunei_piece_end_packet(struct cunei_piece *piece,
                            const struct cunei_packet *packet, bool is_cut);

/* End a piece's reading; the profile may read another one then. */
int cunei_profile_seal(struct cunei_profile *profile, struct cunei_piece *piece);

/* Continue to read a piece that was sealed. */
void cunei_profile_reopen(struct cunei_profile *profile, struct cunei_piece *piece);

/* Append the sealed piece that follows `left` to it; `right` is empty afterwards. */
int cunei_profile_join(struct cunei_profile *profile, struct cunei_piece *left,
                       struct cunei_piece *right);

/* Private to packets and joins.  Whether a packet follows the last one of a piece, and
 * the packets that are not there before it. */
static inline bool cunei_piece_is_next(const struct cunei_piece *piece,
                                       uint64_t sequence, uint64_t discarded)
{
    return sequence == piece->last_sequence + 1 && discarded == piece->discarded;
}

static inline void cunei_piece_add_gap(struct cunei_piece *piece, uint64_t sequence,
                                       uint64_t discarded)
{
    cunei_packet_gap_add(
        &piece->gap,
        (struct cunei_packet_place){piece->last_sequence, piece->discarded},
        (struct cunei_packet_place){sequence, discarded});
}

/* Room for `more` threads; -ENOMEM. */
int cunei_piece_reserve_threads(struct cunei_piece *piece, size_t more);

/* A name as packets have it; one that is known in full stays. */
void cunei_thread_set_name(struct cunei_thread *thread, const char *name, size_t size);

/* When nothing more is joined: what the last thread left open becomes its fact. */
int cunei_piece_finish(struct cunei_piece *piece);

/* What its threads did so far, as if it were finished; `copy` cannot be read on. */
int cunei_piece_copy(struct cunei_piece *copy, const struct cunei_piece *piece);
void cunei_piece_fini(struct cunei_piece *piece);

#endif
