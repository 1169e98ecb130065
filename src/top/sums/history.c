// SPDX-License-Identifier: MIT
#include "top/sums/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/vector.h"
#include "top/sums/rates.h"

#define SECONDS CUNEI_TOP_HISTORY_SECONDS
#define NOWHERE UINT32_MAX

static uint32_t find_place(const struct cunei_top_history *history, uint32_t function)
{
    struct cunei_map_search search = {.hash = cunei_hash_number(function)};

    for (uint32_t i; cunei_map_next(&history->map, &search, &i);) {
        if (history->places[i].function == function)
            return i;
    }
    return NOWHERE;
}

const struct cunei_top_point *cunei_top_history_of(
    const struct cunei_top_history *history, uint32_t function)
{
    uint32_t place = find_place(history, function);

    return place == NOWHERE ? NULL : &history->points[(size_t)place * SECONDS];
}

uint32_t cunei_top_history_slot(const struct cunei_top_history *history,
                                uint32_t seconds_ago)
{
    return (uint32_t)((history->second + SECONDS - seconds_ago % SECONDS) % SECONDS);
}

/* The place of the function that has been quiet for longest. */
static uint32_t quietest(const struct cunei_top_history *history)
{
    uint32_t found = 0;

    for (uint32_t i = 1; i < history->place_count; i++) {
        if (history->places[i].active < history->places[found].active)
            found = i;
    }
    return found;
}

static bool grow(struct cunei_top_history *history)
{
    uint32_t capacity = history->place_capacity ? 2 * history->place_capacity : 64;
    struct cunei_top_point *points =
        realloc(history->points, (size_t)capacity * SECONDS * sizeof(*points));
    if (!points)
        return false;
    history->points = points;
    struct cunei_top_history_place *places =
        realloc(history->places, capacity * sizeof(*places));
    if (!places)
        return false;
    history->places = places;
    history->place_capacity = capacity;
    return true;
}

/* A new place, or one that another function gives away; NOWHERE: no memory. */
static uint32_t take_place(struct cunei_top_history *history, uint32_t function)
{
    uint32_t place = history->place_count;

    if (place == CUNEI_TOP_HISTORY_FUNCTIONS) {
        place = quietest(history);
        cunei_map_remove(&history->map,
                         cunei_hash_number(history->places[place].function), place);
    } else if (place == history->place_capacity && !grow(history))
        return NOWHERE;
    if (cunei_map_add(&history->map, cunei_hash_number(function), place) < 0)
        return NOWHERE;
    if (place == history->place_count)
        history->place_count++;
    memset(&history->points[(size_t)place * SECONDS], 0,
           SECONDS * sizeof(*history->points));
    history->places[place] = (struct cunei_top_history_place){.function = function};
    return place;
}

static void clear_second(struct cunei_top_history *history, uint32_t slot)
{
    history->events[slot] = 0;
    for (uint32_t i = 0; i < history->place_count; i++)
        history->points[(size_t)i * SECONDS + slot] = (struct cunei_top_point){0};
}

/* Begin the seconds from the last one up to this one: what came last lasts on. */
static void move_to(struct cunei_top_history *history, uint64_t second)
{
    uint64_t first = history->second + 1;

    if (history->second == 0 || second - history->second > SECONDS)
        first = second;
    for (uint64_t i = first; i <= second; i++)
        clear_second(history, (uint32_t)(i % SECONDS));
    if (second > history->second) {
        uint64_t count = history->point_count + (second - first + 1);
        history->point_count = (uint32_t)(count < SECONDS ? count : SECONDS);
        history->second = second;
    }
}

/* An interval fills all seconds since the one before. */
static void fill(struct cunei_top_history *history, uint32_t place, uint32_t seconds,
                 struct cunei_top_point point)
{
    for (uint32_t i = 0; i < seconds; i++)
        history->points[(size_t)place * SECONDS + cunei_top_history_slot(history, i)] =
            point;
}

static int add_function(struct cunei_top_history *history,
                        const struct cunei_top_rates *rates, uint32_t function,
                        uint32_t seconds)
{
    const struct cunei_top_rate *rate = &rates->functions[function];

    if (rate->calls == 0 && rate->self_ns == 0)
        return 0;
    uint32_t place = find_place(history, function);
    if (place == NOWHERE)
        place = take_place(history, function);
    if (place == NOWHERE)
        return -ENOMEM;
    history->places[place].active = history->second;
    fill(history, place, seconds,
         (struct cunei_top_point){
             (float)cunei_top_rates_share(rate->self_ns, rates->work_ns),
             (float)cunei_top_rates_per_second(rates, rate->calls),
         });
    return 0;
}

int cunei_top_history_add(struct cunei_top_history *history, uint64_t now_ns,
                          const struct cunei_top_rates *rates)
{
    uint64_t second = now_ns / CUNEI_NS_PER_S;
    uint64_t passed =
        history->second > 0 && second > history->second ? second - history->second : 1;
    uint32_t seconds = passed < SECONDS ? (uint32_t)passed : SECONDS;
    int rc = 0;

    if (second < history->second)
        return 0;
    move_to(history, second);
    for (uint32_t i = 0; i < seconds; i++)
        history->events[cunei_top_history_slot(history, i)] =
            (float)cunei_top_rates_per_second(rates, rates->events);
    for (uint32_t i = 0; rc == 0 && i < rates->function_count; i++)
        rc = add_function(history, rates, i, seconds);
    return rc;
}

void cunei_top_history_fini(struct cunei_top_history *history)
{
    free(history->points);
    free(history->places);
    cunei_map_fini(&history->map);
    *history = (struct cunei_top_history){0};
}
