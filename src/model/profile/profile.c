// SPDX-License-Identifier: MIT
#include "model/profile/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "model/profile/profile_budget.h"
#include "model/profile/profile_events.h"
#include "model/profile/profile_resync.h"
#include "model/profile/profile_stack.h"
#include "model/profile/suspended.h"

#define CACHE_LINE ((size_t)64)

static_assert(sizeof(struct cunei_facts) == 2 * CACHE_LINE, "facts straddle lines");
static_assert(offsetof(struct cunei_facts, resumes) == CACHE_LINE,
              "what every event touches left its cache line");

/* Above the wire's limit for ids nothing is ever defined. */
static uint32_t slots_for(uint32_t function_count)
{
    uint32_t max = CUNEI_FUNCTION_END - CUNEI_FUNCTION_FIRST;
    return 1 + (function_count < max ? function_count : max);
}

static struct cunei_facts *align(void *memory)
{
    uintptr_t start = (uintptr_t)memory;
    return (void *)((char *)memory + (CACHE_LINE - start % CACHE_LINE));
}

int cunei_profile_init(struct cunei_profile *profile,
                       const struct cunei_profile_options *options)
{
    *profile = (struct cunei_profile){
        .slot_count = slots_for(options->function_count),
        .kinds = options->kinds,
        .has_threads = options->tree && options->threads,
        .scale = cunei_tick_scale(options->frequency),
        .tags = {.max = CUNEI_TAGS_MAX},
    };

    /* calloc does not touch pages before they are used; aligned_alloc does not zero. */
    size_t size = (size_t)profile->slot_count * sizeof(struct cunei_facts);
    profile->memory = calloc(1, size + CACHE_LINE);
    if (!profile->memory)
        return -ENOMEM;
    profile->functions = align(profile->memory);
    if (options->tree)
        profile->tree = cunei_tree_new();
    if (options->edges)
        profile->edges = cunei_edges_new();
    if (options->tree != !!profile->tree || options->edges != !!profile->edges) {
        cunei_profile_fini(profile);
        return -ENOMEM;
    }
    return 0;
}

int cunei_profile_grow(struct cunei_profile *profile, uint32_t function_count,
                       struct cunei_id_kinds kinds)
{
    uint32_t before = profile->slot_count, count = slots_for(function_count);

    if (count > before) {
        void *memory =
            calloc(1, (size_t)count * sizeof(struct cunei_facts) + CACHE_LINE);
        if (!memory || cunei_profile_budget_grow(profile, count) < 0) {
            free(memory);
            return -ENOMEM;
        }
        memcpy(align(memory), profile->functions, before * sizeof(*profile->functions));
        free(profile->memory);
        profile->memory = memory;
        profile->functions = align(memory);
        profile->slot_count = count;
    }
    profile->kinds = kinds;
    return 0;
}

void cunei_profile_fini(struct cunei_profile *profile)
{
    for (uint32_t i = 0; profile->functions && i < profile->slot_count; i++)
        cunei_histogram_fini(&profile->functions[i].histogram);
    free(profile->memory);
    cunei_tree_free(profile->tree);
    cunei_edges_free(profile->edges);
    cunei_tasks_fini(&profile->tasks);
    cunei_exceptions_fini(&profile->exceptions);
    cunei_budget_estimates_fini(&profile->guesses);
    cunei_text_set_fini(&profile->tags);
    *profile = (struct cunei_profile){0};
}

uint64_t cunei_profile_ns(const struct cunei_profile *profile, uint64_t ticks)
{
    return cunei_ticks_ns(ticks, profile->scale.frequency);
}

/* What the loop below holds in registers. */
struct cursor {
    struct cunei_frame *top;
    struct cunei_frame *limit; /* the last place for a frame */
    struct cunei_facts *current;
    uint64_t last;
    uint64_t calls;
};

static inline struct cursor load(const struct cunei_profile *profile,
                                 const struct cunei_piece *piece, uint64_t calls)
{
    struct cunei_frame *top = &piece->frames[piece->depth];
    return (struct cursor){
        .top = top,
        .limit = piece->beyond ? top : piece->frames + piece->capacity - 1,
        .current = &profile->functions[top->owner],
        .last = piece->last,
        .calls = calls,
    };
}

