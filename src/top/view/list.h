// SPDX-License-Identifier: MIT
/*
 * The rows of the table of functions: those that are wanted, in their order, grouped if
 * asked for.
 *
 *     struct cunei_top_list list = {0};
 *     int rc = cunei_top_list_make(&list, &wish, &known, &sums, &rates);
 *     … list.entries[0 … list.count - 1] …
 *     cunei_top_list_fini(&list);
 */
#ifndef CUNEI_TOP_VIEW_LIST_H
#define CUNEI_TOP_VIEW_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "top/view/list_data.h"

struct cunei_top_known;
struct cunei_top_nodes;

/* The words for --group, ending with NULL. */
extern const char *const cunei_top_group_words[];

struct cunei_top_wish {
    int sort; /* index of a column */
    bool is_reversed;
    bool idle;          /* also functions that only wait */
    const char *filter; /* a part of a name or place, whatever its case; "": all */
    enum cunei_top_group group;
    uint32_t within; /* only functions of this group, plus one; 0: the groups */
    /* The frozen order: these keys come first, in this order; NULL: none. */
    const uint32_t *frozen;
    uint32_t frozen_count;
};

/* Make it anew.  -ENOMEM. */
int cunei_top_list_make(struct cunei_top_list *list, const struct cunei_top_wish *wish,
                        const struct cunei_top_known *known,
                        const struct cunei_top_sums *before,
                        const struct cunei_top_sums *sums,
                        const struct cunei_top_rates *rates);
void cunei_top_list_fini(struct cunei_top_list *list);

#endif
