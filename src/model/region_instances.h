// SPDX-License-Identifier: MIT
/* Regions that are open or suspended, for the reader: private to it. */
#ifndef CUNEI_MODEL_REGION_INSTANCES_H
#define CUNEI_MODEL_REGION_INSTANCES_H

#include "model/user_reader.h"

/* The index of a new one that begins at a time; 0: there is no room for it. */
uint32_t cunei_region_instances_new(struct cunei_user_reader *reader, uint32_t region,
                                    uint32_t function, uint64_t time, bool is_whole);

/* Its time runs, or does not. */
int cunei_region_instances_run(struct cunei_user_reader *reader, uint32_t index,
                               uint64_t time);
void cunei_region_instances_pause(struct cunei_user_reader *reader, uint32_t index,
                                  uint64_t time);

/* Put a paused one aside, or take it back; 0: there is none. */
void cunei_region_instances_suspend(struct cunei_user_reader *reader, uint32_t index,
                                    uint64_t task);
uint32_t cunei_region_instances_resume(struct cunei_user_reader *reader,
                                       uint32_t function, uint64_t task);

/* Give it a value, the index of a parameter; another of that name takes its place. */
int cunei_region_instances_give(struct cunei_user_reader *reader, uint32_t index,
                                uint32_t parameter);

/* A paused one is over: its time is added to the facts. */
int cunei_region_instances_end(struct cunei_user_reader *reader, uint32_t index);

#endif
