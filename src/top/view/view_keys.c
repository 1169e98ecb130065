// SPDX-License-Identifier: MIT
/* What each key does.  The table of `bindings` is also the help. */
#include "top/view/view_keys.h"

#include <stdlib.h>
#include <string.h>

#include "top/view/view.h"
#include "top/view/view_menu.h"

static enum cunei_top_action quit(struct cunei_top_view *view)
{
    if (!view->has_program)
        return CUNEI_TOP_ACTION_QUIT;
    view->prompt = CUNEI_TOP_PROMPT_QUIT;
    return CUNEI_TOP_ACTION_NONE;
}

static void set_row(struct cunei_top_view *view, int64_t row)
{
    struct cunei_top_cursor *cursor = cunei_top_view_cursor(view);

    if (view->key_count == 0)
        return;
    if (row >= (int64_t)view->key_count)
        row = (int64_t)view->key_count - 1;
    cursor->row = row < 0 ? 0 : (uint32_t)row;
    cursor->key = view->keys[cursor->row];
    cursor->is_set = true;
}

static void move(struct cunei_top_view *view, int64_t rows)
{
    if (view->overlay == CUNEI_TOP_OVERLAY_HELP) {
        int64_t row = (int64_t)view->help_row + rows;
        view->help_row = row < 0 ? 0 : (uint32_t)row;
    } else
        set_row(view, (int64_t)cunei_top_view_cursor(view)->row + rows);
}

