// SPDX-License-Identifier: MIT
/*
 * Encodes the streams of all processes with all cores.
 *
 *     static const struct cunei_encoder encoder = {
 *         .thread = …, .begin = …, .end = …, .state_size = sizeof(struct state),
 *     };
 *     int rc = cunei_encode(export, &encoder);
 *
 * Streams are cut into pieces.  Each piece is an encoding of its own, and so is the
 * join before each piece, which ends and begins the calls that are open between two
 * pieces. The bytes of all are written in order, so that an encoding must not depend on
 * what another one wrote.  At most a few pieces are in memory at a time.
 */
#ifndef CUNEI_EXPORT_ENCODE_PIECES_H
#define CUNEI_EXPORT_ENCODE_PIECES_H

struct cunei_encoder;
struct cunei_export;

/* Errors as cunei_export_write. */
int cunei_encode(struct cunei_export *export, const struct cunei_encoder *encoder);

#endif
