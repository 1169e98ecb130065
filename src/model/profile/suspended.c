// SPDX-License-Identifier: MIT
#include "model/profile/suspended.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

/* Of more outstanding yields, most are of generators that never resume. */
#define YIELDS_MAX (1u << 18)

void cunei_suspended_fini(struct cunei_suspended *waits)
{
    free(waits->yields);
    free(waits->resumes);
    *waits = (struct cunei_suspended){0};
}

/* Close the gaps that resumed ones left, and forget the oldest where there are still
 * more than `keep`: generators that were abandoned. */
static void compact(struct cunei_facts *functions, struct cunei_suspended *waits,
                    uint32_t keep)
{
    uint32_t live = 0, count = 1;

    for (uint32_t i = 1; i < waits->count; i++) {
        live += waits->yields[i].slot != 0;
        functions[waits->yields[i].slot].outstanding = 0;
    }
    for (uint32_t i = 1; i < waits->count; i++) {
        struct cunei_wait wait = waits->yields[i];
        if (wait.slot == 0)
            continue;
        struct cunei_facts *facts = &functions[wait.slot];
        if (live-- > keep) {
            facts->forgotten++;
            continue;
        }
        wait.below = facts->outstanding;
        facts->outstanding = count;
        waits->yields[count++] = wait;
    }
    waits->count = count;
}

/* Yields are numbered from 1, so that 0 says there is none. */
static int push(struct cunei_facts *functions, struct cunei_suspended *waits,
                uint32_t slot, uint64_t time)
{
    struct cunei_facts *facts = &functions[slot];

    if (waits->count == 0)
        waits->count = 1;
    if (waits->count == YIELDS_MAX)
        compact(functions, waits, YIELDS_MAX / 2);
    if (!CUNEI_VECTOR_RESERVE(waits->yields, waits->capacity, waits->count + 1))
        return -ENOMEM;
    waits->yields[waits->count] = (struct cunei_wait){time, slot, facts->outstanding};
    facts->outstanding = waits->count++;
    return 0;
}

int cunei_suspended_spill(struct cunei_facts *functions, struct cunei_suspended *waits,
                          uint32_t slot, uint64_t time)
{
    struct cunei_facts *facts = &functions[slot];

    int rc = push(functions, waits, slot, facts->yielded - 1);
    facts->yielded = time + 1;
    return rc;
}

int cunei_suspended_resume(struct cunei_facts *functions, struct cunei_suspended *waits,
                           uint32_t slot, uint64_t time)
{
    struct cunei_facts *facts = &functions[slot];
    uint32_t index = facts->outstanding;

    if (index != 0) {
        facts->suspended += time - waits->yields[index].time;
        facts->outstanding = waits->yields[index].below;
        waits->yields[index].slot = 0;
        if (index + 1 == waits->count)
            waits->count--;
        return 0;
    }
    if (facts->forgotten > 0) {
        facts->forgotten--;
        return 0;
    }
    if (waits->resume_count == YIELDS_MAX)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(waits->resumes, waits->resume_capacity,
                              waits->resume_count + 1))
        return -ENOMEM;
    waits->resumes[waits->resume_count++] = (struct cunei_wait){time, slot, 0};
    return 0;
}

int cunei_suspended_seal(struct cunei_facts *functions, uint32_t slot_count,
                         struct cunei_suspended *waits)
{
    int rc = 0;

    for (uint32_t i = 1; waits->has_yields && rc == 0 && i < slot_count; i++) {
        struct cunei_facts *facts = &functions[i];
        if (facts->yielded != 0)
            rc = push(functions, waits, i, facts->yielded - 1);
        facts->yielded = 0;
        facts->forgotten = 0;
    }
    compact(functions, waits, UINT32_MAX);
    for (uint32_t i = 1; i < waits->count; i++)
        functions[waits->yields[i].slot].outstanding = 0;
    waits->has_yields = false;
    return rc;
}

void cunei_suspended_reopen(struct cunei_facts *functions,
                            struct cunei_suspended *waits)
{
    compact(functions, waits, UINT32_MAX); /* links them again */
}

int cunei_suspended_join(struct cunei_facts *functions, uint32_t slot_count,
                         struct cunei_suspended *waits,
                         const struct cunei_suspended *later)
{
    int rc = 0;

    if (later->count <= 1 && later->resume_count == 0)
        return 0;
    compact(functions, waits, UINT32_MAX); /* to link them again */
    for (uint32_t i = 0; rc == 0 && i < later->resume_count; i++)
        rc = cunei_suspended_resume(functions, waits, later->resumes[i].slot,
                                    later->resumes[i].time);
    for (uint32_t i = 1; rc == 0 && i < later->count; i++)
        rc = push(functions, waits, later->yields[i].slot, later->yields[i].time);
    if (rc == 0)
        rc = cunei_suspended_seal(functions, slot_count, waits);
    return rc;
}
