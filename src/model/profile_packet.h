// SPDX-License-Identifier: MIT
/* A piece's packets and threads, and how pieces are joined. */
#ifndef CUNEI_MODEL_PROFILE_PACKET_H
#define CUNEI_MODEL_PROFILE_PACKET_H

#include <stdbool.h>

#include "model/profile_data.h"

/* The next packet; one without events only shows that none is missing. */
int cunei_piece_begin_packet(struct cunei_profile *profile, struct cunei_piece *piece,
                             const struct cunei_packet *packet, bool has_events);

/* End a piece's reading; the profile may read another one then. */
int cunei_profile_seal(struct cunei_profile *profile, struct cunei_piece *piece);

/* Append the sealed piece that follows `left` to it; `right` is empty afterwards. */
int cunei_profile_join(struct cunei_profile *profile, struct cunei_piece *left,
                       struct cunei_piece *right);

/* When nothing more is joined: what the last thread left open becomes its fact. */
int cunei_piece_finish(struct cunei_piece *piece);
void cunei_piece_fini(struct cunei_piece *piece);

#endif
