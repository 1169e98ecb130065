// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attach/debug_offsets.h"
#include "small_elf.h"

static void the_offsets_of_3_14_are_read(void **state)
{
    (void)state;
    uint64_t words[128];
    struct cunei_debug_offsets offsets;
    small_elf_put_offsets(words);

    assert_int_equal(cunei_debug_offsets_parse(words, sizeof(words), &offsets), 0);

    assert_int_equal(offsets.version, SMALL_ELF_VERSION);
    assert_false(offsets.is_free_threaded);
    assert_true(offsets.has_remote_debugging);
    assert_int_equal(offsets.finalizing, 784);
    assert_int_equal(offsets.interpreters_head, 808);
    assert_int_equal(offsets.threads_head, 7344);
    assert_int_equal(offsets.threads_main, 7360);
    assert_int_equal(offsets.gil_pointer, 16);
    assert_int_equal(offsets.gil_holder, 7792);
    assert_int_equal(offsets.thread_next, 8);
    assert_int_equal(offsets.native_thread_id, 160);
    assert_int_equal(offsets.eval_breaker, 24);
    assert_int_equal(offsets.remote_support, 304);
    assert_int_equal(offsets.pending_call, 0);
    assert_int_equal(offsets.script_path, 4);
    assert_int_equal(offsets.script_path_size, 512);
}

static void other_bytes_and_other_versions_are_refused(void **state)
{
    (void)state;
    uint64_t words[128];
    struct cunei_debug_offsets offsets;

    small_elf_put_offsets(words);
    assert_int_equal(cunei_debug_offsets_parse(words, sizeof(words) - 1, &offsets),
                     -ENODATA);
    words[0]++;
    assert_int_equal(cunei_debug_offsets_parse(words, sizeof(words), &offsets),
                     -ENODATA);
    small_elf_put_offsets(words);
    words[1] = 0x031000f0; /* 3.16 */
    assert_int_equal(cunei_debug_offsets_parse(words, sizeof(words), &offsets),
                     -ENOTSUP);
}

static void each_offset_must_lie_in_its_struct(void **state)
{
    (void)state;
    /* The words that are read, and for which there is a limit. */
    static const unsigned checked[] = {4,  5,  7,  8,  9,  10, 15, 18, 19,
                                       24, 25, 28, 89, 90, 91, 92, 93, 94};
    static const uint64_t wrong[] = {UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 32,
                                     (16u << 20) + 8};
    for (size_t i = 0; i < sizeof(checked) / sizeof(checked[0]); i++) {
        for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
            uint64_t words[128];
            struct cunei_debug_offsets offsets;
            small_elf_put_offsets(words);
            words[checked[i]] = wrong[j];

            assert_int_equal(cunei_debug_offsets_parse(words, sizeof(words), &offsets),
                             -EBADMSG);
        }
    }
}

static void offsets_that_overlap_are_refused(void **state)
{
    (void)state;
    static const struct {
        unsigned word;
        uint64_t value;
    } changes[] = {
        {89, 304}, /* the eval breaker in the flag of the request … */
        {89, 400}, /* … or in the path */
        {93, 0},   /* the path over the flag */
        {94, 64},  /* a path that may be too short for ours */
        {94, 8192}, {6, 0}, {22, 0}, {22, 816}, /* the path does not fit */
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        uint64_t words[128];
        struct cunei_debug_offsets offsets;
        small_elf_put_offsets(words);
        words[changes[i].word] = changes[i].value;

        assert_int_equal(cunei_debug_offsets_parse(words, sizeof(words), &offsets),
                         -EBADMSG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_offsets_of_3_14_are_read),
        cmocka_unit_test(other_bytes_and_other_versions_are_refused),
        cmocka_unit_test(each_offset_must_lie_in_its_struct),
        cmocka_unit_test(offsets_that_overlap_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
