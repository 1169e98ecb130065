// SPDX-License-Identifier: MIT
/*
 * The tag of a code object: 64 bits in its co_extra slot, made at first sight.
 *
 *     bits  0–31   its place in the registry, from 1
 *     bit   32     CUNEI_CODE_OFF: not selected; it is not recorded
 *     bit   33     CUNEI_CODE_COLD: its events take the cold path, for the reasons in
 *                  its registry entry (enum cunei_code_flag)
 *     bit   34     CUNEI_CODE_STALE: seen before a fork; its id belonged to the parent
 *     bit   35     CUNEI_CODE_WATCHED: see cunei_process_watches
 *     bit   36     CUNEI_CODE_LINED: its lines are recorded
 *     bit   38     CUNEI_CODE_COUNTED: under a budget its calls are only counted
 *     bit   39     CUNEI_CODE_DEMOTED: the same, or not even counted
 *     bits 40–61   the id, where a record carries it; 0 with either bit above
 *
 * A record is the upper bits of the tag, the time and the phase: the hot path reads
 * nothing else of the function.
 */
#ifndef CUNEI_PROBE_CODE_CODE_TAG_H
#define CUNEI_PROBE_CODE_CODE_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/event.h"

#define CUNEI_CODE_OFF     (UINT64_C(1) << 32)
#define CUNEI_CODE_COLD    (UINT64_C(1) << 33)
#define CUNEI_CODE_STALE   (UINT64_C(1) << 34)
#define CUNEI_CODE_WATCHED (UINT64_C(1) << 35)
#define CUNEI_CODE_LINED   (UINT64_C(1) << 36)
#define CUNEI_CODE_COUNTED (UINT64_C(1) << 38)
#define CUNEI_CODE_DEMOTED (UINT64_C(1) << 39)

/* Whether nothing of this code is recorded now: it is not selected, or is demoted. */
static inline bool cunei_code_is_silent(uint64_t tag)
{
    return tag & (CUNEI_CODE_OFF | CUNEI_CODE_DEMOTED) && !(tag & CUNEI_CODE_STALE);
}

/* Why a function's events take the cold path. */
enum cunei_code_flag {
    CUNEI_CODE_CALL = 1,      /* its id is beyond the classes: `call` events */
    CUNEI_CODE_COROUTINE = 2, /* a task may run it (probe/events/task.h) */
    CUNEI_CODE_ARGUMENTS = 4, /* its arguments are recorded (probe/events/argument.h) */
    CUNEI_CODE_RESULT = 8,    /* its return value is recorded */
    CUNEI_CODE_GREENLET = 16, /* when it returns greenlet is imported; may have no id */
    CUNEI_CODE_LINES = 32,    /* its line is recorded where it resumes (line_event.h) */
    CUNEI_CODE_NAMES = 64,    /* see cunei_process_sets_names; it may have no id */
    CUNEI_CODE_REGIONS = 128, /* its frames may begin regions (probe/user/region.h) */
};

/* How much of a code object is recorded, and its calls while they are counted. */
struct cunei_code_state {
    enum cunei_level level;
    uint64_t calls, resumes;
};

#endif
