// SPDX-License-Identifier: MIT
/* Functions of a module, file or class as one row: private to top/view/list.c. */
#ifndef CUNEI_TOP_VIEW_GROUPS_H
#define CUNEI_TOP_VIEW_GROUPS_H

#include "top/sums/known.h"
#include "top/view/list_data.h"

/*
 * Replace the entries, which are functions, by their groups.  Sums of calls and self
 * times are added; the total of a group is the time in which any of its functions was
 * open, which the call tree knows.  -ENOMEM.
 */
int cunei_top_groups_make(struct cunei_top_list *list, enum cunei_top_group group,
                          const struct cunei_top_known *known,
                          const struct cunei_top_sums *before,
                          const struct cunei_top_sums *sums);
/* Keep the entries that are functions of the group with that key.  -ENOMEM. */
int cunei_top_groups_select(struct cunei_top_list *list, enum cunei_top_group group,
                            uint32_t key, const struct cunei_top_known *known);
void cunei_top_groups_fini(struct cunei_top_list *list);

#endif
