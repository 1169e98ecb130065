// SPDX-License-Identifier: MIT
#include "attach/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX  128u
#define SECTIONS_MAX 8192u
#define STRINGS_MAX  (64u << 20)
#define SYMBOLS_MAX  (8u << 20)
#define SYMBOLS_STEP 512u

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OUR_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OUR_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OUR_MACHINE EM_S390
#else
#define OUR_MACHINE EM_NONE
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ORDER ELFDATA2LSB
#else
#define OUR_ORDER ELFDATA2MSB
#endif

/* Whether `count` items at an offset lie in the file. */
static bool is_inside(const struct cunei_elf_file *file, uint64_t offset,
                      uint64_t item_size, uint64_t count)
{
    return offset <= file->size && count <= (file->size - offset) / item_size;
}

static int read_at(const struct cunei_elf_file *file, uint64_t offset, void *bytes,
                   size_t size)
{
    if (!is_inside(file, offset, 1, size))
        return -ENOEXEC;
    return file->read(file->context, offset, bytes, size);
}

static bool is_ours(const Elf64_Ehdr *head)
{
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_ident[EI_DATA] == OUR_ORDER && head->e_machine == OUR_MACHINE &&
           (head->e_type == ET_EXEC || head->e_type == ET_DYN) &&
           head->e_phentsize == sizeof(Elf64_Phdr) && head->e_phnum <= HEADERS_MAX;
}

static int add_segment(struct cunei_elf *elf, const Elf64_Phdr *header)
{
    if (elf->segment_count == CUNEI_ELF_SEGMENTS ||
        header->p_memsz < header->p_filesz ||
        header->p_vaddr + header->p_memsz < header->p_vaddr ||
        header->p_offset + header->p_filesz < header->p_offset)
        return -ENOEXEC;
    elf->segments[elf->segment_count++] = (struct cunei_elf_segment){
        .offset = header->p_offset,
        .address = header->p_vaddr,
        .file_size = header->p_filesz,
        .memory_size = header->p_memsz,
    };
    return 0;
}

static int read_segments(const struct cunei_elf_file *file, const Elf64_Ehdr *head,
                         struct cunei_elf *elf)
{
    Elf64_Phdr headers[HEADERS_MAX];

    int rc = read_at(file, head->e_phoff, headers, head->e_phnum * sizeof(headers[0]));
    for (size_t i = 0; rc == 0 && i < head->e_phnum; i++) {
        elf->is_dynamic |= headers[i].p_type == PT_DYNAMIC;
        if (headers[i].p_type == PT_LOAD)
            rc = add_segment(elf, &headers[i]);
    }
    return rc;
}

int cunei_elf_read(const struct cunei_elf_file *file, struct cunei_elf *elf)
{
    struct cunei_elf found = {0};
    Elf64_Ehdr head;

    int rc = read_at(file, 0, &head, sizeof(head));
    if (rc < 0)
        return rc;
    if (!is_ours(&head))
        return -ENOEXEC;
    rc = read_segments(file, &head, &found);
    if (rc < 0)
        return rc;
    /* A file without sections, or with damaged ones, has no symbols for us. */
    if (head.e_shentsize == sizeof(Elf64_Shdr) && head.e_shnum <= SECTIONS_MAX &&
        is_inside(file, head.e_shoff, sizeof(Elf64_Shdr), head.e_shnum)) {
        found.sections_offset = head.e_shoff;
        found.section_count = head.e_shnum;
    }
    *elf = found;
    return 0;
}

static int read_section(const struct cunei_elf_file *file, const struct cunei_elf *elf,
                        uint32_t index, Elf64_Shdr *section)
{
    if (index >= elf->section_count)
        return -ENOEXEC;
    return read_at(file, elf->sections_offset + index * sizeof(*section), section,
                   sizeof(*section));
}

/* The names of a table's symbols, with a NUL behind them; owned by the caller. */
static int read_strings(const struct cunei_elf_file *file, const struct cunei_elf *elf,
                        uint32_t index, char **strings, size_t *size)
{
    Elf64_Shdr section;

    int rc = read_section(file, elf, index, &section);
    if (rc < 0)
        return rc;
    if (section.sh_type != SHT_STRTAB || section.sh_size > STRINGS_MAX ||
        !is_inside(file, section.sh_offset, 1, section.sh_size))
        return -ENOEXEC;
    char *text = malloc(section.sh_size + 1);
    if (!text)
        return -ENOMEM;
    rc = read_at(file, section.sh_offset, text, section.sh_size);
    if (rc < 0) {
        free(text);
        return rc;
    }
    text[section.sh_size] = '\0';
    *strings = text;
    *size = section.sh_size;
    return 0;
}

static void compare(const Elf64_Sym *symbol, const char *name,
                    struct cunei_elf_symbol *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].address == 0 && strcmp(wanted[i].name, name) == 0) {
            wanted[i].address = symbol->st_value;
            wanted[i].size = symbol->st_size;
        }
    }
}

static int search(const struct cunei_elf_file *file, const Elf64_Shdr *section,
                  const char *strings, size_t strings_size,
                  struct cunei_elf_symbol *wanted, size_t wanted_count)
{
    uint64_t left = section->sh_size / sizeof(Elf64_Sym), at = section->sh_offset;
    Elf64_Sym symbols[SYMBOLS_STEP];

    if (section->sh_entsize != sizeof(Elf64_Sym) || left > SYMBOLS_MAX ||
        !is_inside(file, section->sh_offset, 1, section->sh_size))
        return -ENOEXEC;
    while (left > 0) {
        size_t count = left < SYMBOLS_STEP ? (size_t)left : SYMBOLS_STEP;
        int rc = read_at(file, at, symbols, count * sizeof(symbols[0]));
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < count; i++) {
            if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < strings_size)
                compare(&symbols[i], strings + symbols[i].st_name, wanted,
                        wanted_count);
        }
        at += count * sizeof(symbols[0]);
        left -= count;
    }
    return 0;
}

int cunei_elf_find(const struct cunei_elf_file *file, const struct cunei_elf *elf,
                   enum cunei_elf_table table, struct cunei_elf_symbol *symbols,
                   size_t count)
{
    uint32_t type = table == CUNEI_ELF_DYNAMIC ? SHT_DYNSYM : SHT_SYMTAB;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < elf->section_count; i++) {
        Elf64_Shdr section;
        size_t size = 0;
        char *strings = NULL;
        rc = read_section(file, elf, i, &section);
        if (rc < 0 || section.sh_type != type)
            continue;
        rc = read_strings(file, elf, section.sh_link, &strings, &size);
        if (rc == 0)
            rc = search(file, &section, strings, size, symbols, count);
        free(strings);
        break;
    }
    return rc;
}

bool cunei_elf_offset(const struct cunei_elf *elf, uint64_t address, uint64_t size,
                      uint64_t *offset)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct cunei_elf_segment *segment = &elf->segments[i];
        uint64_t from = address - segment->address;
        if (address >= segment->address && from <= segment->file_size &&
            size <= segment->file_size - from) {
            *offset = segment->offset + from;
            return true;
        }
    }
    return false;
}

bool cunei_elf_bias(const struct cunei_elf *elf, uint64_t start, uint64_t offset,
                    uint64_t page_size, uint64_t *bias)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct cunei_elf_segment *segment = &elf->segments[i];
        if ((segment->offset & ~(page_size - 1)) == offset) {
            *bias = start - (segment->address & ~(page_size - 1));
            return true;
        }
    }
    return false;
}
