// SPDX-License-Identifier: MIT
/* The events of a budget, and what a profile makes of them. */
#ifndef CUNEI_MODEL_PROFILE_PROFILE_BUDGET_H
#define CUNEI_MODEL_PROFILE_PROFILE_BUDGET_H

#include "model/profile/profile_data.h"

/* A `demote` or a `sample`, at this tick.  -ENOMEM. */
int cunei_profile_budget_read(struct cunei_profile *profile, const uint64_t *event,
                              uint64_t time);

/* Room for the estimates of more functions. */
int cunei_profile_budget_grow(struct cunei_profile *profile, uint32_t slot_count);

int cunei_profile_budget_add(struct cunei_profile *profile,
                             const struct cunei_profile *other);

/* All of a process has been added, up to its last event. */
void cunei_profile_budget_close(struct cunei_profile *profile, uint64_t last);

#endif
