// SPDX-License-Identifier: MIT
#include "model/facts/gc_pauses.h"

static void add_pause(struct cunei_gc_pauses *collections, uint64_t begin, uint64_t end)
{
    uint64_t pause = end > begin ? end - begin : 0;

    collections->pause += pause;
    if (pause > collections->pause_max)
        collections->pause_max = pause;
}

void cunei_gc_pauses_read(struct cunei_gc_pauses *collections,
                          struct cunei_gc_open_pause *state,
                          const struct cunei_gc *event, uint64_t time)
{
    enum cunei_phase phase = cunei_record_phase(event->record);

    if (phase == CUNEI_PHASE_ENTER) {
        state->is_seen = state->is_open = true;
        state->since = time;
    } else if (phase == CUNEI_PHASE_LEAVE) {
        uint32_t generation = event->generation < CUNEI_GENERATIONS
                                  ? event->generation
                                  : CUNEI_GENERATIONS - 1;
        collections->count[generation]++;
        collections->collected += event->collected;
        collections->uncollectable += event->uncollectable;
        if (state->is_open)
            add_pause(collections, state->since, time);
        else if (!state->is_seen) {
            state->has_end = true;
            state->end = time;
        }
        state->is_seen = true;
        state->is_open = false;
    }
}

void cunei_gc_pauses_join(struct cunei_gc_pauses *left,
                          struct cunei_gc_open_pause *left_state,
                          const struct cunei_gc_pauses *right,
                          const struct cunei_gc_open_pause *right_state, bool lost)
{
    cunei_gc_pauses_add(left, right);
    if (left_state->is_open && right_state->has_end && !lost)
        add_pause(left, left_state->since, right_state->end);
    if (!left_state->is_seen && !lost) {
        left_state->has_end = right_state->has_end;
        left_state->end = right_state->end;
    }
    if (right_state->is_seen || lost) {
        left_state->is_open = right_state->is_open;
        left_state->since = right_state->since;
    }
    left_state->is_seen |= right_state->is_seen || lost;
}

void cunei_gc_pauses_add(struct cunei_gc_pauses *collections,
                         const struct cunei_gc_pauses *other)
{
    for (unsigned i = 0; i < CUNEI_GENERATIONS; i++)
        collections->count[i] += other->count[i];
    collections->pause += other->pause;
    if (other->pause_max > collections->pause_max)
        collections->pause_max = other->pause_max;
    collections->collected += other->collected;
    collections->uncollectable += other->uncollectable;
}

uint64_t cunei_gc_pauses_count(const struct cunei_gc_pauses *collections)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < CUNEI_GENERATIONS; i++)
        count += collections->count[i];
    return count;
}
