// SPDX-License-Identifier: MIT
/*
 * Symbols and segments of an ELF file that another user may have made.
 *
 * Nothing in the file is believed: every offset, size and count is checked against the
 * size of the file and a limit, and memory stays below the size of its tables.
 */
#ifndef CUNEI_ATTACH_ELF_FILE_H
#define CUNEI_ATTACH_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUNEI_ELF_SEGMENTS 16 /* that are loaded; more make the file unknown */

/* Where bytes come from.  `read` gives all of them, or a negative errno. */
struct cunei_elf_file {
    int (*read)(const void *context, uint64_t offset, void *bytes, size_t size);
    const void *context;
    uint64_t size;
};

struct cunei_elf_segment {
    uint64_t offset, address, file_size, memory_size;
};

struct cunei_elf {
    struct cunei_elf_segment segments[CUNEI_ELF_SEGMENTS];
    size_t segment_count;
    bool is_dynamic; /* other libraries can be loaded beside it */
    uint64_t sections_offset;
    uint32_t section_count;
};

struct cunei_elf_symbol {
    const char *name;
    uint64_t address; /* before the file is loaded; 0: not found */
    uint64_t size;
};

/* Which of a file's symbol tables. */
enum cunei_elf_table {
    CUNEI_ELF_DYNAMIC, /* for the loader */
    CUNEI_ELF_ALL,     /* for debuggers; often removed */
};

/* -ENOEXEC: it is not an ELF file of this machine's processor, or is damaged. */
int cunei_elf_read(const struct cunei_elf_file *file, struct cunei_elf *elf);

/* Look for symbols that have no address yet.  -ENOEXEC: the table is damaged. */
int cunei_elf_find(const struct cunei_elf_file *file, const struct cunei_elf *elf,
                   enum cunei_elf_table table, struct cunei_elf_symbol *symbols,
                   size_t count);

/* Where in the file `size` bytes at an address are; false: they are not in it. */
bool cunei_elf_offset(const struct cunei_elf *elf, uint64_t address, uint64_t size,
                      uint64_t *offset);

/*
 * What a loaded file's addresses were moved by, from one of its mappings; false: none
 * of the segments begins in that mapping.
 */
bool cunei_elf_bias(const struct cunei_elf *elf, uint64_t start, uint64_t offset,
                    uint64_t page_size, uint64_t *bias);

#endif
