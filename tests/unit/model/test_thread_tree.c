// SPDX-License-Identifier: MIT
/* A call tree with a node for each thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/facts/call_tree.h"
#include "readtape.h"

/* Two threads in one stream; the first packets end inside of calls. */
static void put_threads(void)
{
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, G, 20);
    tape_packet(&tape, 1, 50);
    tape_leave(&tape, G, 60);
    tape_leave(&tape, F, 100);
    tape_packet(&tape, 2, 200);
    tape_enter(&tape, G, 210);
    tape_packet(&tape, 2, 230);
    tape_leave(&tape, G, 250);
}

static const struct cunei_node *node_of(struct cunei_tree *tree, uint32_t parent,
                                        uint32_t slot)
{
    uint32_t before = tree->count, child = cunei_tree_child(tree, parent, slot);

    assert_int_equal(tree->count, before);
    return &tree->nodes[child];
}

static uint32_t slot_of(uint32_t function)
{
    return function - CUNEI_FUNCTION_FIRST + 1;
}

static void check_tree(bool is_in_pieces)
{
    const struct cunei_profile_options options = {.function_count = FUNCTION_COUNT,
                                                  .frequency = 1000000000,
                                                  .tree = true,
                                                  .threads = true};

    cunei_profile_fini(&profile);
    assert_int_equal(cunei_profile_init(&profile, &options), 0);
    put_threads();
    if (is_in_pieces)
        read_tape_in(1);
    else
        read_tape();

    struct cunei_tree *tree = profile.tree;
    uint32_t one = cunei_tree_child(tree, 0, CUNEI_TREE_THREAD | 1);
    uint32_t two = cunei_tree_child(tree, 0, CUNEI_TREE_THREAD | 2);
    assert_int_equal(tree->count, 1 + 2 + 3);
    const struct cunei_node *f = node_of(tree, one, slot_of(F));
    assert_int_equal(f->calls, 1);
    assert_int_equal(f->self, 90 - 40);
    const struct cunei_node *g = node_of(tree, (uint32_t)(f - tree->nodes), slot_of(G));
    assert_int_equal(g->self, 40);
    g = node_of(tree, two, slot_of(G));
    assert_int_equal(g->calls, 1);
    assert_int_equal(g->self, 40);
    assert_int_equal(tree->nodes[0].self, 0);
}

static void each_thread_has_its_calls(void **state)
{
    (void)state;
    check_tree(false);
}

static void calls_across_pieces_are_their_threads(void **state)
{
    (void)state;
    check_tree(true);
}

static void threads_keep_their_slots_in_a_sum(void **state)
{
    (void)state;
    static const uint32_t map[] = {0, 7};
    struct cunei_tree *sum = cunei_tree_new();
    struct cunei_tree *one = cunei_tree_new();
    uint32_t thread = cunei_tree_child(one, 0, CUNEI_TREE_THREAD | 3);
    uint32_t function = cunei_tree_child(one, thread, 1);
    one->nodes[function].self = 5;

    cunei_tree_add(sum, one, map, 1, 1);

    thread = cunei_tree_child(sum, 0, CUNEI_TREE_THREAD | 3);
    assert_int_equal(node_of(sum, thread, 7)->self, 5);
    cunei_tree_free(sum);
    cunei_tree_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_thread_has_its_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_across_pieces_are_their_threads, set_up,
                                        tear_down),
        cmocka_unit_test(threads_keep_their_slots_in_a_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
