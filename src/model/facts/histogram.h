// SPDX-License-Identifier: MIT
/*
 * How durations are spread: a log-linear histogram, 16 buckets to each power of two.
 *
 * A bucket is at most a sixteenth as wide as the durations in it, so that a quantile is
 * good to about 3 %.  Only the powers of two between the shortest and the longest
 * duration take memory: a function usually needs half a kilobyte.  Histograms merge by
 * addition, exactly.
 */
#ifndef CUNEI_MODEL_FACTS_HISTOGRAM_H
#define CUNEI_MODEL_FACTS_HISTOGRAM_H

#include <stdint.h>

#define CUNEI_HISTOGRAM_STEPS   16u  /* to a power of two */
#define CUNEI_HISTOGRAM_BUCKETS 976u /* which hold every 64-bit number */

struct cunei_histogram {
    uint64_t *counts; /* owned: of `span` buckets from `first` on */
    uint32_t first;   /* a multiple of CUNEI_HISTOGRAM_STEPS */
    uint32_t span;
};

void cunei_histogram_fini(struct cunei_histogram *histogram);

/* Make room for a bucket; -ENOMEM. */
int cunei_histogram_reserve(struct cunei_histogram *histogram, uint32_t bucket);
int cunei_histogram_merge(struct cunei_histogram *histogram,
                          const struct cunei_histogram *other);

uint64_t cunei_histogram_count(const struct cunei_histogram *histogram);

/* The duration that `fraction` (0 to 1) of them do not exceed; 0 if there are none. */
uint64_t cunei_histogram_quantile(const struct cunei_histogram *histogram,
                                  double fraction);

/* 0–15 lie in buckets of their own. */
static inline uint32_t cunei_histogram_bucket(uint64_t value)
{
    if (value < CUNEI_HISTOGRAM_STEPS)
        return (uint32_t)value;
    uint32_t shift = 59u - (uint32_t)__builtin_clzll(value);
    return shift * CUNEI_HISTOGRAM_STEPS + (uint32_t)(value >> shift);
}

/* The least duration that lies in a bucket. */
static inline uint64_t cunei_histogram_least(uint32_t bucket)
{
    if (bucket < CUNEI_HISTOGRAM_STEPS)
        return bucket;
    uint32_t shift = bucket / CUNEI_HISTOGRAM_STEPS - 1;
    return (uint64_t)(bucket % CUNEI_HISTOGRAM_STEPS + CUNEI_HISTOGRAM_STEPS) << shift;
}

static inline int cunei_histogram_add(struct cunei_histogram *histogram, uint64_t value)
{
    uint32_t bucket = cunei_histogram_bucket(value);

    /* Below `first` the difference wraps round: one comparison covers both ends. */
    if (__builtin_expect(bucket - histogram->first >= histogram->span, 0)) {
        int rc = cunei_histogram_reserve(histogram, bucket);
        if (rc < 0)
            return rc;
    }
    histogram->counts[bucket - histogram->first]++;
    return 0;
}

#endif
