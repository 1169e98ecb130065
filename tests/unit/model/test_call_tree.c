// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"

static void a_way_is_found_again(void **state)
{
    (void)state;
    struct cunei_tree *tree = cunei_tree_new();

    uint32_t f = cunei_tree_child(tree, 0, 1);
    uint32_t g = cunei_tree_child(tree, f, 2);
    uint32_t other = cunei_tree_child(tree, 0, 2);

    assert_int_equal(cunei_tree_child(tree, 0, 1), f);
    assert_int_equal(cunei_tree_child(tree, f, 2), g);
    assert_int_not_equal(g, other);
    assert_int_equal(tree->count, 4);
    cunei_tree_free(tree);
}

static void a_function_that_calls_itself_stays_in_its_node(void **state)
{
    (void)state;
    struct cunei_tree *tree = cunei_tree_new();
    uint32_t f = cunei_tree_child(tree, 0, 1);

    assert_int_equal(cunei_tree_child(tree, f, 1), f);
    cunei_tree_free(tree);
}

static void nodes_beyond_the_limit_fold_into_their_parent(void **state)
{
    (void)state;
    struct cunei_tree *tree = cunei_tree_new();

    for (uint32_t slot = 1; slot <= CUNEI_TREE_MAX; slot++)
        (void)cunei_tree_child(tree, 0, slot);

    assert_int_equal(tree->count, CUNEI_TREE_MAX);
    assert_int_equal(tree->folded, 1);
    assert_int_equal(cunei_tree_child(tree, 5, 1), 5);
    cunei_tree_free(tree);
}

static void trees_of_two_clocks_add_up(void **state)
{
    (void)state;
    static const uint32_t map[] = {0, 7};
    struct cunei_tree *sum = cunei_tree_new();
    struct cunei_tree *one = cunei_tree_new();
    uint32_t child = cunei_tree_child(one, 0, 1); /* may move the nodes */
    struct cunei_node *node = &one->nodes[child];
    node->calls = 3;
    node->self = 500;

    cunei_tree_add(sum, one, map, 2, 1);
    cunei_tree_add(sum, one, map, 1, 5);

    child = cunei_tree_child(sum, 0, 7);
    node = &sum->nodes[child];
    assert_int_equal(node->calls, 6);
    assert_int_equal(node->self, 1100);
    cunei_tree_free(sum);
    cunei_tree_free(one);
}

static void a_hidden_function_leaves_its_calls_and_its_time(void **state)
{
    (void)state;
    enum {
        MAIN = 1,
        HIDDEN,
        WORK
    };
    static const enum cunei_tree_fold hides[] = {CUNEI_TREE_KEEP, CUNEI_TREE_KEEP,
                                                 CUNEI_TREE_HIDE, CUNEI_TREE_KEEP};
    struct cunei_tree *tree = cunei_tree_new();
    uint32_t top = cunei_tree_child(tree, 0, MAIN);
    uint32_t hidden = cunei_tree_child(tree, top, HIDDEN);
    uint32_t work = cunei_tree_child(tree, hidden, WORK);
    uint32_t direct = cunei_tree_child(tree, top, WORK);
    tree->nodes[hidden].self = 50;
    tree->nodes[work] = (struct cunei_node){.parent = hidden, .slot = WORK, .calls = 2};
    tree->nodes[direct].calls = 3;

    struct cunei_tree *pruned =
        cunei_tree_fold(tree, &(struct cunei_tree_folding){.folds = hides});

    assert_int_equal(pruned->count, 3);
    top = cunei_tree_child(pruned, 0, MAIN);
    assert_int_equal(pruned->nodes[top].gap, 50);
    assert_int_equal(pruned->nodes[top].self, 0);
    assert_int_equal(pruned->nodes[cunei_tree_child(pruned, top, WORK)].calls, 5);
    cunei_tree_free(tree);
    cunei_tree_free(pruned);
}

static void pairs_add_up(void **state)
{
    (void)state;
    struct cunei_edges *sum = cunei_edges_new();
    struct cunei_edges *one = cunei_edges_new();
    for (uint32_t i = 1; i < 1000; i++) {
        uint32_t edge = cunei_edges_find(one, i, i + 1);
        one->items[edge].calls = i;
        one->items[edge].total = 10;
    }

    cunei_edges_add(sum, one, NULL, 1, 1);
    cunei_edges_add(sum, one, NULL, 3, 2);

    assert_int_equal(sum->count, 1000);
    uint32_t edge = cunei_edges_find(sum, 500, 501);
    assert_int_equal(sum->items[edge].calls, 1000);
    assert_int_equal(sum->items[edge].total, 25);
    cunei_edges_free(sum);
    cunei_edges_free(one);
}

/* f calls the folded 2, which calls 3 and, folded below it only, 4; f calls 4, too. */
static struct cunei_tree *make_folding(void)
{
    struct cunei_tree *tree = cunei_tree_new();
    uint32_t f = cunei_tree_child(tree, 0, 1);
    uint32_t folded = cunei_tree_child(tree, f, 2);
    (void)cunei_tree_child(tree, folded, 3);
    (void)cunei_tree_child(tree, folded, 4);
    (void)cunei_tree_child(tree, f, 4);

    for (uint32_t i = 1; i < tree->count; i++)
        tree->nodes[i].self = UINT64_C(1) << i;
    return tree;
}

static const enum cunei_tree_fold folds[] = {CUNEI_TREE_KEEP, CUNEI_TREE_KEEP,
                                             CUNEI_TREE_FOLD, CUNEI_TREE_KEEP,
                                             CUNEI_TREE_FOLD_BELOW};