static inline void store(struct cunei_piece *piece, const struct cursor *cursor)
{
    piece->depth = (uint32_t)(cursor->top - piece->frames);
    piece->last = cursor->last;
}

static inline __attribute__((always_inline)) void pass(struct cunei_profile *profile,
                                                       struct cursor *cursor,
                                                       uint64_t time, bool tree,
                                                       bool edges)
{
    uint64_t passed = time - cursor->last;

    cursor->current->self += passed;
    if (tree)
        profile->tree->nodes[cursor->top->node].self += passed;
    if (edges)
        profile->edges->items[cursor->top->edge].self += passed;
    cursor->last = time;
}

static inline __attribute__((always_inline)) void enter(struct cunei_profile *profile,
                                                        struct cursor *cursor,
                                                        uint32_t slot, uint64_t time,
                                                        bool is_call, bool tree,
                                                        bool edges)
{
    struct cunei_frame *below = cursor->top++;
    struct cunei_facts *facts = &profile->functions[slot];
    bool recursive = facts->open > 0;

    *cursor->top = (struct cunei_frame){
        .entered = time,
        .slot = slot,
        .run = slot == below->owner ? below->run + 1 : 1,
        .owner = slot,
        .level = below->level + 1,
    };
    facts->opened_at = recursive ? facts->opened_at : time;
    facts->open++;
    facts->calls += is_call;
    if (!is_call) {
        facts->resumes++;
        facts->nested += recursive;
    } else if (recursive) {
        facts->recursive++;
    }
    cursor->calls += is_call;
    cursor->current = facts;

    if (tree) {
        uint32_t index = cunei_tree_child(profile->tree, below->node, slot);
        struct cunei_node *node = &profile->tree->nodes[index];
        cursor->top->node = index;
        if (node->slot == slot) {
            node->calls += is_call;
            node->resumes += !is_call;
            node->recursive += is_call && index == below->node;
        }
    }
    if (edges) {
        uint32_t index = cunei_edges_find(profile->edges, below->slot, slot);
        struct cunei_edge *edge = &profile->edges->items[index];
        edge->calls += is_call;
        edge->resumes += !is_call;
        edge->recursive += edge->open > 0;
        cunei_edges_open(profile->edges, index, time);
        cursor->top->edge = index;
        facts->edge = recursive ? facts->edge : index;
    }
}

/* The leave of the top frame, whose entry was seen. */
static inline __attribute__((always_inline)) int leave(struct cunei_profile *profile,
                                                       struct cursor *cursor,
                                                       uint64_t time, bool edges)
{
    struct cunei_facts *facts = cursor->current; /* no region's: it is on top */
    uint64_t ticks = time - cursor->top->entered;
    uint64_t ns = cunei_tick_scale_ns(&profile->scale, ticks);
    uint64_t total = --facts->open == 0 ? time - facts->opened_at : 0;

    facts->total += total;
    if (__builtin_expect(total != ticks, 0)) /* a recursion */
        facts->surplus += ticks - total;
    if (edges) {
        profile->edges->items[facts->edge].total += total;
        cunei_edges_close(profile->edges, cursor->top->edge, time);
    }
    facts->max_ns = ns > facts->max_ns ? ns : facts->max_ns;
    cursor->top--;
    cursor->current = &profile->functions[cursor->top->owner];
    return cunei_histogram_add(&facts->histogram, ns);
}

/*
 * A plain entry finds room, a plain leave is one of the top frame whose entry was seen:
 * all others go through here.
 */
static __attribute__((noinline)) int rare(struct cunei_profile *profile,
                                          struct cunei_piece *piece,
                                          struct cursor *cursor, uint32_t slot,
                                          uint32_t phase)
{
    int rc = 0;

    store(piece, cursor);
    if (phase & 1)
        rc = cunei_profile_leave(
            profile, piece,
            &(struct cunei_leave){.slot = slot,
                                  .is_yield = phase == CUNEI_PHASE_YIELD});
    else if (!cunei_profile_stack_reserve(piece)) {
        piece->beyond++;
        profile->functions[slot].calls += phase == CUNEI_PHASE_ENTER;
        profile->functions[slot].resumes += phase == CUNEI_PHASE_RESUME;
        cursor->calls += phase == CUNEI_PHASE_ENTER;
    }
    *cursor = load(profile, piece, cursor->calls);
    return rc;
}

