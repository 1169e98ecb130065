// SPDX-License-Identifier: MIT
/* What a list of top/view/list.h holds, which top/view/groups.h groups. */
#ifndef CUNEI_TOP_VIEW_LIST_DATA_H
#define CUNEI_TOP_VIEW_LIST_DATA_H

#include <stdint.h>

#include "top/sums/keys.h"
#include "top/view/columns.h"

enum cunei_top_group {
    CUNEI_TOP_GROUP_NONE,
    CUNEI_TOP_GROUP_MODULE,
    CUNEI_TOP_GROUP_FILE,
    CUNEI_TOP_GROUP_CLASS,
    CUNEI_TOP_GROUP_COUNT,
};

struct cunei_top_list {
    struct cunei_top_entry *entries; /* owned */
    uint32_t count, capacity;
    uint32_t all; /* functions that have something to show, filtered or not */
    struct cunei_top_keys groups;          /* kept from one list to the next */
    struct cunei_top_function *group_sums; /* owned: by key */
    uint32_t group_count;
};

#endif
