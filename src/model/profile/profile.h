// SPDX-License-Identifier: MIT
/*
 * Events to facts: what each function of a process cost, and what its threads did.
 *
 *     struct cunei_profile profile;
 *     cunei_profile_init(&profile, &options);
 *     struct cunei_piece piece = {0};
 *     for each packet of a stream, in order:
 *         cunei_profile_read(&profile, &piece, packet, words, word_count);
 *     cunei_profile_seal(&profile, &piece);
 *     …
 *     cunei_piece_fini(&piece);
 *     cunei_profile_fini(&profile);
 *
 * Facts are additive, so that a big stream can be read in pieces, each with a piece of
 * its own and in any order, into one profile or into several that are added up:
 *
 *     cunei_profile_add(&profile, &other);
 *     cunei_profile_join(&profile, &left, &right);    (neighbours, from left to right)
 *
 * A piece is what one piece must know of its neighbours: which frames it found open,
 * which of those it saw closed, which it leaves open.  Time that passes between two
 * pieces, and how long a frame that one opened and the other closed took, is added by
 * the join, which takes time in proportion to the depth of the stack.  However a stream
 * is cut, the facts come out the same.
 *
 * A packet that is still being written can be read part by part, and several streams by
 * turns: the piece that is being read is sealed before another one is read into the
 * same profile, and reopened afterwards.  While all are sealed, the profile has the
 * facts up to the last event of each.
 *
 *     cunei_profile_read(&profile, &piece, packet, words, word_count);
 *     cunei_profile_continue(&profile, &piece, packet, more, more_count);
 *     cunei_piece_end_packet(&piece, packet, false);
 *     cunei_profile_seal(&profile, &piece);
 *     …
 *     cunei_profile_reopen(&profile, &piece);
 *
 * Nothing here does I/O or looks at a clock.  One thread at a time uses a profile.
 * Whatever words a packet holds, memory stays bounded.
 */
#ifndef CUNEI_MODEL_PROFILE_PROFILE_H
#define CUNEI_MODEL_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile/profile_data.h"
#include "model/profile/profile_packet.h"

/* -ENOMEM, from any of these; the profile can then only be released. */
int cunei_profile_init(struct cunei_profile *profile,
                       const struct cunei_profile_options *options);
void cunei_profile_fini(struct cunei_profile *profile);
int cunei_profile_read(struct cunei_profile *profile, struct cunei_piece *piece,
                       const struct cunei_packet *packet, const uint64_t *words,
                       size_t word_count);

/* Read the words that follow those read before, of the packet that was read last. */
int cunei_profile_continue(struct cunei_profile *profile, struct cunei_piece *piece,
                           const struct cunei_packet *packet, const uint64_t *words,
                           size_t word_count);

/* More functions, and what each id stands for now; -ENOMEM leaves it as it is. */
int cunei_profile_grow(struct cunei_profile *profile, uint32_t function_count,
                       struct cunei_id_kinds kinds);

/* Add what another profile of the same process holds. */
int cunei_profile_add(struct cunei_profile *profile, const struct cunei_profile *other);

/* Ticks as nanoseconds. */
uint64_t cunei_profile_ns(const struct cunei_profile *profile, uint64_t ticks);

#endif
