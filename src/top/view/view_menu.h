// SPDX-License-Identifier: MIT
/* Keys in menus, and while a text is typed: private to view_keys.c. */
#ifndef CUNEI_TOP_VIEW_VIEW_MENU_H
#define CUNEI_TOP_VIEW_VIEW_MENU_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_top_view;

void cunei_top_menu_key(struct cunei_top_view *view, uint32_t key);

/* A click on a row chooses it. */
void cunei_top_menu_click(struct cunei_top_view *view, int row);

/* False: the key means what it always does. */
bool cunei_top_prompt_key(struct cunei_top_view *view, uint32_t key);

#endif
