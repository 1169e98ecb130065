// SPDX-License-Identifier: MIT
/*
 * A recording without Python: a directory of its own, functions f0, f1, …, and events
 * whose order shows whether one is missing.
 *
 * Event number i of a thread is one of function i % SCRATCH_FUNCTIONS, so that a reader
 * knows what comes next.
 */
#ifndef CUNEI_TESTS_UNIT_SCRATCH_H
#define CUNEI_TESTS_UNIT_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/directory/trace.h"
#include "wire/event.h"
#include "wire/keep.h"

#define SCRATCH_FUNCTIONS 251
#define SCRATCH_FREQUENCY UINT64_C(1000000000)

struct scratch {
    char directory[64];
    uint32_t first;         /* the id of f0 */
    uint64_t max_bytes;     /* as the recorder's option; 0 unless set */
    struct cunei_keep keep; /* the same */
    /* Its hooks; NULL unless set. */
    void (*poked)(bool top_is_open);
    void (*alarmed)(void);
    size_t (*stack)(bool top_is_open, uint32_t *functions, size_t max, size_t *omitted);
    void (*name)(char name[CUNEI_PACKET_THREAD_NAME]);
};

/* Make the directory; start recording in it with all functions defined. */
void scratch_make(struct scratch *scratch);
void scratch_start(struct scratch *scratch);
void scratch_remove(struct scratch *scratch);

/* A scratch on the heap, with its directory, for scratch_tear_down. */
struct scratch *scratch_new(void);

/* cmocka's set-up and tear-down: the scratch is in *state, and records. */
int scratch_set_up(void **state);
int scratch_tear_down(void **state);

/* The id of a function by this name. */
uint32_t scratch_define(const char *qualname);

/* Write event number `i` of the calling thread. */
void scratch_put(const struct scratch *scratch, uint64_t i);

/* Open the trace, or fail with the reader's words. */
void scratch_open(const struct scratch *scratch, struct cunei_trace *trace);

/*
 * Read everything: each thread's events must be there in order, from number 0, and
 * nothing twice.  Returns how many there are; those of thread n are in counts[n].
 */
uint64_t scratch_count(const struct scratch *scratch, uint64_t *counts, size_t max);

#endif
