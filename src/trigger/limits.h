// SPDX-License-Identifier: MIT
/*
 * How many snapshots triggers may make; times are the caller's.
 *
 *     struct cunei_snapshot_limits limits = CUNEI_SNAPSHOT_LIMITS_DEFAULTS;
 *     struct cunei_snapshot_tally tally = {0};
 *     if (cunei_snapshot_may(&limits, &tally, now_ns))
 *         … make one …
 *         cunei_snapshot_count(&tally, now_ns, bytes);
 */
#ifndef CUNEI_TRIGGER_LIMITS_H
#define CUNEI_TRIGGER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_snapshot_limits {
    uint64_t interval_ns; /* between two of them */
    uint64_t count;       /* of all; 0: no limit, as for the next */
    uint64_t bytes;
};

#define CUNEI_SNAPSHOT_LIMITS_DEFAULTS                                                \
    {                                                                                 \
        .interval_ns = UINT64_C(60000000000), .count = 10, .bytes = UINT64_C(2) << 30 \
    }

enum cunei_snapshot_limit {
    CUNEI_LIMIT_NONE,
    CUNEI_LIMIT_INTERVAL,
    CUNEI_LIMIT_COUNT,
    CUNEI_LIMIT_SPACE,
    CUNEI_LIMITS,
};

struct cunei_snapshot_tally {
    uint64_t count, bytes;       /* of snapshots made */
    uint64_t failed;             /* that could not be made */
    uint64_t last_ns;            /* when the last one was made, or failed */
    bool is_full;                /* one did not fit */
    uint64_t fired;              /* how often triggers fired … */
    uint64_t left[CUNEI_LIMITS]; /* … and, by limit, without a snapshot */
};

/* Whether one may be made, and how large, 0: any size; else `firings` are counted as
 * without one. */
bool cunei_snapshot_may(const struct cunei_snapshot_limits *limits,
                        struct cunei_snapshot_tally *tally, uint64_t now_ns,
                        uint64_t firings, uint64_t *max_bytes);

/* It was made at that time, could not be made, or did not fit. */
void cunei_snapshot_count(struct cunei_snapshot_tally *tally, uint64_t now_ns,
                          uint64_t bytes);
void cunei_snapshot_count_failed(struct cunei_snapshot_tally *tally, uint64_t now_ns);
void cunei_snapshot_count_too_large(struct cunei_snapshot_tally *tally,
                                    uint64_t firings);

#endif
