// SPDX-License-Identifier: MIT
/*
 * How often, and for how long, a program has switched its own recording off.  One
 * thread may switch it on again where another has switched it off, and streams are read
 * in any order, several at once: what is kept can be added up in any order, too.
 */
#ifndef CUNEI_MODEL_GAPS_H
#define CUNEI_MODEL_GAPS_H

#include <stdint.h>

#include "wire/event.h"

struct cunei_gaps {
    uint64_t begins, ends;
    uint64_t sum;        /* private: of ends less that of begins; may pass zero */
    uint64_t last_begin; /* private, as the next: in ticks, 0: none */
    uint64_t first_end;
};

void cunei_gaps_read(struct cunei_gaps *gaps, enum cunei_phase phase, uint64_t time);
void cunei_gaps_add(struct cunei_gaps *gaps, const struct cunei_gaps *other);

/*
 * The ticks between begins and ends.  One that has no end is left out, and so is one
 * that began before the process was forked.
 */
uint64_t cunei_gaps_ticks(const struct cunei_gaps *gaps);

#endif
