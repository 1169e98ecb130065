// SPDX-License-Identifier: MIT
/* What --keep asks for, as people type it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/units.h"
#include "wire/keep.h"

static void a_time_a_size_or_both_are_read(void **state)
{
    static const struct {
        const char *text;
        struct cunei_keep keep;
    } rows[] = {
        {"30s", {.size = CUNEI_KEEP_SIZE, .ns = 30 * CUNEI_NS_PER_S}},
        {"64M", {.size = 64 * CUNEI_MIB}},
        {"1.5s,1GiB", {.size = 1024 * CUNEI_MIB, .ns = 1500 * CUNEI_NS_PER_MS}},
        {"1G,2min", {.size = 1024 * CUNEI_MIB, .ns = 120 * CUNEI_NS_PER_S}},
        {"memory,1M", {.size = CUNEI_MIB, .in_memory = true}},
        {"1h,memory",
         {.size = CUNEI_KEEP_SIZE, .ns = 3600 * CUNEI_NS_PER_S, .in_memory = true}},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_keep keep = {0};
        assert_int_equal(cunei_keep_parse(&keep, rows[i].text), 0);
        assert_int_equal(keep.size, rows[i].keep.size);
        assert_int_equal(keep.ns, rows[i].keep.ns);
        assert_int_equal(keep.in_memory, rows[i].keep.in_memory);
    }
}

static void anything_else_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "0",
        "30",
        "memory",
        "30s,",
        ",30s",
        "30s,40s",
        "1M,2M",
        "1023K",
        "-5s",
        "30 s,x",
        "0s",
        "100T",
        "65G",
        "memory,memory,1M",
        "1M;2s",
        "30s,memory,1M,",
        "1111111111111111111111111111111111111111111111111111111111111111111111M",
    };
    (void)state;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cunei_keep keep = {.size = 7};
        if (cunei_keep_parse(&keep, texts[i]) != -EINVAL || keep.size != 7)
            fail_msg("'%s' was read", texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_a_size_or_both_are_read),
        cmocka_unit_test(anything_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
