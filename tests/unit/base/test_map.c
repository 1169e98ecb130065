// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/map.h"

#define ITEM_COUNT 5000u

static int64_t find(const struct cunei_map *map, const uint64_t *keys, uint64_t hash,
                    uint64_t key)
{
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(map, &search, &i);) {
        if (keys[i] == key)
            return i;
    }
    return -1;
}

static void an_empty_map_has_no_items(void **state)
{
    struct cunei_map map = {0};
    (void)state;

    assert_int_equal(find(&map, NULL, cunei_hash_number(1), 1), -1);
    cunei_map_fini(&map);
}

static void items_are_found_by_their_keys(void **state)
{
    struct cunei_map map = {0};
    static uint64_t keys[ITEM_COUNT];
    (void)state;

    for (uint32_t i = 0; i < ITEM_COUNT; i++) {
        keys[i] = (uint64_t)i * i << 20;
        assert_int_equal(cunei_map_add(&map, cunei_hash_number(keys[i]), i), 0);
    }

    for (uint32_t i = 0; i < ITEM_COUNT; i++)
        assert_int_equal(find(&map, keys, cunei_hash_number(keys[i]), keys[i]), i);
    assert_int_equal(find(&map, keys, cunei_hash_number(3), 3), -1);
    cunei_map_fini(&map);
}

static void keys_with_the_same_hash_are_distinguished(void **state)
{
    struct cunei_map map = {0};
    static const uint64_t keys[] = {5, 6, 7};
    (void)state;

    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(cunei_map_add(&map, UINT64_C(42) << 32, i), 0);

    assert_int_equal(find(&map, keys, UINT64_C(42) << 32, 6), 1);
    assert_int_equal(find(&map, keys, UINT64_C(42) << 32, 8), -1);
    cunei_map_fini(&map);
}

/* Hashes in a row, and across the end of the slots: each hole must be closed. */
static void removing_an_item_leaves_the_others(void **state)
{
    struct cunei_map map = {0};
    static uint64_t keys[ITEM_COUNT], hashes[ITEM_COUNT];
    (void)state;

    for (uint32_t i = 0; i < ITEM_COUNT; i++) {
        keys[i] = i;
        hashes[i] = (uint64_t)(0xfffffff0u + i / 3) << 32;
        assert_int_equal(cunei_map_add(&map, hashes[i], i), 0);
    }
    for (uint32_t i = 0; i < ITEM_COUNT; i += 2)
        cunei_map_remove(&map, hashes[i], i);

    assert_int_equal(map.count, ITEM_COUNT / 2);
    for (uint32_t i = 0; i < ITEM_COUNT; i++)
        assert_int_equal(find(&map, keys, hashes[i], i), i % 2 ? (int64_t)i : -1);
    cunei_map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_no_items),
        cmocka_unit_test(items_are_found_by_their_keys),
        cmocka_unit_test(keys_with_the_same_hash_are_distinguished),
        cmocka_unit_test(removing_an_item_leaves_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
