// SPDX-License-Identifier: MIT
/* However a stream is cut into pieces, the facts are those of one pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chance.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "model/profile/profile.h"
#include "model/walk/walk.h"

#define ROUNDS 800

/* Every other round knows some of the functions for regions. */
static const uint8_t kinds[FUNCTION_COUNT] = {
    [1] = CUNEI_DEFINITION_REGION, [3] = CUNEI_DEFINITION_REGION};

static struct cunei_profile_options options = {
    .function_count = FUNCTION_COUNT,
    .frequency = 2500000000,
    .tree = true,
    .edges = true,
};

static void begin_round(uint64_t round)
{
    options.kinds = (struct cunei_id_kinds){round % 2 ? kinds : NULL, FUNCTION_COUNT};
}

static void read_packets(struct cunei_profile *profile, struct cunei_piece *span,
                         const struct tape *tape, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        assert_int_equal(cunei_profile_read(profile, span, &tape->packets[i]->head,
                                            tape->packets[i]->words,
                                            tape->packets[i]->count),
                         0);
    assert_int_equal(cunei_profile_seal(profile, span), 0);
}

/* Pieces of random lengths, into two profiles by turns, joined in a random order. */
static void read_in_pieces(struct cunei_profile *profile, struct cunei_piece *whole,
                           const struct tape *tape)
{
    struct cunei_piece pieces[TAPE_PACKETS] = {0};
    struct cunei_profile other;
    size_t count = 0;

    assert_int_equal(cunei_profile_init(&other, &options), 0);
    for (size_t begin = 0; begin < tape->count;) {
        size_t end = begin + 1 + dice(5);
        end = end < tape->count ? end : tape->count;
        read_packets(dice(2) ? profile : &other, &pieces[count++], tape, begin, end);
        begin = end;
    }
    assert_int_equal(cunei_profile_add(profile, &other), 0);
    cunei_profile_fini(&other);

    for (; count > 1; count--) {
        size_t at = dice((uint32_t)count - 1);
        assert_int_equal(cunei_profile_join(profile, &pieces[at], &pieces[at + 1]), 0);
        memmove(&pieces[at + 1], &pieces[at + 2], (count - at - 2) * sizeof(pieces[0]));
    }
    *whole = pieces[0];
}

static void compare_functions(const struct cunei_profile *a,
                              const struct cunei_profile *b)
{
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const struct cunei_facts *one = &a->functions[i], *two = &b->functions[i];
        if (i > 0)
            assert_int_equal(one->total, two->total);
        assert_int_equal(one->calls, two->calls);
        assert_int_equal(one->resumes, two->resumes);
        assert_int_equal(one->self, two->self);
        assert_int_equal(one->recursive, two->recursive);
        assert_int_equal(one->raised, two->raised);
        assert_int_equal(one->nested, two->nested);
        assert_int_equal(one->suspended, two->suspended);
        assert_int_equal(one->max_ns, two->max_ns);
        assert_int_equal(one->histogram.first, two->histogram.first);
        assert_int_equal(one->histogram.span, two->histogram.span);
        if (one->histogram.span > 0)
            assert_memory_equal(one->histogram.counts, two->histogram.counts,
                                one->histogram.span * sizeof(uint64_t));
    }
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->orphans, b->orphans);
    assert_int_equal(a->unclosed, b->unclosed);
    assert_int_equal(a->appeared, b->appeared);
    assert_int_equal(a->gaps, b->gaps);
}

static void compare_tasks(struct cunei_tasks *a, struct cunei_tasks *b)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 1; i < a->count; i++) {
        const struct cunei_task_facts *one = &a->items[i];
        uint32_t index = cunei_tasks_find(b, one->number);
        const struct cunei_task_facts *two = &b->items[index];
        assert_int_equal(one->steps, two->steps);
        assert_int_equal(one->run, two->run);
        assert_int_equal(one->busy, two->busy);
        assert_int_equal(one->first, two->first);
        assert_int_equal(one->last, two->last);
        assert_int_equal(one->has_ended, two->has_ended);
        assert_int_equal(one->has_raised, two->has_raised);
        assert_int_equal(one->named_at, two->named_at);
    }
}