/* The same for a region, which is not a call. */
static __attribute__((noinline)) int read_region(struct cunei_profile *profile,
                                                 struct cunei_piece *piece,
                                                 struct cursor *cursor, uint32_t slot,
                                                 uint32_t phase, uint64_t time)
{
    int rc = 0;

    store(piece, cursor);
    if (phase & 1) {
        if (phase == CUNEI_PHASE_YIELD)
            rc = cunei_suspended_read(profile->functions, &piece->waits, slot, true,
                                      time);
        if (rc == 0)
            rc = cunei_profile_leave(
                profile, piece,
                &(struct cunei_leave){.slot = slot,
                                      .is_yield = phase == CUNEI_PHASE_YIELD});
    } else
        rc =
            cunei_profile_stack_enter(profile, piece, slot, phase == CUNEI_PHASE_ENTER);
    *cursor = load(profile, piece, cursor->calls);
    return rc;
}

/* A call ends or is suspended. */
static inline __attribute__((always_inline)) int read_leave(
    struct cunei_profile *profile, struct cunei_piece *piece, struct cursor *cursor,
    uint32_t slot, uint32_t phase, uint64_t time, bool edges)
{
    int rc = 0;

    if (__builtin_expect(phase & 2, 0) &&
        (rc = cunei_suspended_read(profile->functions, &piece->waits, slot, true,
                                   time)) < 0)
        return rc;
    if (__builtin_expect(cursor->top->slot == slot &&
                             !cunei_frame_is_watched(cursor->top) && piece->beyond == 0,
                         1))
        return leave(profile, cursor, time, edges);
    return rare(profile, piece, cursor, slot, phase);
}

/* A call begins or resumes. */
static inline __attribute__((always_inline)) int read_enter(
    struct cunei_profile *profile, struct cunei_piece *piece, struct cursor *cursor,
    uint32_t slot, uint32_t phase, uint64_t time, bool tree, bool edges)
{
    int rc = 0;

    if (__builtin_expect(cursor->top == cursor->limit, 0)) {
        rc = rare(profile, piece, cursor, slot, phase);
        if (cursor->top == cursor->limit)
            return rc;
    }
    enter(profile, cursor, slot, time, phase == CUNEI_PHASE_ENTER, tree, edges);
    if (__builtin_expect(phase & 2, 0))
        rc = cunei_suspended_read(profile->functions, &piece->waits, slot, false, time);
    return rc;
}

/*
 * The loop that every event goes through.  `tree` and `edges` are constants: each of
 * the callers below gets a copy that does only what it needs.
 */
static inline __attribute__((always_inline)) int read_words(
    struct cunei_profile *profile, struct cunei_piece *piece, uint64_t begin,
    const uint64_t *words, size_t count, bool tree, bool edges)
{
    const uint64_t *end = words + count;
    const uint32_t function_count = profile->slot_count - 1;
    struct cursor cursor = load(profile, piece, 0);
    uint64_t events = 0;
    int rc = 0;

    for (const uint64_t *at = words; at < end && rc == 0; at++) {
        uint64_t record = *at;
        uint32_t function = cunei_record_class(record);
        uint32_t phase = (uint32_t)(record >> CUNEI_PHASE_SHIFT);
        uint64_t time = cunei_record_time(record, begin);

        events++;
        if (__builtin_expect(function < CUNEI_FUNCTION_FIRST, 0)) {
            if (function != CUNEI_CLASS_CALL) {
                store(piece, &cursor);
                at = cunei_profile_events_read(profile, piece, at, end, begin, &rc);
                cursor = load(profile, piece, cursor.calls);
                continue;
            }
            function = cunei_profile_events_function(&at, end);
        }
        uint32_t slot = function - (CUNEI_FUNCTION_FIRST - 1);
        if (__builtin_expect(slot - 1 >= function_count, 0)) {
            profile->unknown++;
            continue;
        }
        time = time > cursor.last ? time : cursor.last;
        pass(profile, &cursor, time, tree, edges);
        if (__builtin_expect(cunei_slot_is_region(profile, slot), 0)) {
            rc = read_region(profile, piece, &cursor, slot, phase, time);
            continue;
        }
        rc = phase & 1
                 ? read_leave(profile, piece, &cursor, slot, phase, time, edges)
                 : read_enter(profile, piece, &cursor, slot, phase, time, tree, edges);
    }
    store(piece, &cursor);

    struct cunei_thread *thread = &piece->threads[piece->thread_count - 1];
    thread->calls += cursor.calls;
    thread->end = cursor.last;
    profile->events += events;
    return rc;
}

