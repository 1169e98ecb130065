// SPDX-License-Identifier: MIT
/* Triggers that fire when something takes longer than their limit. */
#ifndef CUNEI_TRIGGER_OVER_LIMIT_H
#define CUNEI_TRIGGER_OVER_LIMIT_H

#include <stdbool.h>

struct cunei_trigger;
struct cunei_trigger_place;
struct cunei_trigger_span;

/*
 * Fire if the span is longer.  What it says begins with `running` while the span is
 * open, and with `ended` after it; the duration follows.
 */
bool cunei_trigger_over_limit(struct cunei_trigger_place *place,
                              const struct cunei_trigger *trigger,
                              const struct cunei_trigger_span *span,
                              const char *running, const char *ended);

#endif