/* The other's facts for a type and place; their order depends on the pieces'. */
static const struct cunei_raise *find_raise(const struct cunei_exceptions *exceptions,
                                            const struct cunei_raise *wanted)
{
    for (uint32_t i = 1; i < exceptions->count; i++) {
        const struct cunei_raise *item = &exceptions->items[i];
        if (strcmp(item->type, wanted->type) == 0 && item->slot == wanted->slot &&
            item->line == wanted->line)
            return item;
    }
    fail_msg("no %s at line %u", wanted->type, wanted->line);
    return NULL;
}

static void compare_exceptions(const struct cunei_exceptions *a,
                               const struct cunei_exceptions *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->handler_count, b->handler_count);
    for (uint32_t i = 1; i < a->count; i++) {
        const struct cunei_raise *one = &a->items[i], *two = find_raise(b, one);
        int64_t kept = 0, other = 0;
        assert_int_equal(one->count, two->count);
        assert_int_equal(one->caught, two->caught);
        assert_int_equal(one->unwound, two->unwound);
        assert_int_equal(one->unwound_max, two->unwound_max);
        for (uint32_t j = 1; j < a->handler_count; j++) {
            if (a->handlers[j].exception == i && a->handlers[j].slot != 0)
                kept += a->handlers[j].count * a->handlers[j].line;
            if (b->handlers[j].exception == two - b->items && b->handlers[j].slot != 0)
                other += b->handlers[j].count * b->handlers[j].line;
        }
        assert_int_equal(kept, other);
    }
}

static void compare_edges(struct cunei_profile *a, struct cunei_profile *b)
{
    for (uint32_t i = 1; i < a->edges->count; i++) {
        const struct cunei_edge *one = &a->edges->items[i];
        uint32_t index = cunei_edges_find(b->edges, one->caller, one->callee);
        const struct cunei_edge *two = &b->edges->items[index];
        assert_int_equal(one->calls, two->calls);
        assert_int_equal(one->resumes, two->resumes);
        assert_int_equal(one->recursive, two->recursive);
        assert_int_equal(one->total, two->total);
        assert_int_equal(one->self, two->self);
        assert_int_equal(one->inclusive, two->inclusive);
    }
}

static void compare_trees(struct cunei_tree *a, uint32_t node, struct cunei_tree *b,
                          uint32_t other)
{
    assert_int_equal(a->nodes[node].self, b->nodes[other].self);
    assert_int_equal(a->nodes[node].gap, b->nodes[other].gap);
    assert_int_equal(a->nodes[node].calls, b->nodes[other].calls);
    assert_int_equal(a->nodes[node].resumes, b->nodes[other].resumes);
    assert_int_equal(a->nodes[node].recursive, b->nodes[other].recursive);
    for (uint32_t i = node + 1; i < a->count; i++) {
        if (a->nodes[i].parent == node)
            compare_trees(a, i, b, cunei_tree_child(b, other, a->nodes[i].slot));
    }
}

static void compare_threads(const struct cunei_piece *a, const struct cunei_piece *b)
{
    assert_int_equal(a->thread_count, b->thread_count);
    assert_int_equal(a->packets, b->packets);
    assert_int_equal(a->gap.missing, b->gap.missing);
    assert_int_equal(a->gap.dropped, b->gap.dropped);
    assert_int_equal(a->discarded, b->discarded);
    for (size_t i = 0; i < a->thread_count; i++) {
        const struct cunei_thread *one = &a->threads[i], *two = &b->threads[i];
        assert_int_equal(one->serial, two->serial);
        assert_int_equal(one->begin, two->begin);
        assert_int_equal(one->end, two->end);
        assert_int_equal(one->events, two->events);
        assert_int_equal(one->calls, two->calls);
        assert_string_equal(one->name, two->name);
        assert_memory_equal(&one->collections, &two->collections,
                            sizeof(one->collections));
        assert_int_equal(one->open_depth, two->open_depth);
        assert_int_equal(one->open_count, two->open_count);
        if (one->open_count > 0)
            assert_memory_equal(one->open, two->open,
                                one->open_count * sizeof(*one->open));
    }
}

