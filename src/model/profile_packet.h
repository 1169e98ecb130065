// SPDX-License-Identifier: MIT
/* A span's packets and threads, as profile.c goes through them: private to the model.
 */
#ifndef CUNEI_MODEL_PROFILE_PACKET_H
#define CUNEI_MODEL_PROFILE_PACKET_H

#include <stdbool.h>

#include "model/profile.h"

/* A packet comes; one without events says only that none is missing. */
int cunei_span_begin_packet(struct cunei_profile *profile, struct cunei_span *span,
                            const struct cunei_packet *packet, bool has_events);

#endif
