// SPDX-License-Identifier: MIT
#include "probe/budget/governor.h"

#include <stdlib.h>

/* A demoted function is recorded again if this part of the room suffices. */
#define ROOM_TO_RETURN 0.8
/* A function that costs less than this part of the allowance is not worth a switch. */
#define WORTHLESS 0.005
/* The weight of a function that is demoted already. */
#define STAYS 1.25

static double weight(const struct cunei_candidate *item)
{
    double weight = item->load * item->load / (item->self + item->load);
    return item->level == CUNEI_LEVEL_FULL ? weight : weight * STAYS;
}

static int compare(const void *a, const void *b)
{
    const struct cunei_candidate *one = a, *two = b;
    double first = weight(one), second = weight(two);

    if (first != second)
        return first > second ? -1 : 1;
    return one->place < two->place ? -1 : one->place > two->place;
}

size_t cunei_governor_decide(struct cunei_candidate *items, size_t count,
                             const struct cunei_limits *limits)
{
    double load = limits->fixed;
    size_t changes = 0;

    if (count > 0)
        qsort(items, count, sizeof(*items), compare);
    for (size_t i = 0; i < count; i++)
        load += items[i].load;
    for (size_t i = 0; i < count; i++) {
        struct cunei_candidate *item = &items[i];
        double room = limits->allowed;
        if (item->level != CUNEI_LEVEL_FULL)
            room *= ROOM_TO_RETURN;
        double counted = load - item->load * (1 - limits->counted);
        if (load <= room || item->load <= WORTHLESS * limits->allowed)
            item->wanted = CUNEI_LEVEL_FULL;
        else if (counted <= room) {
            item->wanted = CUNEI_LEVEL_COUNTED;
            load = counted;
        } else {
            item->wanted = CUNEI_LEVEL_OFF;
            load -= item->load;
        }
        changes += item->wanted != item->level;
    }
    return changes;
}
