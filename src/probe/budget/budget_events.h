// SPDX-License-Identifier: MIT
/*
 * The events that a budget writes: `demote` when the level of a function changes or a
 * burst begins or ends, `sample` with the estimates.  Private to probe/budget.
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_EVENTS_H
#define CUNEI_PROBE_BUDGET_BUDGET_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/budget/estimate.h"
#include "wire/event.h"

struct cunei_budget;
struct cunei_budget_function;

void cunei_budget_write_demote(enum cunei_phase phase, uint32_t id,
                               enum cunei_level level, bool top_is_open);

/* The estimate of one function, and of its part for each caller. */
void cunei_budget_write_sample(struct cunei_budget *budget, uint32_t id,
                               struct cunei_budget_function *function,
                               bool top_is_open);

/* The estimates of all functions that are demoted, up to the last burst: what is
 * written is not lost if the program is killed. */
void cunei_budget_write_samples(struct cunei_budget *budget, double now_ns,
                                bool top_is_open);
bool cunei_budget_samples_are_due(const struct cunei_budget *budget, double now_ns);

/* The same up to now, without a burst behind it. */
void cunei_budget_write_samples_up_to(struct cunei_budget *budget, double now_ns);

/* Estimate the time since the last burst, which no burst follows; `steady`: the steady
 * events in it. */
void cunei_budget_end_gap(const struct cunei_budget *budget,
                          struct cunei_budget_function *function, double steady,
                          double now_ns);

/* The rates of a gap as the steady events in it predict them. */
struct cunei_second_rates cunei_budget_predict(
    const struct cunei_budget_function *function, double steady, double gap_ns);

#endif
