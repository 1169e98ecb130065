// SPDX-License-Identifier: MIT
/* The hidden description of the process, and the preamble of the metadata with its
 * clock; private to rt/. */
#ifndef CUNEI_RT_DESCRIPTION_H
#define CUNEI_RT_DESCRIPTION_H

#include <stdint.h>

struct cunei_child_end;
struct cunei_clock_pair;
struct cunei_process;
struct cunei_recorder_state;

/* Take over the texts, and fill in what the recorder knows. */
void cunei_description_adopt(struct cunei_recorder_state *recording,
                             struct cunei_process *process);
void cunei_description_make_uuid(struct cunei_recorder_state *recording);
int cunei_description_write(struct cunei_recorder_state *recording);

/* Append what has changed. */
int cunei_description_append(struct cunei_recorder_state *recording);
int cunei_description_append_pattern(struct cunei_recorder_state *recording,
                                     const char *pattern);
int cunei_description_append_child(struct cunei_recorder_state *recording,
                                   const struct cunei_child_end *child);
int cunei_description_write_preamble(struct cunei_recorder_state *recording,
                                     uint64_t frequency);

/* Write a better frequency: the whole recording is the longest calibration. */
void cunei_description_correct_clock(struct cunei_recorder_state *recording,
                                     const struct cunei_clock_pair *end);
void cunei_description_end(struct cunei_recorder_state *recording,
                           const struct cunei_clock_pair *end);

#endif
