// SPDX-License-Identifier: MIT
/* A span's packets and threads, and how spans are joined. */
#ifndef CUNEI_MODEL_PROFILE_PACKET_H
#define CUNEI_MODEL_PROFILE_PACKET_H

#include <stdbool.h>

#include "model/profile_data.h"

/* A packet comes; one without events says only that none is missing. */
int cunei_span_begin_packet(struct cunei_profile *profile, struct cunei_span *span,
                            const struct cunei_packet *packet, bool has_events);

/* End a span's reading; the profile may read another one then. */
int cunei_profile_seal(struct cunei_profile *profile, struct cunei_span *span);

/* Append the sealed span that follows `left` to it; `right` is empty afterwards. */
int cunei_profile_join(struct cunei_profile *profile, struct cunei_span *left,
                       struct cunei_span *right);

/* When nothing more is joined: what the last thread left open becomes its fact. */
int cunei_span_finish(struct cunei_span *span);
void cunei_span_fini(struct cunei_span *span);

#endif
