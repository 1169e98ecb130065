// SPDX-License-Identifier: MIT
/*
 * How long generators and coroutines are suspended: private to the model.
 *
 * A resumption belongs to the latest yield of its function on the stream that none has
 * been found for.  Which of several generators it really was makes no difference to the
 * sum, as long as all of them resume; one that is never resumed adds nothing.  The
 * latest yield of a function is kept in its facts, so that a plain loop over a
 * generator needs nothing else; those below it are here.
 *
 * A piece of a stream passes on the yields that were not resumed in it, and the
 * resumptions whose yields it did not see.
 */
#ifndef CUNEI_MODEL_PROFILE_SUSPENDED_H
#define CUNEI_MODEL_PROFILE_SUSPENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/facts/function_facts.h"

/* Private: a yield or a resumption. */
struct cunei_wait {
    uint64_t time;
    uint32_t slot;
    uint32_t below; /* the yield of the function before it */
};

/* Private. */
struct cunei_suspended {
    struct cunei_wait *yields; /* owned: outstanding, from 1 on; slot 0: not any more */
    uint32_t count, capacity;
    struct cunei_wait *resumes; /* owned: of yields before this piece */
    uint32_t resume_count, resume_capacity;
    bool has_yields; /* there may be some in the facts of functions */
};

/* A function yielded while another yield of it is outstanding. */
int cunei_suspended_spill(struct cunei_facts *functions, struct cunei_suspended *waits,
                          uint32_t slot, uint64_t time);

/* It was resumed, and its facts hold no yield. */
int cunei_suspended_resume(struct cunei_facts *functions, struct cunei_suspended *waits,
                           uint32_t slot, uint64_t time);

/* Take what is outstanding out of the profile, so that another piece can use the same
 * table of functions. */
int cunei_suspended_seal(struct cunei_facts *functions, uint32_t slot_count,
                         struct cunei_suspended *waits);

/* The opposite, when the piece is read again. */
void cunei_suspended_reopen(struct cunei_facts *functions,
                            struct cunei_suspended *waits);

/* Both are sealed. */
int cunei_suspended_join(struct cunei_facts *functions, uint32_t slot_count,
                         struct cunei_suspended *waits,
                         const struct cunei_suspended *later);
void cunei_suspended_fini(struct cunei_suspended *waits);

/* An event of phase yield or resume. */
static inline int cunei_suspended_read(struct cunei_facts *functions,
                                       struct cunei_suspended *waits, uint32_t slot,
                                       bool is_yield, uint64_t time)
{
    struct cunei_facts *facts = &functions[slot];

    if (is_yield) {
        if (facts->yielded != 0)
            return cunei_suspended_spill(functions, waits, slot, time);
        facts->yielded = time + 1;
        waits->has_yields = true;
        return 0;
    }
    if (facts->yielded == 0)
        return cunei_suspended_resume(functions, waits, slot, time);
    facts->suspended += time + 1 - facts->yielded;
    facts->yielded = 0;
    return 0;
}

#endif
