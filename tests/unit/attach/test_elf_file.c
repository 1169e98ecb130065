// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attach/debug_offsets.h"
#include "attach/elf_file.h"
#include "small_elf.h"

/* What a file says, all of it; a negative errno of the first step that failed. */
static int read_all(const void *bytes, size_t size, struct cunei_elf_symbol symbols[2],
                    struct cunei_elf *elf)
{
    const struct small_file memory = {bytes, size};
    const struct cunei_elf_file file = small_file_open(&memory);

    symbols[0] = (struct cunei_elf_symbol){.name = "_PyRuntime"};
    symbols[1] = (struct cunei_elf_symbol){.name = "Py_Version"};
    int rc = cunei_elf_read(&file, elf);
    if (rc == 0)
        rc = cunei_elf_find(&file, elf, CUNEI_ELF_DYNAMIC, symbols, 2);
    return rc;
}

static void symbols_are_found(void **state)
{
    (void)state;
    struct cunei_elf_symbol symbols[2];
    struct cunei_elf elf = {0};
    struct small_elf file;
    small_elf_init(&file);

    assert_int_equal(read_all(&file, sizeof(file), symbols, &elf), 0);

    assert_true(elf.is_dynamic);
    assert_int_equal(elf.segment_count, 1);
    assert_int_equal(symbols[0].address,
                     SMALL_ELF_BASE + offsetof(struct small_elf, runtime));
    assert_int_equal(symbols[0].size, sizeof(file.runtime));
    assert_int_equal(symbols[1].address,
                     SMALL_ELF_BASE + offsetof(struct small_elf, version));
}

static void a_symbol_that_is_not_defined_here_is_not_found(void **state)
{
    (void)state;
    struct cunei_elf_symbol symbols[2];
    struct cunei_elf elf = {0};
    struct small_elf file;
    small_elf_init(&file);
    file.symbols[2].st_shndx = SHN_UNDEF;

    assert_int_equal(read_all(&file, sizeof(file), symbols, &elf), 0);

    assert_int_equal(symbols[0].address, 0);
    assert_int_not_equal(symbols[1].address, 0);
}

static void a_file_without_a_table_has_no_symbols(void **state)
{
    (void)state;
    struct cunei_elf_symbol symbols[2];
    struct cunei_elf elf = {0};
    struct small_elf file;
    small_elf_init(&file);
    file.head.e_shoff = 0;
    file.head.e_shnum = 0;

    assert_int_equal(read_all(&file, sizeof(file), symbols, &elf), 0);

    assert_int_equal(symbols[0].address, 0);
}

static void an_address_is_found_in_the_file(void **state)
{
    (void)state;
    struct cunei_elf_symbol symbols[2];
    struct cunei_elf elf = {0};
    struct small_elf file;
    uint64_t offset = 0;
    small_elf_init(&file);
    file.segments[0].p_memsz += 4096; /* .bss */
    assert_int_equal(read_all(&file, sizeof(file), symbols, &elf), 0);

    assert_true(cunei_elf_offset(&elf, SMALL_ELF_BASE + 8, 16, &offset));
    assert_int_equal(offset, 8);
    assert_false(cunei_elf_offset(&elf, SMALL_ELF_BASE - 8, 8, &offset));
    assert_false(cunei_elf_offset(&elf, SMALL_ELF_BASE + sizeof(file), 8, &offset));
    assert_false(cunei_elf_offset(&elf, SMALL_ELF_BASE, UINT64_MAX, &offset));
}

static void where_a_file_was_loaded_follows_from_a_mapping(void **state)
{
    (void)state;
    const struct cunei_elf elf = {
        .segments = {{0, 0x1000, 16, 16}, {0x2e10, 0x5e10, 16, 64}},
        .segment_count = 2};
    uint64_t bias = 0;

    assert_true(cunei_elf_bias(&elf, 0x7f0000001000, 0, 4096, &bias));
    assert_int_equal(bias, 0x7f0000000000);
    assert_true(cunei_elf_bias(&elf, 0x7f0000005000, 0x2000, 4096, &bias));
    assert_int_equal(bias, 0x7f0000000000);
    assert_false(cunei_elf_bias(&elf, 0x7f0000005000, 0x3000, 4096, &bias));
}

static void other_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t byte;
    } changes[] = {
        {0, 'x'},
        {EI_CLASS, ELFCLASS32},
        {EI_DATA, ELFDATANONE},
        {offsetof(Elf64_Ehdr, e_type), ET_REL},
        {offsetof(Elf64_Ehdr, e_machine), EM_386},
        {offsetof(Elf64_Ehdr, e_phentsize), 32},
        {offsetof(Elf64_Ehdr, e_phnum), 255},
        {offsetof(Elf64_Ehdr, e_phoff) + 7, 0x7f},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct cunei_elf_symbol symbols[2];
        struct cunei_elf elf = {0};
        struct small_elf file;
        small_elf_init(&file);
        ((uint8_t *)&file)[changes[i].offset] = changes[i].byte;
        if (changes[i].offset == offsetof(Elf64_Ehdr, e_machine))
            file.head.e_machine = EM_386;

        assert_int_equal(read_all(&file, sizeof(file), symbols, &elf), -ENOEXEC);
    }
}

static void a_file_that_is_cut_short_is_refused(void **state)
{
    (void)state;
    size_t needed = offsetof(struct small_elf, version);
    for (size_t size = 0; size < needed; size++) {
        struct cunei_elf_symbol symbols[2];
        struct cunei_elf elf = {0};
        struct small_elf file;
        small_elf_init(&file);
        uint8_t *copy = malloc(size + 1); /* so that ASan sees a read beyond it */
        assert_non_null(copy);
        memcpy(copy, &file, size);

        int rc = read_all(copy, size, symbols, &elf);

        /* Without sections the file is valid, and has no symbols. */
        assert_true(rc == -ENOEXEC || symbols[0].address == 0);
        free(copy);
    }
}

/* A linear congruence. */
static uint32_t random_number(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static void what_a_damaged_file_says_lies_in_the_file(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned round = 0; round < 50000; round++) {
        struct cunei_elf_symbol symbols[2];
        struct cunei_elf elf = {0};
        struct small_elf file;
        uint64_t offset;
        small_elf_init(&file);
        for (unsigned i = 0; i <= round % 4; i++)
            ((uint8_t *)&file)[random_number(&seed) % sizeof(file)] =
                (uint8_t)random_number(&seed);

        if (read_all(&file, sizeof(file), symbols, &elf) < 0)
            continue;

        assert_true(elf.segment_count <= CUNEI_ELF_SEGMENTS);
        if (cunei_elf_offset(&elf, symbols[0].address, 8, &offset))
            assert_true(offset + 8 > offset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_are_found),
        cmocka_unit_test(a_symbol_that_is_not_defined_here_is_not_found),
        cmocka_unit_test(a_file_without_a_table_has_no_symbols),
        cmocka_unit_test(an_address_is_found_in_the_file),
        cmocka_unit_test(where_a_file_was_loaded_follows_from_a_mapping),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_file_that_is_cut_short_is_refused),
        cmocka_unit_test(what_a_damaged_file_says_lies_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
