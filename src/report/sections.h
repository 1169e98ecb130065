// SPDX-License-Identifier: MIT
/* The table of sections. */
#ifndef CUNEI_REPORT_SECTIONS_H
#define CUNEI_REPORT_SECTIONS_H

#include <stddef.h>

struct cunei_report_section;

/* In the order of the help and of the JSON, ending with NULL; the first one is shown
 * where no other is asked for. */
extern const struct cunei_report_section *const cunei_report_sections[];

/* The index of the section of that name, which must exist. */
size_t cunei_report_section_index(const char *name);

#endif
