// SPDX-License-Identifier: MIT
/* What each key does.  The table of `bindings` is also the help. */
#include "top/view_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "top/view.h"

#define CONTROL(letter) ((letter) - 'a' + 1)

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
    set_row(view, (int64_t)view->key_count - 1);
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

static enum cunei_top_action open_row(struct cunei_top_view *view)
{
    const struct cunei_top_cursor *cursor = cunei_top_view_cursor(view);

    if (cursor->row < view->key_count && view->functions[cursor->row] != UINT32_MAX)
        push_detail(view, view->functions[cursor->row]);
    return CUNEI_TOP_ACTION_NONE;
}

/* One step back: out of a detail, a menu, a filter, a pane. */
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
    else
        view->filter[0] = '\0';
    return CUNEI_TOP_ACTION_NONE;
}

void cunei_top_view_show(struct cunei_top_view *view, enum cunei_top_pane pane)
{
    if (pane == CUNEI_TOP_PANE_OUTPUT && !view->has_output)
        return;
    view->overlay = CUNEI_TOP_OVERLAY_NONE;
    view->detail_count = 0;
    view->pane = pane;
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

void cunei_top_view_sort(struct cunei_top_view *view, int column)
{
    if (view->sort == column)
        view->is_reversed = !view->is_reversed;
    else
        view->is_reversed = false;
    view->sort = column;
}

/* The shown column beside the one by which it is sorted. */
static void sort_beside(struct cunei_top_view *view, int step)
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

static enum cunei_top_action sort_left(struct cunei_top_view *view)
{
    sort_beside(view, -1);
    return CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action sort_right(struct cunei_top_view *view)
{
    sort_beside(view, 1);
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
    view->is_frozen = !view->is_frozen;
    free(view->frozen);
    view->frozen = NULL;
    view->frozen_count = 0;
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
    view->cursors[CUNEI_TOP_PANE_FUNCTIONS] = (struct cunei_top_cursor){0};
    if (view->is_frozen)
        (void)freeze(view);
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

static enum cunei_top_action export(struct cunei_top_view *view) {
    (void)view; return CUNEI_TOP_ACTION_EXPORT;
}

static enum cunei_top_action redraw(struct cunei_top_view *view)
{
    (void)view;
    return CUNEI_TOP_ACTION_REDRAW;
}

#define F(number) (CUNEI_TOP_KEY_F1 + (number)-1)

static const struct binding {
    uint32_t keys[4]; /* the rest are 0 */
    const char *shown, *help;
    enum cunei_top_action (*run)(struct cunei_top_view *view);
} bindings[] = {
    {{CUNEI_TOP_KEY_UP, 'k'}, "↑ k", "one row up", go_up},
    {{CUNEI_TOP_KEY_DOWN, 'j'}, "↓ j", "one row down", go_down},
    {{CUNEI_TOP_KEY_PAGE_UP, CONTROL('b'), CONTROL('u')},
     "PgUp ^B ^U",
     "one page up",
     go_page_up},
    {{CUNEI_TOP_KEY_PAGE_DOWN, CONTROL('f'), CONTROL('d')},
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
     "callers, callees, durations and history of a function",
     open_row},
    {{CUNEI_TOP_KEY_ESCAPE, CUNEI_TOP_KEY_BACKSPACE},
     "Esc Bksp",
     "one step back; without one, remove the filter",
     go_back},
    {{CUNEI_TOP_KEY_RIGHT, 'l', '+'}, "→ l +", "open a branch of the tree", go_right},
    {{CUNEI_TOP_KEY_LEFT, 'h', '-'}, "← h -", "close it", go_left},
    {{CUNEI_TOP_KEY_TAB}, "Tab", "next pane; 1 to 8 choose one", next_pane},
    {{CUNEI_TOP_KEY_BACK_TAB}, "S-Tab", "previous pane", previous_pane},
    {{F(1), '?'}, "F1 ?", "this help", show_help},
    {{F(2), 'C'}, "F2 C", "choose columns and their order", show_columns},
    {{F(3), '/'}, "F3 /", "select the next function with this text", type_search},
    {{'n'}, "n", "the next one", search_again},
    {{F(4), '\\'}, "F4 \\", "show only functions with this text", type_filter},
    {{F(5), 't'}, "F5 t", "call tree", show_tree},
    {{F(6), '.'}, "F6 .", "choose the column to sort by", show_sort},
    {{'<'}, "<", "sort by the column to the left", sort_left},
    {{'>'}, ">", "sort by the column to the right", sort_right},
    {{'I', 'R'}, "I R", "reverse the order", reverse},
    {{'P'}, "P", "sort by self%", sort_by_self},
    {{'T'}, "T", "sort by total%", sort_by_total},
    {{'N'}, "N", "sort by calls/s", sort_by_calls},
    {{F(7), 'm'}, "F7 m", "group by module, file, class, not at all", next_group},
    {{F(8), 'w'},
     "F8 w",
     "shares and rates of the whole time, or of now",
     toggle_whole},
    {{F(9), 's'}, "F9 s", "snapshot: save the last seconds as a trace", snapshot},
    {{'e'}, "e", "export the recording so far as a web page", export},
    {{'f'}, "f", "freeze the order of rows, values keep changing", freeze},
    {{' ', 'p'}, "Space p", "pause: nothing changes", pause_values},
    {{'i'}, "i", "show functions that only wait, or hide them", toggle_idle},
    {{'o'}, "o", "what the program printed", show_output},
    {{CONTROL('l')}, "^L", "draw the screen again", redraw},
    {{F(10), 'q'}, "F10 q", "quit", quit},
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

static void run_menu(struct cunei_top_view *view, uint32_t key)
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
             key == CUNEI_TOP_KEY_BACKSPACE || key == F(2) || key == F(6) ||
             key == F(10))
        view->overlay = CUNEI_TOP_OVERLAY_NONE;
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

static enum cunei_top_action type(struct cunei_top_view *view, uint32_t key)
{
    bool is_search = view->prompt == CUNEI_TOP_PROMPT_SEARCH;
    char *text = is_search ? view->search : view->filter;

    if (key == CUNEI_TOP_KEY_ENTER || key == CUNEI_TOP_KEY_ESCAPE) {
        if (key == CUNEI_TOP_KEY_ESCAPE)
            text[0] = '\0';
        view->prompt = CUNEI_TOP_PROMPT_NONE;
        return CUNEI_TOP_ACTION_NONE;
    }
    if (key == CUNEI_TOP_KEY_BACKSPACE)
        erase(text);
    else if (key == CONTROL('u'))
        text[0] = '\0';
    else if (key >= ' ' && key < 0x110000)
        append(text, key);
    else
        return run_binding(view, key);
    return is_search ? CUNEI_TOP_ACTION_SEARCH : CUNEI_TOP_ACTION_NONE;
}

static enum cunei_top_action answer(struct cunei_top_view *view, uint32_t key)
{
    view->prompt = CUNEI_TOP_PROMPT_NONE;
    return key == 'y' || key == 'Y' || key == 'q' || key == F(10)
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
                                      CUNEI_TOP_KEY_HOME,
                                      'j',
                                      'k',
                                      'g'};

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
        run_menu(view, key);
        return CUNEI_TOP_ACTION_NONE;
    }
    return run_binding(view, key);
}

void cunei_top_view_click(struct cunei_top_view *view, uint32_t offset)
{
    struct cunei_top_cursor *cursor = cunei_top_view_cursor(view);
    uint32_t row = cursor->first + offset;

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
