// SPDX-License-Identifier: MIT
/*
 * The texts of an OTF2 archive, which are defined once and referred to by number.
 * A limited number is remembered, which bounds memory: other texts may be defined
 * twice.
 */
#ifndef CUNEI_EXPORT_OTF2_STRINGS_H
#define CUNEI_EXPORT_OTF2_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cunei_otf2_name;

#define CUNEI_OTF2_NAMES_MAX (1u << 16)

struct cunei_otf2_names {
    struct cunei_map map;
    struct cunei_otf2_name *items; /* owned */
    uint32_t item_count;
    uint32_t count; /* numbers given */
};

/* The number of a text; `*is_new`: it must be defined.  Without memory, all are new.
 */
uint32_t cunei_otf2_names_find(struct cunei_otf2_names *names, const char *text,
                               size_t size, int *is_new);
void cunei_otf2_names_fini(struct cunei_otf2_names *names);

#endif
