// SPDX-License-Identifier: MIT
#include "report/sections.h"

#include <assert.h>
#include <string.h>

#include "report/section.h"

#define SECTIONS(ROW) \
    ROW(functions)    \
    ROW(tree)         \
    ROW(imports)      \
    ROW(threads)      \
    ROW(callers)      \
    ROW(lines)        \
    ROW(processes)    \
    ROW(tasks)        \
    ROW(exceptions)   \
    ROW(regions)      \
    ROW(counters)     \
    ROW(marks)        \
    ROW(tokens)       \
    ROW(gc)

#define DECLARE(name) \
    extern const struct cunei_report_section cunei_report_section_##name;
#define ENTRY(name) &cunei_report_section_##name,

SECTIONS(DECLARE)

const struct cunei_report_section *const cunei_report_sections[] = {
    SECTIONS(ENTRY) NULL,
};

static_assert(sizeof(cunei_report_sections) / sizeof(cunei_report_sections[0]) - 1 <=
                  CUNEI_REPORT_SECTIONS_MAX,
              "struct cunei_report_options has a choice for each section");

size_t cunei_report_section_index(const char *name)
{
    size_t index = 0;

    while (strcmp(cunei_report_sections[index]->name, name) != 0)
        index++;
    return index;
}