static void the_time_of_folded_nodes_is_their_caller_s(void **state)
{
    (void)state;
    struct cunei_tree *tree = make_folding();
    uint64_t moved[5] = {0};
    struct cunei_tree *copy = cunei_tree_fold(
        tree, &(struct cunei_tree_folding){
                  .folds = folds, .keeps_outermost = true, .moved = moved});

    assert_int_equal(copy->count, 4);
    uint32_t f = cunei_tree_child(copy, 0, 1);
    assert_int_equal(copy->nodes[f].self, 2 + 4 + 16);
    assert_int_equal(copy->nodes[cunei_tree_child(copy, f, 3)].self, 8);
    assert_int_equal(copy->nodes[cunei_tree_child(copy, f, 4)].self, 32);
    assert_int_equal(copy->count, 4);
    assert_int_equal(moved[1], 4 + 16);
    assert_int_equal(moved[2] + moved[3] + moved[4], 0);
    cunei_tree_free(copy);
    cunei_tree_free(tree);
}

static void a_folded_node_without_a_caller_stays_if_asked_for(void **state)
{
    (void)state;
    static const enum cunei_tree_fold all[] = {CUNEI_TREE_FOLD, CUNEI_TREE_FOLD,
                                               CUNEI_TREE_FOLD, CUNEI_TREE_KEEP,
                                               CUNEI_TREE_FOLD};
    struct cunei_tree *tree = make_folding();
    struct cunei_tree *with = cunei_tree_fold(
        tree, &(struct cunei_tree_folding){.folds = all, .keeps_outermost = true});
    struct cunei_tree *without =
        cunei_tree_fold(tree, &(struct cunei_tree_folding){.folds = all});

    assert_int_equal(with->count, 3);
    assert_int_equal(with->nodes[cunei_tree_child(with, 0, 1)].self, 2 + 4 + 16 + 32);
    assert_int_equal(without->count, 2);
    assert_int_equal(without->nodes[cunei_tree_child(without, 0, 3)].self, 8);
    cunei_tree_free(with);
    cunei_tree_free(without);
    cunei_tree_free(tree);
}

/* f calls 2, which calls 4 and 3; 3 calls 4 again. */
static void a_run_of_nodes_is_the_first_of_them(void **state)
{
    (void)state;
    static const enum cunei_tree_fold runs[] = {CUNEI_TREE_KEEP, CUNEI_TREE_KEEP,
                                                CUNEI_TREE_FOLD_RUN, CUNEI_TREE_KEEP,
                                                CUNEI_TREE_FOLD_RUN};
    struct cunei_tree *tree = cunei_tree_new();
    uint32_t f = cunei_tree_child(tree, 0, 1);
    uint32_t run = cunei_tree_child(tree, f, 2);
    uint32_t own = cunei_tree_child(tree, run, 3);
    uint32_t below = cunei_tree_child(tree, run, 4);
    uint32_t again = cunei_tree_child(tree, own, 4);
    uint32_t places[6] = {0};
    for (uint32_t i = 1; i < tree->count; i++)
        tree->nodes[i].self = UINT64_C(1) << i;

    struct cunei_tree *copy = cunei_tree_fold(
        tree, &(struct cunei_tree_folding){.folds = runs, .places = places});

    assert_int_equal(copy->count, 5);
    assert_int_equal(places[below], places[run]);
    assert_int_equal(copy->nodes[places[run]].self,
                     tree->nodes[run].self + tree->nodes[below].self);
    assert_int_equal(copy->nodes[places[own]].parent, places[run]);
    assert_int_equal(copy->nodes[places[again]].parent, places[own]);
    cunei_tree_free(copy);
    cunei_tree_free(tree);
}

static void the_time_of_a_dropped_node_is_left_out(void **state)
{
    (void)state;
    static const enum cunei_tree_fold drops[] = {CUNEI_TREE_KEEP, CUNEI_TREE_DROP,
                                                 CUNEI_TREE_DROP, CUNEI_TREE_KEEP,
                                                 CUNEI_TREE_KEEP};
    struct cunei_tree *tree = make_folding();

    struct cunei_tree *copy = cunei_tree_fold(
        tree, &(struct cunei_tree_folding){.folds = drops, .keeps_outermost = true});

    assert_int_equal(copy->count, 3);
    assert_int_equal(copy->nodes[0].self + copy->nodes[0].gap, 0);
    assert_int_equal(copy->nodes[cunei_tree_child(copy, 0, 3)].self, 8);
    assert_int_equal(copy->nodes[cunei_tree_child(copy, 0, 4)].self, 16 + 32);
    cunei_tree_free(copy);
    cunei_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_way_is_found_again),
        cmocka_unit_test(a_function_that_calls_itself_stays_in_its_node),
        cmocka_unit_test(nodes_beyond_the_limit_fold_into_their_parent),
        cmocka_unit_test(trees_of_two_clocks_add_up),
        cmocka_unit_test(a_hidden_function_leaves_its_calls_and_its_time),
        cmocka_unit_test(pairs_add_up),
        cmocka_unit_test(the_time_of_folded_nodes_is_their_caller_s),
        cmocka_unit_test(a_folded_node_without_a_caller_stays_if_asked_for),
        cmocka_unit_test(a_run_of_nodes_is_the_first_of_them),
        cmocka_unit_test(the_time_of_a_dropped_node_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
