// SPDX-License-Identifier: MIT
/*
 * The interpreter's slot for a frame evaluator (PEP 523).  Tools replace each other
 * there: each should call the one that it replaced.
 *
 * Most other evaluators can be called in this way.  Some (pydevd, torch) run other code
 * than the frame's, and call no other evaluator.  With the GIL held.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_SLOT_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_SLOT_H

#include <Python.h>

#include "probe/core/compat.h"
#include "probe/core/source.h"

#define CUNEI_EVALUATOR_SLOT_OURS 3

struct cunei_evaluator_slot {
    struct cunei_source source;
    cunei_compat_311_evaluator ours[CUNEI_EVALUATOR_SLOT_OURS]; /* or NULL */
    cunei_compat_311_evaluator installed; /* of ours; NULL: none */
    cunei_compat_311_evaluator before;    /* that ours replaced, and calls */
};

/* Install one of ours.  -1 with an exception set, and the source's refusal. */
int cunei_evaluator_slot_install(struct cunei_evaluator_slot *slot,
                                 cunei_compat_311_evaluator evaluator);

/* Remove it.  Where another was installed since, that one keeps calling ours. */
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
