// SPDX-License-Identifier: MIT
#include "model/facts/number_distribution.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define KEY_SHIFT 45u /* of a double's 52 bits behind the point, 7 stay */

/* Keys are in the order of the numbers; 0 has the key 0. */
static int32_t key_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    int32_t key = (int32_t)((bits & ~(UINT64_C(1) << 63)) >> KEY_SHIFT);
    return bits >> 63 ? -key : key;
}

/* The number of a key that is nearest to 0. */
static double number_of(int32_t key)
{
    uint64_t bits = (uint64_t)(key < 0 ? -key : key) << KEY_SHIFT;
    double number;

    memcpy(&number, &bits, sizeof(number));
    return key < 0 ? -number : number;
}

/* Where the key is, or belongs. */
static uint32_t find(const struct cunei_distribution *spread, int32_t key)
{
    return (uint32_t)CUNEI_VECTOR_BISECT(i, spread->count, spread->items[i].key < key);
}

int cunei_distribution_add(struct cunei_distribution *spread, double number)
{
    int32_t key = key_of(number);
    uint32_t at = find(spread, key);

    if (at == spread->count || spread->items[at].key != key) {
        if (!CUNEI_VECTOR_RESERVE(spread->items, spread->capacity, spread->count + 1))
            return -ENOMEM;
        memmove(&spread->items[at + 1], &spread->items[at],
                (spread->count - at) * sizeof(*spread->items));
        spread->items[at] = (struct cunei_distribution_step){.key = key};
        spread->count++;
    }
    spread->items[at].count++;
    spread->total++;
    return 0;
}

double cunei_distribution_quantile(const struct cunei_distribution *spread,
                                   double fraction)
{
    double wanted = ceil(fraction * (double)spread->total);
    uint64_t seen = 0;

    for (uint32_t i = 0; i < spread->count; i++) {
        seen += spread->items[i].count;
        if ((double)seen >= wanted)
            return number_of(spread->items[i].key);
    }
    return 0;
}

void cunei_distribution_fini(struct cunei_distribution *spread)
{
    free(spread->items);
    *spread = (struct cunei_distribution){0};
}

/* Steps become twice as long. */
static void coarsen(struct cunei_time_series *course)
{
    uint64_t first = course->first >> 1;
    uint32_t count = 0;
    double sums[CUNEI_COURSE_STEPS] = {0};
    uint32_t counts[CUNEI_COURSE_STEPS] = {0};

    for (uint32_t i = 0; i < course->count; i++) {
        uint32_t at = (uint32_t)(((course->first + i) >> 1) - first);
        sums[at] += course->sums[i];
        counts[at] += course->counts[i];
        count = at + 1;
    }
    memcpy(course->sums, sums, sizeof(sums));
    memcpy(course->counts, counts, sizeof(counts));
    course->first = first;
    course->count = count;
    course->shift++;
}

/* Make the first step an earlier one; there is room for it. */
static void begin_at(struct cunei_time_series *course, uint64_t first)
{
    uint32_t more = (uint32_t)(course->first - first);

    memmove(course->sums + more, course->sums, course->count * sizeof(*course->sums));
    memmove(course->counts + more, course->counts,
            course->count * sizeof(*course->counts));
    memset(course->sums, 0, more * sizeof(*course->sums));
    memset(course->counts, 0, more * sizeof(*course->counts));
    course->first = first;
    course->count += more;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

void cunei_time_series_add(struct cunei_time_series *course, uint64_t time_ns,
                           double number)
{
    if (!isfinite(number))
        return;
    if (course->count == 0) {
        course->first = time_ns;
        course->count = 1;
    }
    for (;; coarsen(course)) {
        uint64_t at = time_ns >> course->shift;
        uint64_t end =
            at < course->first ? course->first + course->count - 1 : course->first;
        if (distance(at, end) < CUNEI_COURSE_STEPS)
            break;
    }
    uint64_t at = time_ns >> course->shift;
    if (at < course->first)
        begin_at(course, at);
    uint32_t index = (uint32_t)(at - course->first);
    if (index >= course->count) {
        memset(course->sums + course->count, 0,
               (index + 1 - course->count) * sizeof(*course->sums));
        memset(course->counts + course->count, 0,
               (index + 1 - course->count) * sizeof(*course->counts));
        course->count = index + 1;
    }
    course->sums[index] += number;
    course->counts[index] += course->counts[index] < UINT32_MAX;
}

/* The mean in each of fewer steps; a step without numbers has the mean of the step
 * before. */
static uint32_t thin_out(const struct cunei_time_series *course, uint32_t count,
                         double *means)
{
    uint32_t steps = course->count < count ? course->count : count;
    double last = 0;

    for (uint32_t i = 0; i < steps; i++) {
        uint32_t begin = i * course->count / steps;
        uint32_t end = (i + 1) * course->count / steps;
        double sum = 0;
        uint64_t numbers = 0;
        for (uint32_t j = begin; j < end; j++) {
            sum += course->sums[j];
            numbers += course->counts[j];
        }
        last = numbers > 0 ? sum / (double)numbers : last;
        means[i] = last;
    }
    return steps;
}

uint32_t cunei_time_series_levels(const struct cunei_time_series *course,
                                  uint32_t count, uint32_t top, uint32_t *levels)
{
    double means[CUNEI_COURSE_STEPS];
    uint32_t steps = thin_out(course, count, means);
    double least = INFINITY, most = -INFINITY;

    for (uint32_t i = 0; i < steps; i++) {
        least = fmin(least, means[i]);
        most = fmax(most, means[i]);
    }
    for (uint32_t i = 0; i < steps; i++) {
        double share = most > least ? (means[i] - least) / (most - least) : 0;
        levels[i] = isfinite(share) ? (uint32_t)(share * top + 0.5) : 0;
    }
    return steps;
}
