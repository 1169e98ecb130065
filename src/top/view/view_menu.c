// SPDX-License-Identifier: MIT
#include "top/view/view_menu.h"

#include <string.h>

#include "base/text.h"
#include "top/view/view.h"

/* Move the column of a menu's row by one place. */
static void shift_column(struct cunei_top_view *view, int step)
{
    int to = view->menu_row + step;

    if (to < 0 || to >= (int)cunei_top_column_count)
        return;
    int column = view->columns[to];
    view->columns[to] = view->columns[view->menu_row];
    view->columns[view->menu_row] = column;
    view->menu_row = to;
}

static void toggle_column(struct cunei_top_view *view)
{
    int column = view->columns[view->menu_row];

    if (strcmp(cunei_top_columns[column].word, "function") != 0)
        view->is_column_shown[column] = !view->is_column_shown[column];
}

static void choose(struct cunei_top_view *view)
{
    if (view->overlay == CUNEI_TOP_OVERLAY_COLUMNS) {
        toggle_column(view);
        return;
    }
    cunei_top_view_sort(view, view->columns[view->menu_row]);
    view->overlay = CUNEI_TOP_OVERLAY_NONE;
}

void cunei_top_menu_key(struct cunei_top_view *view, uint32_t key)
{
    bool has_columns = view->overlay == CUNEI_TOP_OVERLAY_COLUMNS;
    int last = (int)cunei_top_column_count - 1;

    if ((key == CUNEI_TOP_KEY_UP || key == 'k') && view->menu_row > 0)
        view->menu_row--;
    else if ((key == CUNEI_TOP_KEY_DOWN || key == 'j') && view->menu_row < last)
        view->menu_row++;
    else if (key == CUNEI_TOP_KEY_ENTER || key == ' ')
        choose(view);
    else if (has_columns && (key == CUNEI_TOP_KEY_LEFT || key == '-' || key == 'K'))
        shift_column(view, -1);
    else if (has_columns && (key == CUNEI_TOP_KEY_RIGHT || key == '+' || key == 'J'))
        shift_column(view, 1);
    else if (key == CUNEI_TOP_KEY_ESCAPE || key == 'q' ||
             key == CUNEI_TOP_KEY_BACKSPACE || key == CUNEI_TOP_KEY_F(2) ||
             key == CUNEI_TOP_KEY_F(6) || key == CUNEI_TOP_KEY_F(10))
        view->overlay = CUNEI_TOP_OVERLAY_NONE;
}

void cunei_top_menu_click(struct cunei_top_view *view, int row)
{
    if (row >= (int)cunei_top_column_count)
        return;
    view->menu_row = row;
    choose(view);
}

static void erase(char *text)
{
    size_t size = strlen(text);

    while (size > 0 && ((unsigned char)text[size - 1] & 0xc0) == 0x80)
        size--;
    text[size > 0 ? size - 1 : 0] = '\0';
}

static void append(char *text, uint32_t key)
{
    char bytes[4];
    size_t used = strlen(text), size = cunei_text_encode(key, bytes);

    if (used + size > CUNEI_TOP_FILTER_MAX || !cunei_text_is_safe(bytes, size))
        return;
    memcpy(text + used, bytes, size);
    text[used + size] = '\0';
}

bool cunei_top_prompt_key(struct cunei_top_view *view, uint32_t key)
{
    char *text = view->prompt == CUNEI_TOP_PROMPT_SEARCH ? view->search : view->filter;
    bool is_end = key == CUNEI_TOP_KEY_ENTER || key == CUNEI_TOP_KEY_ESCAPE;

    if (is_end)
        view->prompt = CUNEI_TOP_PROMPT_NONE;
    if (key == CUNEI_TOP_KEY_ESCAPE || key == CUNEI_TOP_KEY_CONTROL('u'))
        text[0] = '\0';
    else if (key == CUNEI_TOP_KEY_BACKSPACE)
        erase(text);
    else if (key >= ' ' && key < 0x110000)
        append(text, key);
    else
        return is_end;
    return true;
}
