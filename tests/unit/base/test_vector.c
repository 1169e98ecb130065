// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/vector.h"

static void an_array_grows_and_keeps_its_items(void **state)
{
    uint32_t *items = NULL;
    uint16_t capacity = 0;
    (void)state;

    for (uint32_t i = 0; i < 1000; i++) {
        if (!CUNEI_VECTOR_RESERVE(items, capacity, i + 1)) {
            fail_msg("no room for item %u", i);
            return;
        }
        items[i] = i;
    }

    assert_true(capacity >= 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

static void an_array_without_a_capacity_grows_one_by_one(void **state)
{
    char **items = NULL;
    static char text[100];
    (void)state;

    for (size_t i = 0; i < 100; i++) {
        if (!CUNEI_VECTOR_RESERVE_ONE(items, i)) {
            fail_msg("no room for item %zu", i);
            return;
        }
        items[i] = &text[i];
    }

    for (size_t i = 0; i < 100; i++)
        assert_ptr_equal(items[i], &text[i]);
    free((void *)items);
}

static void a_size_beyond_memory_is_refused(void **state)
{
    uint64_t *items = NULL;
    size_t capacity = 0;
    (void)state;

    assert_false(CUNEI_VECTOR_RESERVE(items, capacity, SIZE_MAX / 4));
    assert_null(items);
    assert_int_equal(capacity, 0);
}

static void a_search_finds_where_an_item_is_or_belongs(void **state)
{
    static const int items[] = {1, 3, 3, 5};
    static const struct {
        int wanted;
        size_t index;
    } rows[] = {{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 3}, {5, 3}, {6, 4}};
    (void)state;

    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
        assert_int_equal(CUNEI_VECTOR_BISECT(i, 4, items[i] < rows[r].wanted),
                         rows[r].index);
    assert_int_equal(CUNEI_VECTOR_BISECT(i, 0, items[i] < 1), 0);
}

static int compare_numbers(const void *a, const void *b)
{
    const int *one = *(const int *const *)a, *two = *(const int *const *)b;

    return *one < *two ? -1 : *one > *two;
}

static void sorting_gives_pointers_and_leaves_the_items(void **state)
{
    static const int items[] = {3, 1, 2};
    (void)state;

    const int **order = cunei_vector_sort(items, sizeof(items[0]), 3, compare_numbers);
    assert_non_null(order);
    assert_ptr_equal(order[0], &items[1]);
    assert_ptr_equal(order[1], &items[2]);
    assert_ptr_equal(order[2], &items[0]);
    free((void *)order);

    order = cunei_vector_sort(NULL, sizeof(items[0]), 0, compare_numbers);
    assert_non_null(order);
    free((void *)order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_grows_and_keeps_its_items),
        cmocka_unit_test(an_array_without_a_capacity_grows_one_by_one),
        cmocka_unit_test(a_size_beyond_memory_is_refused),
        cmocka_unit_test(sorting_gives_pointers_and_leaves_the_items),
        cmocka_unit_test(a_search_finds_where_an_item_is_or_belongs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
