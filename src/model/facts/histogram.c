// SPDX-License-Identifier: MIT
#include "model/facts/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cunei_histogram_fini(struct cunei_histogram *histogram)
{
    free(histogram->counts);
    *histogram = (struct cunei_histogram){0};
}

int cunei_histogram_reserve(struct cunei_histogram *histogram, uint32_t bucket)
{
    uint32_t first = bucket - bucket % CUNEI_HISTOGRAM_STEPS;
    uint32_t end = first + CUNEI_HISTOGRAM_STEPS;

    if (histogram->span > 0) {
        if (histogram->first < first)
            first = histogram->first;
        if (histogram->first + histogram->span > end)
            end = histogram->first + histogram->span;
    }
    if (histogram->span == end - first)
        return 0;
    uint64_t *counts = calloc(end - first, sizeof(*counts));
    if (!counts)
        return -ENOMEM;
    if (histogram->span > 0)
        memcpy(counts + (histogram->first - first), histogram->counts,
               histogram->span * sizeof(*counts));
    free(histogram->counts);
    *histogram = (struct cunei_histogram){counts, first, end - first};
    return 0;
}

int cunei_histogram_merge(struct cunei_histogram *histogram,
                          const struct cunei_histogram *other)
{
    if (other->span == 0)
        return 0;
    int rc = cunei_histogram_reserve(histogram, other->first);
    if (rc == 0)
        rc = cunei_histogram_reserve(histogram, other->first + other->span - 1);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < other->span; i++)
        histogram->counts[other->first - histogram->first + i] += other->counts[i];
    return 0;
}

uint64_t cunei_histogram_count(const struct cunei_histogram *histogram)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < histogram->span; i++)
        count += histogram->counts[i];
    return count;
}

/* The smallest value of a bucket. */
static uint64_t bucket_begin(uint32_t bucket)
{
    if (bucket < 2 * CUNEI_HISTOGRAM_STEPS)
        return bucket;
    uint32_t shift = bucket / CUNEI_HISTOGRAM_STEPS - 1;
    return (uint64_t)(bucket % CUNEI_HISTOGRAM_STEPS + CUNEI_HISTOGRAM_STEPS) << shift;
}

uint64_t cunei_histogram_quantile(const struct cunei_histogram *histogram,
                                  double fraction)
{
    uint64_t count = cunei_histogram_count(histogram);
    double wanted = (double)count * fraction;
    uint64_t rank = (uint64_t)wanted; /* how many lie before the one we look for */
    uint64_t before = 0;

    if (count == 0)
        return 0;
    if (rank > 0 && (double)rank >= wanted)
        rank--;
    if (rank >= count)
        rank = count - 1;
    for (uint32_t i = 0; i < histogram->span; i++) {
        uint64_t here = histogram->counts[i];
        if (before + here <= rank) {
            before += here;
            continue;
        }
        /* Durations are taken to lie evenly in their bucket. */
        uint32_t bucket = histogram->first + i;
        uint64_t begin = bucket_begin(bucket);
        uint32_t shift =
            bucket < 2 * CUNEI_HISTOGRAM_STEPS ? 0 : bucket / CUNEI_HISTOGRAM_STEPS - 1;
        double width = (double)(UINT64_C(1) << shift);
        double part = ((double)(rank - before) + 0.5) / (double)here;
        return begin + (uint64_t)(width * part);
    }
    return 0;
}
