// SPDX-License-Identifier: MIT
#include "report/sections.h"

#include <assert.h>
#include <string.h>

#include "report/section.h"

extern const struct cunei_report_section cunei_report_section_functions,
    cunei_report_section_tree, cunei_report_section_threads,
    cunei_report_section_callers, cunei_report_section_lines,
    cunei_report_section_processes, cunei_report_section_tasks,
    cunei_report_section_exceptions, cunei_report_section_regions,
    cunei_report_section_counters, cunei_report_section_marks,
    cunei_report_section_tokens, cunei_report_section_gc;

const struct cunei_report_section *const cunei_report_sections[] = {
    &cunei_report_section_functions, &cunei_report_section_tree,
    &cunei_report_section_threads,   &cunei_report_section_callers,
    &cunei_report_section_lines,     &cunei_report_section_processes,
    &cunei_report_section_tasks,     &cunei_report_section_exceptions,
    &cunei_report_section_regions,   &cunei_report_section_counters,
    &cunei_report_section_marks,     &cunei_report_section_tokens,
    &cunei_report_section_gc,        NULL,
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
