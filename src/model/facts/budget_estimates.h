// SPDX-License-Identifier: MIT
/*
 * What functions did while a budget kept them from being recorded, as the probe has
 * estimated it (struct cunei_sample): to be added to what was recorded.
 *
 * Like all facts they add up, and so do the squares of their errors.
 */
#ifndef CUNEI_MODEL_FACTS_BUDGET_ESTIMATES_H
#define CUNEI_MODEL_FACTS_BUDGET_ESTIMATES_H

#include <stdbool.h>
#include <stdint.h>

/* So many standard errors are the width that is named: 19 of 20 are within it. */
#define CUNEI_GUESS_ERRORS 2.0

/* Of a function, by its slot in a profile; times are in ticks. */
struct cunei_budget_estimate {
    uint64_t calls, resumes, self, total;
    uint64_t span;      /* the run time that these are about */
    uint64_t hidden;    /* of its own recorded time, what is a demoted callee's */
    uint64_t demotions; /* how often it was demoted */
    uint64_t samples;
    bool is_counted; /* all of these calls were counted */
    /* Of independent errors, and what may be wrong in all of them. */
    double calls_variance, resumes_variance, self_variance;
    double calls_bias, resumes_bias, self_bias;
    /* Private, until cunei_budget_estimate_close. */
    uint64_t sampled_at; /* when the last sample was */
    uint64_t changed;    /* when it was demoted last, or recorded again … */
    bool is_demoted;     /* … and which of both */
};

struct cunei_budget_estimates {
    struct cunei_budget_estimate
        *items; /* owned: for each slot; NULL: nothing was demoted */
    uint64_t bursts;
};

void cunei_budget_estimates_fini(struct cunei_budget_estimates *guesses);

/* It was demoted at a tick, or recorded again; the later of two changes counts. */
void cunei_budget_estimate_change(struct cunei_budget_estimate *guess, uint64_t time,
                                  bool is_demoted);

/*
 * When all of a process has been added, up to its last event.  What is demoted then has
 * no end: the process was killed, or still runs, and has done something since.
 */
void cunei_budget_estimate_close(struct cunei_budget_estimate *guess, uint64_t last);

/* What the sum may be wrong by, in both directions. */
double cunei_budget_estimate_calls_width(const struct cunei_budget_estimate *guess);
double cunei_budget_estimate_resumes_width(const struct cunei_budget_estimate *guess);
double cunei_budget_estimate_self_width(const struct cunei_budget_estimate *guess);

/* As if it were of one function; all of `to` that is times a factor. */
void cunei_budget_estimate_add(struct cunei_budget_estimate *to,
                               const struct cunei_budget_estimate *from, double factor);

#endif
