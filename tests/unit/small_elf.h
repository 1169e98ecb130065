// SPDX-License-Identifier: MIT
/*
 * The smallest ELF file with what src/attach looks for: a Python 3.14, with its symbols
 * and its debug offsets.  Tests damage it.
 */
#ifndef CUNEI_TESTS_SMALL_ELF_H
#define CUNEI_TESTS_SMALL_ELF_H

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "attach/elf_file.h"

#define SMALL_ELF_BASE    UINT64_C(0x400000)
#define SMALL_ELF_VERSION UINT64_C(0x030e01f0)

struct small_elf {
    Elf64_Ehdr head;
    Elf64_Phdr segments[3];
    Elf64_Shdr sections[4];
    char strings[64];
    Elf64_Sym symbols[4];
    uint64_t version;
    uint64_t runtime[128];
};

static inline uint16_t small_elf_machine(void)
{
#if defined(__aarch64__)
    return EM_AARCH64;
#elif defined(__riscv)
    return EM_RISCV;
#elif defined(__powerpc64__)
    return EM_PPC64;
#elif defined(__s390x__)
    return EM_S390;
#else
    return EM_X86_64;
#endif
}

/* _Py_DebugOffsets of CPython 3.14, on a 64-bit machine. */
static inline void small_elf_put_offsets(uint64_t words[128])
{
    static const uint64_t offsets[] = {SMALL_ELF_VERSION,
                                       0, /* 1 */
                                       316616,
                                       784,
                                       808, /* runtime */
                                       225864,
                                       7280,
                                       7272,
                                       7344,
                                       7360,
                                       7408,
                                       7688,
                                       7672, /* 6: */
                                       7680,
                                       16,
                                       7784,
                                       0,
                                       7800,
                                       7792,
                                       7992,
                                       0, /* interp. */
                                       832,
                                       0,
                                       8,
                                       16,
                                       72,
                                       152,
                                       160,
                                       232,
                                       32}; /* thread */
    static const uint64_t remote[] = {24, 304, 8076, 0, 4, 512};

    memset(words, 0, 128 * sizeof(words[0]));
    memcpy(words, "xdebugpy", 8);
    memcpy(words + 1, offsets, sizeof(offsets));
    memcpy(words + 89, remote, sizeof(remote));
}

static inline void small_elf_put_symbol(struct small_elf *elf, size_t index,
                                        const char *name, size_t offset, size_t size)
{
    size_t at = 1;

    while (elf->strings[at])
        at += strlen(elf->strings + at) + 1;
    strcpy(elf->strings + at, name);
    elf->symbols[index] = (Elf64_Sym){.st_name = (uint32_t)at,
                                      .st_shndx = 3,
                                      .st_value = SMALL_ELF_BASE + offset,
                                      .st_size = size};
}

static inline void small_elf_init(struct small_elf *elf)
{
    *elf = (struct small_elf){.version = SMALL_ELF_VERSION};
    elf->head = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
        .e_type = ET_DYN,
        .e_machine = small_elf_machine(),
        .e_phoff = offsetof(struct small_elf, segments),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 3,
        .e_shoff = offsetof(struct small_elf, sections),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 4,
    };
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        elf->head.e_ident[EI_DATA] = ELFDATA2MSB;
    elf->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                    .p_vaddr = SMALL_ELF_BASE,
                                    .p_filesz = sizeof(*elf),
                                    .p_memsz = sizeof(*elf)};
    elf->segments[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC};
    elf->sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                    .sh_offset = offsetof(struct small_elf, strings),
                                    .sh_size = sizeof(elf->strings)};
    elf->sections[2] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
                                    .sh_link = 1,
                                    .sh_offset = offsetof(struct small_elf, symbols),
                                    .sh_size = sizeof(elf->symbols),
                                    .sh_entsize = sizeof(Elf64_Sym)};
    small_elf_put_symbol(elf, 1, "Py_Version", offsetof(struct small_elf, version), 8);
    small_elf_put_symbol(elf, 2, "_PyRuntime", offsetof(struct small_elf, runtime),
                         sizeof(elf->runtime));
    small_elf_put_offsets(elf->runtime);
}

/* Bytes in memory as a file. */
struct small_file {
    const uint8_t *bytes;
    size_t size;
};

static inline int small_file_read(const void *context, uint64_t offset, void *bytes,
                                  size_t size)
{
    const struct small_file *file = context;

    if (offset > file->size || size > file->size - offset)
        return -EIO;
    if (size > 0)
        memcpy(bytes, file->bytes + offset, size);
    return 0;
}

static inline struct cunei_elf_file small_file_open(const struct small_file *file)
{
    return (struct cunei_elf_file){small_file_read, file, file->size};
}

#endif