static enum cunei_top_action go_up(struct cunei_top_view *view)
{
    move(view, -1);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action go_down(struct cunei_top_view *view)
{
    move(view, 1);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action go_page_up(struct cunei_top_view *view)
{
    move(view, -(int64_t)view->page);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action go_page_down(struct cunei_top_view *view)
{
    move(view, view->page);
    return CUNEI_TOP_ACTION_NONE;
}

/* The first row is where a view begins: it then stays with the first row again. */
static enum cunei_top_action go_home(struct cunei_top_view *view)
{
    view->help_row = 0;
    *cunei_top_view_cursor(view) = (struct cunei_top_cursor){0};
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action go_end(struct cunei_top_view *view)
{
    move(view, INT32_MAX);
    return CUNEI_TOP_ACTION_NONE;
}

static void set_branch(struct cunei_top_view *view, enum cunei_top_branch branch)
{
    uint32_t node = (uint32_t)cunei_top_view_cursor(view)->key;
    uint32_t wanted = 2 * node + 64;

    if (view->pane != CUNEI_TOP_PANE_TREE || view->key_count == 0)
        return;
    if (node >= view->branch_count) {
        uint8_t *grown = realloc(view->branches, wanted);
        if (!grown)
            return;
        memset(grown + view->branch_count, CUNEI_TOP_BRANCH_UNTOUCHED,
               wanted - view->branch_count);
        view->branches = grown;
        view->branch_count = wanted;
    }
    view->branches[node] = (uint8_t)branch;
}

static enum cunei_top_action go_right(struct cunei_top_view *view)
{
    set_branch(view, CUNEI_TOP_BRANCH_OPEN);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action go_left(struct cunei_top_view *view)
{
    set_branch(view, CUNEI_TOP_BRANCH_CLOSED);
    return CUNEI_TOP_ACTION_NONE;
}

static void push_detail(struct cunei_top_view *view, uint32_t function)
{
    if (view->detail_count == CUNEI_TOP_DETAIL_MAX)
        memmove(view->details, view->details + 1,
                --view->detail_count * sizeof(view->details[0]));
    view->details[view->detail_count++] = function;
    view->overlay = CUNEI_TOP_OVERLAY_DETAIL;
    view->detail_cursor = (struct cunei_top_cursor){0};
}

static bool shows_groups(const struct cunei_top_view *view)
{
    return view->pane == CUNEI_TOP_PANE_FUNCTIONS && view->group && !view->within &&
           view->overlay == CUNEI_TOP_OVERLAY_NONE;
}

static enum cunei_top_action open_row(struct cunei_top_view *view)
{
    const struct cunei_top_cursor *cursor = cunei_top_view_cursor(view);

    if (cursor->row >= view->key_count)
        return CUNEI_TOP_ACTION_NONE;
    if (view->functions[cursor->row] != UINT32_MAX)
        push_detail(view, view->functions[cursor->row]);
    else if (shows_groups(view))
        cunei_top_view_enter_group(view);
    return CUNEI_TOP_ACTION_NONE;
}

/* One step back: out of a detail, a menu, a pane, a group, a filter. */
static enum cunei_top_action go_back(struct cunei_top_view *view)
{
    if (view->overlay == CUNEI_TOP_OVERLAY_DETAIL && view->detail_count > 1) {
        view->detail_count--;
        view->detail_cursor = (struct cunei_top_cursor){0};
    } else if (view->overlay != CUNEI_TOP_OVERLAY_NONE) {
        view->overlay = CUNEI_TOP_OVERLAY_NONE;
        view->detail_count = 0;
    } else if (view->pane != CUNEI_TOP_PANE_FUNCTIONS)
        cunei_top_view_show(view, CUNEI_TOP_PANE_FUNCTIONS);
    else if (view->within)
        cunei_top_view_leave_group(view);
    else
        view->filter[0] = '\0';
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action next_pane(struct cunei_top_view *view)
{
    unsigned count = CUNEI_TOP_PANE_COUNT - !view->has_output;
    cunei_top_view_show(view, (enum cunei_top_pane)((view->pane + 1u) % count));
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action previous_pane(struct cunei_top_view *view)
{
    unsigned count = CUNEI_TOP_PANE_COUNT - !view->has_output;
    cunei_top_view_show(view, (enum cunei_top_pane)((view->pane + count - 1) % count));
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action show_tree(struct cunei_top_view *view)
{
    cunei_top_view_show(view, view->pane == CUNEI_TOP_PANE_TREE
                                  ? CUNEI_TOP_PANE_FUNCTIONS
                                  : CUNEI_TOP_PANE_TREE);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action show_output(struct cunei_top_view *view)
{
    cunei_top_view_show(view, view->pane == CUNEI_TOP_PANE_OUTPUT
                                  ? CUNEI_TOP_PANE_FUNCTIONS
                                  : CUNEI_TOP_PANE_OUTPUT);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action show_help(struct cunei_top_view *view)
{
    view->overlay = CUNEI_TOP_OVERLAY_HELP;
    view->help_row = 0;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action show_sort(struct cunei_top_view *view)
{
    view->overlay = CUNEI_TOP_OVERLAY_SORT;
    view->menu_row = 0;
    while (view->columns[view->menu_row] != view->sort)
        view->menu_row++;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action show_columns(struct cunei_top_view *view)
{
    view->overlay = CUNEI_TOP_OVERLAY_COLUMNS;
    view->menu_row = 0;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action sort_left(struct cunei_top_view *view)
{
    cunei_top_view_sort_beside(view, -1);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action sort_right(struct cunei_top_view *view)
{
    cunei_top_view_sort_beside(view, 1);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action reverse(struct cunei_top_view *view)
{
    view->is_reversed = !view->is_reversed;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action sort_by_self(struct cunei_top_view *view)
{
    view->sort = cunei_top_column_find("self%", 5);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action sort_by_total(struct cunei_top_view *view)
{
    view->sort = cunei_top_column_find("total%", 6);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action sort_by_calls(struct cunei_top_view *view)
{
    view->sort = cunei_top_column_find("calls/s", 7);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action freeze(struct cunei_top_view *view)
{
    bool was_frozen = view->is_frozen;

    cunei_top_view_unfreeze(view);
    view->is_frozen = !was_frozen;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action pause_values(struct cunei_top_view *view)
{
    view->is_paused = !view->is_paused;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action toggle_whole(struct cunei_top_view *view)
{
    view->is_whole = !view->is_whole;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action toggle_idle(struct cunei_top_view *view)
{
    view->idle = !view->idle;
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action next_group(struct cunei_top_view *view)
{
    view->group = (enum cunei_top_group)((view->group + 1u) % CUNEI_TOP_GROUP_COUNT);
    view->within = 0;
    view->cursors[CUNEI_TOP_PANE_FUNCTIONS] = (struct cunei_top_cursor){0};
    cunei_top_view_unfreeze(view);
    cunei_top_view_show(view, CUNEI_TOP_PANE_FUNCTIONS);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action type_filter(struct cunei_top_view *view)
{
    view->prompt = CUNEI_TOP_PROMPT_FILTER;
    cunei_top_view_show(view, CUNEI_TOP_PANE_FUNCTIONS);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action type_search(struct cunei_top_view *view)
{
    view->prompt = CUNEI_TOP_PROMPT_SEARCH;
    view->search[0] = '\0';
    cunei_top_view_show(view, CUNEI_TOP_PANE_FUNCTIONS);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action search_again(struct cunei_top_view *view)
{
    return view->search[0] ? CUNEI_TOP_ACTION_SEARCH_NEXT : CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action snapshot(struct cunei_top_view *view)
{
    (void)view;
    return CUNEI_TOP_ACTION_SNAPSHOT;
}

static enum cunei_top_action export_page(struct cunei_top_view *view)
{
    (void)view;
    return CUNEI_TOP_ACTION_EXPORT;
}

static enum cunei_top_action redraw(struct cunei_top_view *view)
{
    (void)view;
    return CUNEI_TOP_ACTION_REDRAW;
}

static const struct binding {
    uint32_t keys[4]; /* the rest are 0 */
    const char *shown, *help;
    enum cunei_top_action (*run)(struct cunei_top_view *view);
} bindings[] = {
    {{CUNEI_TOP_KEY_UP, 'k'}, "↑ k", "one row up", go_up},
    {{CUNEI_TOP_KEY_DOWN, 'j'}, "↓ j", "one row down", go_down},
    {{CUNEI_TOP_KEY_PAGE_UP, CUNEI_TOP_KEY_CONTROL('b'), CUNEI_TOP_KEY_CONTROL('u')},
     "PgUp ^B ^U",
     "one page up",
     go_page_up},
    {{CUNEI_TOP_KEY_PAGE_DOWN, CUNEI_TOP_KEY_CONTROL('f'), CUNEI_TOP_KEY_CONTROL('d')},
     "PgDn ^F ^D",
     "one page down",
     go_page_down},
    {{CUNEI_TOP_KEY_HOME, 'g'},
     "Home g",
     "first row; the selection stays there when rows move",
     go_home},
    {{CUNEI_TOP_KEY_END, 'G'}, "End G", "last row", go_end},
    {{CUNEI_TOP_KEY_ENTER},
     "Enter",
     "callers, callees, … of a function; functions of a group",
     open_row},
    {{CUNEI_TOP_KEY_ESCAPE, CUNEI_TOP_KEY_BACKSPACE},
     "Esc Bksp",
     "one step back; without one, remove the filter",
     go_back},
    {{CUNEI_TOP_KEY_RIGHT, 'l', '+'}, "→ l +", "open a branch of the tree", go_right},
    {{CUNEI_TOP_KEY_LEFT, 'h', '-'}, "← h -", "close it", go_left},
    {{CUNEI_TOP_KEY_TAB}, "Tab", "next pane; 1 to 8 choose one", next_pane},
    {{CUNEI_TOP_KEY_BACK_TAB}, "S-Tab", "previous pane", previous_pane},
    {{CUNEI_TOP_KEY_F(1), '?'}, "F1 ?", "this help", show_help},
    {{CUNEI_TOP_KEY_F(2), 'C'}, "F2 C", "choose columns and their order", show_columns},
    {{CUNEI_TOP_KEY_F(3), '/'},
     "F3 /",
     "select the next function with this text",
     type_search},
    {{'n'}, "n", "the next one", search_again},
    {{CUNEI_TOP_KEY_F(4), '\\'},
     "F4 \\",
     "show only functions with this text",
     type_filter},
    {{CUNEI_TOP_KEY_F(5), 't'}, "F5 t", "call tree", show_tree},
    {{CUNEI_TOP_KEY_F(6), '.'}, "F6 .", "choose the column to sort by", show_sort},
    {{'<'}, "<", "sort by the column to the left", sort_left},
    {{'>'}, ">", "sort by the column to the right", sort_right},
    {{'I', 'R'}, "I R", "reverse the order", reverse},
    {{'P'}, "P", "sort by self%", sort_by_self},
    {{'T'}, "T", "sort by total%", sort_by_total},
    {{'N'}, "N", "sort by calls/s", sort_by_calls},
    {{CUNEI_TOP_KEY_F(7), 'm'},
     "F7 m",
     "group by module, file, class, not at all",
     next_group},
    {{CUNEI_TOP_KEY_F(8), 'w'},
     "F8 w",
     "shares and rates of the whole time, or of now",
     toggle_whole},
    {{CUNEI_TOP_KEY_F(9), 's'},
     "F9 s",
     "snapshot: save the last seconds as a trace",
     snapshot},
    {{'e'}, "e", "export the recording so far as a web page", export_page},
    {{'f'}, "f", "freeze the order of rows, values keep changing", freeze},
    {{' ', 'p'}, "Space p", "pause: nothing changes", pause_values},
    {{'i'}, "i", "show functions that only wait, or hide them", toggle_idle},
    {{'o'}, "o", "what the program printed", show_output},
    {{CUNEI_TOP_KEY_CONTROL('l')}, "^L", "draw the screen again", redraw},
    {{CUNEI_TOP_KEY_F(10), 'q'}, "F10 q", "quit", quit},
};

#define BINDING_COUNT (sizeof(bindings) / sizeof(bindings[0]))

const char *cunei_top_view_binding(size_t index, const char **help)
{
    if (index >= BINDING_COUNT)
        return NULL;
    *help = bindings[index].help;
    return bindings[index].shown;
}

static enum cunei_top_action run_binding(struct cunei_top_view *view, uint32_t key)
{
    if (key >= '1' && key < '1' + CUNEI_TOP_PANE_COUNT) {
        cunei_top_view_show(view, (enum cunei_top_pane)(key - '1'));
        return CUNEI_TOP_ACTION_NONE;
    }
    for (size_t i = 0; i < BINDING_COUNT; i++) {
        for (size_t j = 0; j < 4 && bindings[i].keys[j]; j++) {
            if (bindings[i].keys[j] == key)
                return bindings[i].run(view);
        }
    }
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action type(struct cunei_top_view *view, uint32_t key)
{
    bool is_search = view->prompt == CUNEI_TOP_PROMPT_SEARCH;

    if (!cunei_top_prompt_key(view, key))
        return run_binding(view, key);
    return is_search && view->prompt == CUNEI_TOP_PROMPT_SEARCH
               ? CUNEI_TOP_ACTION_SEARCH
               : CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action answer(struct cunei_top_view *view, uint32_t key)
{
    view->prompt = CUNEI_TOP_PROMPT_NONE;
    return key == 'y' || key == 'Y' || key == 'q' || key == CUNEI_TOP_KEY_F(10)
               ? CUNEI_TOP_ACTION_QUIT
               : CUNEI_TOP_ACTION_NONE;
}

/* In the help, a key that means nothing there closes it. */
static enum cunei_top_action run_help(struct cunei_top_view *view, uint32_t key)
{
    static const uint32_t moving[] = {CUNEI_TOP_KEY_UP,
                                      CUNEI_TOP_KEY_DOWN,
                                      CUNEI_TOP_KEY_PAGE_UP,
                                      CUNEI_TOP_KEY_PAGE_DOWN,
                                      CUNEI_TOP_KEY_CONTROL('b'),
                                      CUNEI_TOP_KEY_CONTROL('f'),
                                      CUNEI_TOP_KEY_CONTROL('u'),
                                      CUNEI_TOP_KEY_CONTROL('d'),
                                      CUNEI_TOP_KEY_HOME,
                                      CUNEI_TOP_KEY_END,
                                      'j',
                                      'k',
                                      'g',
                                      'G'};

    for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++) {
        if (key == moving[i])
            return run_binding(view, key);
    }
    view->overlay =
        view->detail_count > 0 ? CUNEI_TOP_OVERLAY_DETAIL : CUNEI_TOP_OVERLAY_NONE;
    return CUNEI_TOP_ACTION_NONE;
}

enum cunei_top_action cunei_top_view_key(struct cunei_top_view *view, uint32_t key)
{
    view->message[0] = '\0';
    if (key == '\r')
        key = CUNEI_TOP_KEY_ENTER;
    if (key == '\b')
        key = CUNEI_TOP_KEY_BACKSPACE;
    if (view->prompt == CUNEI_TOP_PROMPT_QUIT)
        return answer(view, key);
    if (view->prompt != CUNEI_TOP_PROMPT_NONE)
        return type(view, key);
    if (view->overlay == CUNEI_TOP_OVERLAY_HELP)
        return run_help(view, key);
    if (view->overlay == CUNEI_TOP_OVERLAY_SORT ||
        view->overlay == CUNEI_TOP_OVERLAY_COLUMNS) {
        cunei_top_menu_key(view, key);
        return CUNEI_TOP_ACTION_NONE;
    }
    return run_binding(view, key);
}

void cunei_top_view_click(struct cunei_top_view *view, uint32_t offset)
{
    struct cunei_top_cursor *cursor = cunei_top_view_cursor(view);
    uint32_t row = cursor->first + offset;

    if (view->overlay == CUNEI_TOP_OVERLAY_SORT ||
        view->overlay == CUNEI_TOP_OVERLAY_COLUMNS) {
        cunei_top_menu_click(view, (int)offset);
        return;
    }
    if (row >= view->key_count)
        return;
    if (cursor->is_set && cursor->row == row)
        (void)open_row(view);
    else
        set_row(view, row);
}

void cunei_top_view_scroll(struct cunei_top_view *view, int rows)
{
    move(view, rows);
}
