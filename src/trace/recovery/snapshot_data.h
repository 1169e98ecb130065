// SPDX-License-Identifier: MIT
/* What a snapshot is made of, and what is known of one that was made. */
#ifndef CUNEI_TRACE_RECOVERY_SNAPSHOT_DATA_H
#define CUNEI_TRACE_RECOVERY_SNAPSHOT_DATA_H

#include <stddef.h>
#include <stdint.h>

struct cunei_caused;

struct cunei_snapshot_options {
    uint64_t counter;   /* the cut: now, on the counter of the machine … */
    uint64_t wall_ns;   /* … and on the wall clock */
    uint64_t last_ns;   /* leave out packets that end longer before; 0: none */
    uint64_t max_bytes; /* of all files; 0: no limit */
    const struct cunei_caused *causes; /* borrowed: why it is made */
    size_t cause_count;
};

struct cunei_snapshot {
    size_t processes;     /* in it */
    size_t running;       /* of them, at the cut */
    size_t overtaken;     /* whose rings were overwritten while they were copied */
    uint64_t bytes;       /* of packets */
    uint64_t file_bytes;  /* of all files */
    uint64_t until_ns;    /* wall clock: the cut, or the end of what is dead */
    uint64_t complete_ns; /* wall clock: since then nothing is missing; 0: of all */
    uint64_t asked_ns;    /* the longest --keep, or last_ns; 0: none was asked for */
    uint64_t ring_bytes;  /* the largest ring; 0: there is none */
    uint64_t damaged;     /* packets of which only a beginning could be kept */
};

#endif