static int read_flat(struct cunei_profile *profile, struct cunei_piece *piece,
                     uint64_t begin, const uint64_t *words, size_t count)
{
    return read_words(profile, piece, begin, words, count, false, false);
}

static int read_all(struct cunei_profile *profile, struct cunei_piece *piece,
                    uint64_t begin, const uint64_t *words, size_t count)
{
    if (!profile->edges)
        return read_words(profile, piece, begin, words, count, true, false);
    if (!profile->tree)
        return read_words(profile, piece, begin, words, count, false, true);
    return read_words(profile, piece, begin, words, count, true, true);
}

int cunei_profile_read(struct cunei_profile *profile, struct cunei_piece *piece,
                       const struct cunei_packet *packet, const uint64_t *words,
                       size_t word_count)
{
    int rc = cunei_piece_begin_packet(profile, piece, packet, word_count > 0);
    if (rc < 0 || word_count == 0)
        return rc;
    /* Without a stack nothing is known to be open: what was open is not any more. */
    if (cunei_record_class(words[0]) != CUNEI_CLASS_STACK)
        rc = cunei_profile_sync(profile, piece, NULL,
                                cunei_record_time(words[0], packet->timestamp_begin));
    return rc == 0 ? cunei_profile_continue(profile, piece, packet, words, word_count)
                   : rc;
}

int cunei_profile_continue(struct cunei_profile *profile, struct cunei_piece *piece,
                           const struct cunei_packet *packet, const uint64_t *words,
                           size_t word_count)
{
    uint64_t begin = packet->timestamp_begin;
    uint64_t events = profile->events;
    int rc;

    if (profile->tree || profile->edges)
        rc = read_all(profile, piece, begin, words, word_count);
    else
        rc = read_flat(profile, piece, begin, words, word_count);
    piece->threads[piece->thread_count - 1].events += profile->events - events;
    return rc;
}

int cunei_profile_add(struct cunei_profile *profile, const struct cunei_profile *other)
{
    uint32_t count = other->slot_count < profile->slot_count ? other->slot_count
                                                             : profile->slot_count;
    for (uint32_t i = 0; i < count; i++) {
        struct cunei_facts *to = &profile->functions[i];
        const struct cunei_facts *from = &other->functions[i];

        to->calls += from->calls;
        to->self += from->self;
        to->total += from->total;
        to->resumes += from->resumes;
        to->recursive += from->recursive;
        to->raised += from->raised;
        to->nested += from->nested;
        to->surplus += from->surplus;
        to->suspended += from->suspended;
        to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
        int rc = cunei_histogram_merge(&to->histogram, &from->histogram);
        if (rc < 0)
            return rc;
    }
    cunei_tasks_add(&profile->tasks, &other->tasks);
    cunei_exceptions_add(&profile->exceptions, &other->exceptions, NULL);
    for (uint32_t i = 0; i < other->tags.count; i++) {
        if (cunei_text_set_add(&profile->tags, other->tags.items[i],
                               other->tags.sizes[i]) == -ENOMEM)
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < CUNEI_CLASS_COUNT; i++)
        profile->user_events[i] += other->user_events[i];
    profile->misused += other->misused;
    cunei_recording_off_add(&profile->pauses, &other->pauses);
    profile->switches += other->switches;
    profile->lines += other->lines;
    profile->events += other->events;
    profile->orphans += other->orphans;
    profile->unclosed += other->unclosed;
    profile->appeared += other->appeared;
    profile->gaps += other->gaps;
    profile->unknown += other->unknown;
    if (profile->tree && other->tree)
        cunei_tree_add(profile->tree, other->tree, NULL, 1, 1);
    if (profile->edges && other->edges)
        cunei_edges_add(profile->edges, other->edges, NULL, 1, 1);
    return cunei_profile_budget_add(profile, other);
}
