// SPDX-License-Identifier: MIT
/*
 * How often triggers would have fired in a recording, and how many snapshots that would
 * have made.
 *
 *     struct cunei_trigger_trial trial = {0};
 *     … for each firing of a watch (trigger/watch.h) …
 *         cunei_trigger_trial_add(&trial, firing);
 *     cunei_trigger_trial_finish(&trial, &limits);
 *     … trial.firings, by time …
 *     cunei_trigger_trial_fini(&trial);
 */
#ifndef CUNEI_TRIGGER_TRIAL_H
#define CUNEI_TRIGGER_TRIAL_H

#include <stddef.h>
#include <stdint.h>

#include "trigger/triggers.h"
#include "wire/cause.h"

struct cunei_snapshot_limits;
struct cunei_trigger_firing;

/* Firings whose details are kept; others are counted. */
#define CUNEI_TRIAL_FIRINGS_MAX (1u << 18)

struct cunei_trial_firing {
    size_t number;  /* in the order in which they were found */
    size_t trigger; /* index */
    uint32_t pid;
    struct cunei_cause cause; /* owned */
};

struct cunei_trigger_trial {
    struct cunei_trial_firing *firings; /* owned */
    size_t count, capacity;
    uint64_t beyond; /* firings that are not kept */
    uint64_t snapshot_count;
    uint64_t fired[CUNEI_TRIGGERS_MAX];     /* how often each did … */
    uint64_t snapshots[CUNEI_TRIGGERS_MAX]; /* … and of how many it is a cause */
};

void cunei_trigger_trial_add(struct cunei_trigger_trial *trial,
                             const struct cunei_trigger_firing *firing);

/* Put the firings in the order of their time, and count the snapshots that the limits
 * in time and number would have let through. */
void cunei_trigger_trial_finish(struct cunei_trigger_trial *trial,
                                const struct cunei_snapshot_limits *limits);
void cunei_trigger_trial_fini(struct cunei_trigger_trial *trial);

#endif
