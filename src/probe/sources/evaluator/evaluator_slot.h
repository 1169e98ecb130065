// SPDX-License-Identifier: MIT
/*
 * The place that an interpreter has for an evaluator of frames (PEP 523), which tools
 * take from one another: each is to hand on to the one before.
 *
 * Most others can be handed on to; some run other code than the frame's, bear none
 * above them, and hand on to nobody.  With the GIL held.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_SLOT_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_SLOT_H

#include <Python.h>

#include <stdbool.h>

#include "probe/core/compat.h"
#include "probe/core/source.h"

#define CUNEI_EVALUATOR_SLOT_OURS 3

struct cunei_evaluator_slot {
    struct cunei_source source;
    cunei_compat_311_evaluator ours[CUNEI_EVALUATOR_SLOT_OURS]; /* or NULL */
    cunei_compat_311_evaluator installed; /* of ours; NULL: none */
    cunei_compat_311_evaluator before;    /* whose place it has */
};

/* Have one of ours there.  -1 with an exception set, and the source's refusal. */
int cunei_evaluator_slot_install(struct cunei_evaluator_slot *slot,
                                 cunei_compat_311_evaluator evaluator);

/* Give it back.  Where another has taken it since, it goes on calling ours. */
void cunei_evaluator_slot_leave(struct cunei_evaluator_slot *slot);

/* Methods of the source, see probe/core/source.h. */
int cunei_evaluator_slot_take(struct cunei_source *source,
                              const struct cunei_source_config *config);
int cunei_evaluator_slot_prepare(struct cunei_source *source,
                                 const struct cunei_source_config *config);
void cunei_evaluator_slot_release(struct cunei_source *source);
int cunei_evaluator_slot_count_others(struct cunei_source *source);
void cunei_evaluator_slot_record_losses(struct cunei_source *source);

#endif