static void any_split_gives_the_facts_of_one_pass(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct tape tape = {0};
        struct cunei_profile whole, split;
        struct cunei_piece one = {0}, many = {0};
        seed = round;
        begin_round(round);
        write_tape(&tape);
        assert_int_equal(cunei_profile_init(&whole, &options), 0);
        assert_int_equal(cunei_profile_init(&split, &options), 0);

        read_packets(&whole, &one, &tape, 0, tape.count);
        read_in_pieces(&split, &many, &tape);
        assert_int_equal(cunei_piece_finish(&one), 0);
        assert_int_equal(cunei_piece_finish(&many), 0);

        compare_functions(&whole, &split);
        compare_edges(&whole, &split);
        compare_tasks(&whole.tasks, &split.tasks);
        compare_exceptions(&whole.exceptions, &split.exceptions);
        compare_trees(whole.tree, 0, split.tree, 0);
        compare_threads(&one, &many);
        cunei_piece_fini(&one);
        cunei_piece_fini(&many);
        cunei_profile_fini(&whole);
        cunei_profile_fini(&split);
        tape_fini(&tape);
    }
}

static void self_times_add_up_to_the_time_of_all_threads(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct tape tape = {0};
        struct cunei_profile profile;
        struct cunei_piece span = {0};
        uint64_t self = 0, wall = 0, gap = 0;
        seed = ~round;
        begin_round(round);
        write_tape(&tape);
        assert_int_equal(cunei_profile_init(&profile, &options), 0);

        read_packets(&profile, &span, &tape, 0, tape.count);
        for (uint32_t i = 0; i < profile.slot_count; i++)
            self += profile.functions[i].self;
        for (uint32_t i = 0; i < profile.tree->count; i++)
            gap += profile.tree->nodes[i].gap;
        for (size_t i = 0; i < span.thread_count; i++)
            wall += span.threads[i].end - span.threads[i].begin;

        assert_int_equal(self + gap, wall);
        cunei_piece_fini(&span);
        cunei_profile_fini(&profile);
        tape_fini(&tape);
    }
}

static int ignore_step(void *context, const struct cunei_walk_step *step)
{
    (void)context;
    (void)step;
    return 0;
}

/* Words that a checked packet could never hold, and some that it could. */
static uint64_t any_word(void)
{
    uint64_t noise = (uint64_t)dice(UINT32_MAX) << 33 ^ (uint64_t)dice(UINT32_MAX)
                                                            << 10;

    switch (dice(4)) {
    case 0:
        return noise;
    case 1:
        return cunei_record(noise, CUNEI_CLASS_STACK + dice(CUNEI_CLASS_COUNT),
                            dice(4));
    case 2:
        return dice(6) | (uint64_t)dice(12) << 32;
    default:
        return cunei_record(dice(1000), F + dice(FUNCTION_COUNT + 2), dice(4));
    }
}

static void words_without_sense_do_no_harm(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct cunei_walk *walk =
            cunei_walk_new(ignore_step, NULL, (struct cunei_id_kinds){0});
        struct cunei_profile profile;
        struct cunei_piece left = {0}, right = {0};
        uint64_t words[256];
        seed = round;
        begin_round(round);
        assert_int_equal(cunei_profile_init(&profile, &options), 0);

        for (uint64_t i = 0; i < 16; i++) {
            struct cunei_packet head = {.thread = 1 + dice(2),
                                        .sequence = i + dice(2),
                                        .timestamp_begin = dice(3) ? i * 1000 : 0};
            size_t count = dice(256);
            for (size_t j = 0; j < count; j++)
                words[j] = any_word();
            if (i == 8)
                assert_int_equal(cunei_profile_seal(&profile, &left), 0);
            assert_int_equal(cunei_profile_read(&profile, i < 8 ? &left : &right, &head,
                                                words, count),
                             0);
            assert_int_equal(cunei_walk_packet(walk, &head, words, count), 0);
        }
        assert_int_equal(cunei_profile_seal(&profile, &right), 0);
        assert_int_equal(cunei_profile_join(&profile, &left, &right), 0);
        assert_int_equal(cunei_piece_finish(&left), 0);
        assert_int_equal(cunei_walk_end(walk), 0);

        cunei_piece_fini(&left);
        cunei_piece_fini(&right);
        cunei_profile_fini(&profile);
        cunei_walk_free(walk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_split_gives_the_facts_of_one_pass),
        cmocka_unit_test(self_times_add_up_to_the_time_of_all_threads),
        cmocka_unit_test(words_without_sense_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
