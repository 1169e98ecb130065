// SPDX-License-Identifier: MIT
/* The ELF file of a process, and the debug offsets of the CPython in it. */
#include "attach/debug_offsets.h"
#include "attach/elf_file.h"
#include "fuzz.h"
#include "small_elf.h"

/* Offsets that were accepted lie in their structs. */
static void check_offsets(const uint8_t *bytes)
{
    struct cunei_debug_offsets offsets;

    if (cunei_debug_offsets_parse(bytes, CUNEI_DEBUG_OFFSETS_SIZE, &offsets) < 0)
        return;
    FUZZ_CHECK(offsets.thread_next < offsets.thread_size);
    FUZZ_CHECK(offsets.gil_holder < offsets.interpreter_size);
    if (!offsets.has_remote_debugging)
        return;
    FUZZ_CHECK(offsets.eval_breaker < offsets.thread_size);
    FUZZ_CHECK(offsets.remote_support + offsets.script_path +
                   offsets.script_path_size <=
               offsets.thread_size);
}

static void look_at(const struct cunei_elf_file *file, const struct cunei_elf *elf,
                    enum cunei_elf_table table)
{
    struct cunei_elf_symbol symbols[] = {{.name = "_PyRuntime"},
                                         {.name = "Py_Version"}};
    uint8_t bytes[CUNEI_DEBUG_OFFSETS_SIZE];
    uint64_t offset = 0;

    if (cunei_elf_find(file, elf, table, symbols, 2) == 0 &&
        cunei_elf_offset(elf, symbols[0].address, sizeof(bytes), &offset) &&
        file->read(file->context, offset, bytes, sizeof(bytes)) == 0)
        check_offsets(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint16_t machine = small_elf_machine();
    char *copy = fuzz_copy(data, size);
    const struct small_file memory = {(const uint8_t *)copy, size};
    const struct cunei_elf_file file = small_file_open(&memory);
    struct cunei_elf elf = {0};
    uint64_t bias;

    /* The same inputs for every processor. */
    if (size >= sizeof(Elf64_Ehdr))
        memcpy(copy + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
    if (cunei_elf_read(&file, &elf) == 0) {
        FUZZ_CHECK(elf.segment_count <= CUNEI_ELF_SEGMENTS);
        (void)cunei_elf_bias(&elf, UINT64_C(0x7f0000000000), 0, 4096, &bias);
        look_at(&file, &elf, CUNEI_ELF_DYNAMIC);
        look_at(&file, &elf, CUNEI_ELF_ALL);
    }
    if (size >= CUNEI_DEBUG_OFFSETS_SIZE)
        check_offsets(memory.bytes);
    free(copy);
    return 0;
}
