// SPDX-License-Identifier: MIT
/*
 * How often, and for how long, a program has switched its own recording off.  One
 * thread may switch it on again where another has switched it off, and streams are read
 * in any order, several at once: what is kept can be added up in any order.
 */
#ifndef CUNEI_MODEL_FACTS_RECORDING_OFF_H
#define CUNEI_MODEL_FACTS_RECORDING_OFF_H

#include <stdint.h>

#include "wire/event.h"

struct cunei_recording_off {
    uint64_t begins, ends;
    uint64_t sum;        /* private: of ends less that of begins; wraps around */
    uint64_t last_begin; /* private, as the next: in ticks, 0: none */
    uint64_t first_end;
};

void cunei_recording_off_read(struct cunei_recording_off *gaps, enum cunei_phase phase,
                              uint64_t time);
void cunei_recording_off_add(struct cunei_recording_off *gaps,
                             const struct cunei_recording_off *other);

/*
 * The ticks between begins and ends.  One that has no end is left out, and so is one
 * that began before the process was forked.
 */
uint64_t cunei_recording_off_ticks(const struct cunei_recording_off *gaps);

#endif
