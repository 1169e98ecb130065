// SPDX-License-Identifier: MIT
/*
 * Regions that are open or suspended, and the parameters that they were given: private
 * to model/user/user_reader.h.  At its end the time of a region is added to the facts.
 */
#ifndef CUNEI_MODEL_USER_REGION_INSTANCES_H
#define CUNEI_MODEL_USER_REGION_INSTANCES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/user/user_facts.h"

/* Regions that are open or suspended; what is beyond is not timed. */
#define CUNEI_INSTANCES_MAX (1u << 20)

#define CUNEI_INSTANCES_HASH 1024u

/* A region, or a call that was given a parameter. */
struct cunei_instance {
    uint32_t region;     /* index plus one; 0: a function that is not a region */
    uint32_t function;   /* id */
    uint32_t parameters; /* the first, from 1 */
    uint32_t next;       /* free, or suspended under the same hash */
    uint64_t task;       /* in which it was suspended */
    uint64_t since;      /* ticks; of what runs */
    uint64_t inside;     /* before that */
    uint64_t counted;    /* of that, what was in no other of its name */
    bool is_nested;
    bool is_whole; /* its start was seen */
};

/* A value of an instance. */
struct cunei_instance_value {
    uint32_t parameter; /* index in the facts */
    uint32_t next;
};

struct cunei_region_instances {
    struct cunei_user_facts *facts;   /* borrowed */
    uint64_t frequency;               /* ticks per second */
    struct cunei_instance *instances; /* owned, from 1 */
    uint32_t instance_count, instance_capacity, free_instance;
    struct cunei_instance_value *values; /* owned, from 1 */
    uint32_t value_count, value_capacity, free_value;
    uint32_t suspended[CUNEI_INSTANCES_HASH];
    uint32_t *open; /* owned: how many of each region run */
    uint32_t open_capacity;
};

void cunei_region_instances_fini(struct cunei_region_instances *regions);

/* The index of a new one that begins at a time; 0: there is no room for it. */
uint32_t cunei_region_instances_new(struct cunei_region_instances *regions,
                                    uint32_t region, uint32_t function, uint64_t time,
                                    bool is_whole);

/* Its time runs, or does not.  -ENOMEM. */
int cunei_region_instances_run(struct cunei_region_instances *regions, uint32_t index,
                               uint64_t time);
void cunei_region_instances_pause(struct cunei_region_instances *regions,
                                  uint32_t index, uint64_t time);

/* Put a paused one aside, or take it back; 0: there is none. */
void cunei_region_instances_suspend(struct cunei_region_instances *regions,
                                    uint32_t index, uint64_t task);
uint32_t cunei_region_instances_resume(struct cunei_region_instances *regions,
                                       uint32_t function, uint64_t task);

/* Give it a value, the index of a parameter; another of that name takes its place. */
int cunei_region_instances_give(struct cunei_region_instances *regions, uint32_t index,
                                uint32_t parameter);

/* A paused one ends: its time is added to the facts.  Or all that are suspended do. */
int cunei_region_instances_end(struct cunei_region_instances *regions, uint32_t index);
int cunei_region_instances_end_suspended(struct cunei_region_instances *regions);

#endif
