// SPDX-License-Identifier: MIT
/*
 * The place that an interpreter has for an evaluator of frames (PEP 523), which tools
 * take from one another: each is to hand on to the one before.  What both evaluators of
 * ours, probe/evaluator.c and probe/laterevaluator.c, do about it.
 *
 * Most others can be handed on to; some run other code than the frame's, bear none
 * above them, and hand on to nobody.  With the GIL held.
 */
#ifndef CUNEI_PROBE_PLACE_H
#define CUNEI_PROBE_PLACE_H

#include <Python.h>

#include <stdbool.h>

#include "probe/compat.h"
#include "probe/source.h"

#define CUNEI_PLACE_OURS 3

struct cunei_place {
    struct cunei_source source;
    cunei_compat_evaluator ours[CUNEI_PLACE_OURS]; /* or NULL */
    cunei_compat_evaluator installed;              /* of ours; NULL: none */
    cunei_compat_evaluator before;                 /* whose place it has */
};

/* Have one of ours there.  -1 with an exception set, and the source's refusal. */
int cunei_place_install(struct cunei_place *place, cunei_compat_evaluator evaluator);

/* Give it back.  Where another has taken it since, it goes on calling ours. */
void cunei_place_leave(struct cunei_place *place);

/* Methods of the source, see probe/source.h. */
int cunei_place_take(struct cunei_source *source, bool selective);
int cunei_place_prepare(struct cunei_source *source, bool selective);
void cunei_place_release(struct cunei_source *source);
int cunei_place_count_others(struct cunei_source *source);
void cunei_place_tell_losses(struct cunei_source *source);

#endif
