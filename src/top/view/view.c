// SPDX-License-Identifier: MIT
#include "top/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cunei_top_view_init(struct cunei_top_view *view)
{
    *view = (struct cunei_top_view){0};
    for (size_t i = 0; i < cunei_top_column_count; i++) {
        view->columns[i] = (int)i;
        view->is_column_shown[i] = !cunei_top_columns[i].is_hidden;
    }
}

void cunei_top_view_fini(struct cunei_top_view *view)
{
    free(view->frozen);
    free(view->branches);
    *view = (struct cunei_top_view){0};
}

static void move_column(struct cunei_top_view *view, int column, size_t to)
{
    size_t from = 0;

    while (view->columns[from] != column)
        from++;
    for (; from > to; from--)
        view->columns[from] = view->columns[from - 1];
    view->columns[to] = column;
}

/* Functions without a name or numbers would tell nothing: the name always stays. */
const char *cunei_top_view_choose(struct cunei_top_view *view, const char *words,
                                  size_t *size)
{
    bool is_shown[CUNEI_TOP_COLUMNS_MAX] = {false};
    size_t count = 0;

    is_shown[cunei_top_column_find("function", strlen("function"))] = true;
    for (const char *word = words; *word; word += *size + (word[*size] == ',')) {
        *size = strcspn(word, ",");
        int column = cunei_top_column_find(word, *size);
        if (column < 0)
            return word;
        if (is_shown[column] && count > 0 && view->columns[count - 1] == column)
            continue;
        is_shown[column] = true;
        move_column(view, column, count);
        if (count + 1 < cunei_top_column_count)
            count++;
    }
    memcpy(view->is_column_shown, is_shown, sizeof(is_shown));
    return NULL;
}

struct cunei_top_cursor *cunei_top_view_cursor(struct cunei_top_view *view)
{
    return view->overlay == CUNEI_TOP_OVERLAY_DETAIL ? &view->detail_cursor
                                                     : &view->cursors[view->pane];
}

/* The first row moves no more than it must. */
static void scroll_to(struct cunei_top_cursor *cursor, uint32_t count, uint32_t page)
{
    if (cursor->row < cursor->first)
        cursor->first = cursor->row;
    if (page > 0 && cursor->row >= cursor->first + page)
        cursor->first = cursor->row - page + 1;
    if (count <= page)
        cursor->first = 0;
    else if (cursor->first > count - page)
        cursor->first = count - page;
}

void cunei_top_view_see(struct cunei_top_view *view, const uint64_t *keys,
                        const uint32_t *functions, uint32_t count, uint32_t page)
{
    struct cunei_top_cursor *cursor = cunei_top_view_cursor(view);
    uint32_t row = 0;

    view->keys = keys;
    view->functions = functions;
    view->key_count = count;
    view->page = page;
    while (cursor->is_set && row < count && keys[row] != cursor->key)
        row++;
    if (cursor->is_set && row < count)
        cursor->row = row;
    else if (!cursor->is_set)
        cursor->row = 0;
    if (cursor->row >= count)
        cursor->row = count > 0 ? count - 1 : 0;
    if (count > 0)
        cursor->key = keys[cursor->row];
    scroll_to(cursor, count, page);
}

int cunei_top_view_freeze(struct cunei_top_view *view,
                          const struct cunei_top_list *list)
{
    uint32_t *keys = calloc(list->count + 1u, sizeof(*keys));

    if (!keys)
        return -ENOMEM;
    for (uint32_t i = 0; i < list->count; i++)
        keys[i] = list->entries[i].key;
    free(view->frozen);
    view->frozen = keys;
    view->frozen_count = list->count;
    return 0;
}

void cunei_top_view_unfreeze(struct cunei_top_view *view)
{
    view->is_frozen = false;
    free(view->frozen);
    view->frozen = NULL;
    view->frozen_count = 0;
}

void cunei_top_view_enter_group(struct cunei_top_view *view)
{
    struct cunei_top_cursor *cursor = &view->cursors[CUNEI_TOP_PANE_FUNCTIONS];

    view->within = (uint32_t)view->keys[cursor->row] + 1;
    *cursor = (struct cunei_top_cursor){0};
    cunei_top_view_unfreeze(view);
}

void cunei_top_view_leave_group(struct cunei_top_view *view)
{
    view->cursors[CUNEI_TOP_PANE_FUNCTIONS] =
        (struct cunei_top_cursor){.key = view->within - 1, .is_set = true};
    view->within = 0;
    cunei_top_view_unfreeze(view);
}

static bool is_found(const struct cunei_top_view *view,
                     const struct cunei_top_entry *entry)
{
    return strcasestr(entry->name, view->search) ||
           strcasestr(entry->place, view->search);
}

int cunei_top_view_search(struct cunei_top_view *view,
                          const struct cunei_top_list *list, bool from_next)
{
    struct cunei_top_cursor *cursor = &view->cursors[CUNEI_TOP_PANE_FUNCTIONS];

    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t row = (cursor->row + i + from_next) % list->count;
        if (!is_found(view, &list->entries[row]))
            continue;
        cursor->row = row;
        cursor->key = list->entries[row].key;
        cursor->is_set = true;
        return 0;
    }
    return -ENOENT;
}

void cunei_top_view_show(struct cunei_top_view *view, enum cunei_top_pane pane)
{
    if (pane == CUNEI_TOP_PANE_OUTPUT && !view->has_output)
        return;
    view->overlay = CUNEI_TOP_OVERLAY_NONE;
    view->detail_count = 0;
    view->pane = pane;
}

void cunei_top_view_sort(struct cunei_top_view *view, int column)
{
    if (view->sort == column)
        view->is_reversed = !view->is_reversed;
    else
        view->is_reversed = false;
    view->sort = column;
}

void cunei_top_view_sort_beside(struct cunei_top_view *view, int step)
{
    int count = (int)cunei_top_column_count, place = 0;

    while (view->columns[place] != view->sort)
        place++;
    do
        place += step;
    while (place >= 0 && place < count && !view->is_column_shown[view->columns[place]]);
    if (place >= 0 && place < count)
        view->sort = view->columns[place];
}

enum cunei_top_branch cunei_top_view_branch(const struct cunei_top_view *view,
                                            uint32_t node)
{
    return node < view->branch_count ? (enum cunei_top_branch)view->branches[node]
                                     : CUNEI_TOP_BRANCH_UNTOUCHED;
}

struct cunei_top_wish cunei_top_view_wish(const struct cunei_top_view *view)
{
    return (struct cunei_top_wish){
        .sort = view->sort,
        .is_reversed = view->is_reversed,
        .idle = view->idle,
        .filter = view->filter,
        .group = view->group,
        .within = view->within,
        .frozen = view->is_frozen ? view->frozen : NULL,
        .frozen_count = view->frozen_count,
    };
}
