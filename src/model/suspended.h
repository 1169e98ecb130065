// SPDX-License-Identifier: MIT
/*
 * How long generators and coroutines are suspended: private to the model.
 *
 * A resumption belongs to the latest yield of its function on the stream that none has
 * been found for.  Which of several generators it really was makes no difference to the
 * sum, as long as all of them go on; one that is never resumed adds nothing.  The
 * latest yield of a function is kept in its facts, so that a plain loop over a
 * generator needs nothing else; those below it are here.
 *
 * A piece of a stream passes on the yields that were not resumed in it, and the
 * resumptions whose yields it did not see.
 */
#ifndef CUNEI_MODEL_SUSPENDED_H
#define CUNEI_MODEL_SUSPENDED_H

#include "model/profile.h"

/* A function yielded while another yield of it is outstanding. */
int cunei_suspended_spill(struct cunei_profile *profile, struct cunei_span *span,
                          uint32_t slot, uint64_t time);

/* It was resumed, and its facts hold no yield. */
int cunei_suspended_resume(struct cunei_profile *profile, struct cunei_span *span,
                           uint32_t slot, uint64_t time);

/* Take what is outstanding out of the profile, so that it may read another span. */
int cunei_suspended_seal(struct cunei_profile *profile, struct cunei_span *span);

/* Both are sealed. */
int cunei_suspended_join(struct cunei_profile *profile, struct cunei_span *left,
                         const struct cunei_span *right);
void cunei_suspended_fini(struct cunei_suspended *waits);

/* An event of phase yield or resume. */
static inline int cunei_suspended_read(struct cunei_profile *profile,
                                       struct cunei_span *span, uint32_t slot,
                                       bool is_yield, uint64_t time)
{
    struct cunei_facts *facts = &profile->functions[slot];

    if (is_yield) {
        if (facts->yielded != 0)
            return cunei_suspended_spill(profile, span, slot, time);
        facts->yielded = time + 1;
        span->waits.has_yields = true;
        return 0;
    }
    if (facts->yielded == 0)
        return cunei_suspended_resume(profile, span, slot, time);
    facts->suspended += time + 1 - facts->yielded;
    facts->yielded = 0;
    return 0;
}

#endif
