// SPDX-License-Identifier: MIT
/*
 * What the user looks at: pane, order, filter, selection; and how keys change it.
 * Nothing here knows a terminal.
 *
 *     struct cunei_top_view view;
 *     cunei_top_view_init(&view);
 *     enum cunei_top_action action = cunei_top_view_key(&view, key);
 *     …
 *     cunei_top_view_fini(&view);
 *
 * The selection of a pane is a key (a function, a thread), not a row: it stays on its
 * function when rows move.  The draw functions tell the view which keys its rows have
 * (cunei_top_view_see).
 */
#ifndef CUNEI_TOP_VIEW_VIEW_H
#define CUNEI_TOP_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/view/columns.h"
#include "top/view/list.h"

#define CUNEI_TOP_FILTER_MAX 127u
#define CUNEI_TOP_DETAIL_MAX 16u

enum cunei_top_pane {
    CUNEI_TOP_PANE_FUNCTIONS,
    CUNEI_TOP_PANE_TREE,
    CUNEI_TOP_PANE_STACKS,
    CUNEI_TOP_PANE_THREADS,
    CUNEI_TOP_PANE_TASKS,
    CUNEI_TOP_PANE_EXCEPTIONS,
    CUNEI_TOP_PANE_PROCESSES,
    CUNEI_TOP_PANE_OUTPUT,
    CUNEI_TOP_PANE_COUNT,
};

/* What lies over the pane. */
enum cunei_top_overlay {
    CUNEI_TOP_OVERLAY_NONE,
    CUNEI_TOP_OVERLAY_DETAIL, /* of a function */
    CUNEI_TOP_OVERLAY_HELP,
    CUNEI_TOP_OVERLAY_SORT,
    CUNEI_TOP_OVERLAY_COLUMNS,
};

/* What is being typed or asked in the last row. */
enum cunei_top_prompt {
    CUNEI_TOP_PROMPT_NONE,
    CUNEI_TOP_PROMPT_FILTER,
    CUNEI_TOP_PROMPT_SEARCH,
    CUNEI_TOP_PROMPT_QUIT, /* which would end the program */
};

/* Keys are code points of Unicode, or these. */
enum cunei_top_key_code {
    CUNEI_TOP_KEY_ESCAPE = 27,
    CUNEI_TOP_KEY_ENTER = '\n',
    CUNEI_TOP_KEY_TAB = '\t',
    CUNEI_TOP_KEY_BACKSPACE = 127,
    CUNEI_TOP_KEY_UP = 0x110000,
    CUNEI_TOP_KEY_DOWN,
    CUNEI_TOP_KEY_LEFT,
    CUNEI_TOP_KEY_RIGHT,
    CUNEI_TOP_KEY_PAGE_UP,
    CUNEI_TOP_KEY_PAGE_DOWN,
    CUNEI_TOP_KEY_HOME,
    CUNEI_TOP_KEY_END,
    CUNEI_TOP_KEY_BACK_TAB,
    CUNEI_TOP_KEY_F1, /* up to F10, in order */
    CUNEI_TOP_KEY_F10 = CUNEI_TOP_KEY_F1 + 9,
};

#define CUNEI_TOP_KEY_F(number)       (CUNEI_TOP_KEY_F1 + (number)-1)
#define CUNEI_TOP_KEY_CONTROL(letter) ((letter) - 'a' + 1)

/* What a key asks of others than the view. */
enum cunei_top_action {
    CUNEI_TOP_ACTION_NONE,
    CUNEI_TOP_ACTION_QUIT,
    CUNEI_TOP_ACTION_SNAPSHOT,
    CUNEI_TOP_ACTION_EXPORT,
    CUNEI_TOP_ACTION_REDRAW,
    CUNEI_TOP_ACTION_SEARCH,      /* from the selected row on … */
    CUNEI_TOP_ACTION_SEARCH_NEXT, /* … or from the one below it */
};

/* Whether a branch of the tree is open. */
enum cunei_top_branch {
    CUNEI_TOP_BRANCH_UNTOUCHED, /* if it takes much of the time */
    CUNEI_TOP_BRANCH_OPEN,
    CUNEI_TOP_BRANCH_CLOSED,
};

/* Where the user is in a list of rows. */
struct cunei_top_cursor {
    uint64_t key;
    bool is_set;    /* by the user: otherwise the first row is selected */
    uint32_t row;   /* where the key was last … */
    uint32_t first; /* … and the first row on the screen */
};

struct cunei_top_view {
    enum cunei_top_pane pane;
    enum cunei_top_overlay overlay;
    enum cunei_top_prompt prompt;
    int sort; /* index of a column */
    bool is_reversed;
    bool is_frozen; /* rows keep their places while values change */
    bool is_paused; /* nothing changes */
    bool is_whole;  /* rates since the start instead of those of the last interval */
    bool idle;      /* also functions that only wait */
    enum cunei_top_group group;
    uint32_t within; /* the group whose functions are shown, plus one; 0: groups */
    char filter[CUNEI_TOP_FILTER_MAX + 1];
    char search[CUNEI_TOP_FILTER_MAX + 1];
    struct cunei_top_cursor cursors[CUNEI_TOP_PANE_COUNT];
    struct cunei_top_cursor detail_cursor;
    uint32_t details[CUNEI_TOP_DETAIL_MAX]; /* functions, the last one is shown */
    size_t detail_count;
    int columns[CUNEI_TOP_COLUMNS_MAX];          /* all of them, in order … */
    bool is_column_shown[CUNEI_TOP_COLUMNS_MAX]; /* … by index of the column */
    int menu_row;
    uint32_t help_row;
    uint32_t *frozen; /* owned: keys in the frozen order */
    uint32_t frozen_count;
    uint8_t *branches; /* owned: enum cunei_top_branch, by node of the call tree … */
    uint32_t branch_count; /* … of those that the user opened or closed */
    bool has_program;      /* quitting would end it */
    bool has_output;       /* it has a pane for the program's output */
    char message[200];     /* in the last row until the next key */
    /* Rows of the current pane, as it was last drawn: borrowed until the next time. */
    const uint64_t *keys;
    const uint32_t *functions; /* that Enter opens, by row; UINT32_MAX: none */
    uint32_t key_count;
    uint32_t page; /* rows that fit */
};

void cunei_top_view_init(struct cunei_top_view *view);
void cunei_top_view_fini(struct cunei_top_view *view);

/* Choose columns by their words, separated by commas, in that order.  The first word
 * that no column has is returned, with its length; NULL: all is well. */
const char *cunei_top_view_choose(struct cunei_top_view *view, const char *words,
                                  size_t *size);

enum cunei_top_action cunei_top_view_key(struct cunei_top_view *view, uint32_t key);

/* Select the row that is shown at an offset from the first one; a second time opens
 * it. */
void cunei_top_view_click(struct cunei_top_view *view, uint32_t offset);
void cunei_top_view_scroll(struct cunei_top_view *view, int rows);
void cunei_top_view_show(struct cunei_top_view *view, enum cunei_top_pane pane);
/* A click on the head of a column sorts by it; on that of the sorted one reverses. */
void cunei_top_view_sort(struct cunei_top_view *view, int column);
/* Sort by the shown column to the left (-1) or right (1) of the sorted one. */
void cunei_top_view_sort_beside(struct cunei_top_view *view, int step);

/* The cursor of what is shown now. */
struct cunei_top_cursor *cunei_top_view_cursor(struct cunei_top_view *view);

/*
 * The rows that are there now, of which `page` fit: moves the selection and the first
 * row with its key; where the key is gone, the selection stays at its row.
 */
void cunei_top_view_see(struct cunei_top_view *view, const uint64_t *keys,
                        const uint32_t *functions, uint32_t count, uint32_t page);

/* Keep the order that the list has now.  -ENOMEM. */
int cunei_top_view_freeze(struct cunei_top_view *view,
                          const struct cunei_top_list *list);

/* Rows are in the order of their values again. */
void cunei_top_view_unfreeze(struct cunei_top_view *view);

/* Show the functions of the selected group; show the groups again. */
void cunei_top_view_enter_group(struct cunei_top_view *view);
void cunei_top_view_leave_group(struct cunei_top_view *view);

/* Move the selection to the next row that matches the search; -ENOENT: none does. */
int cunei_top_view_search(struct cunei_top_view *view,
                          const struct cunei_top_list *list, bool from_next);

enum cunei_top_branch cunei_top_view_branch(const struct cunei_top_view *view,
                                            uint32_t node);

/* What the list of functions has to show. */
struct cunei_top_wish cunei_top_view_wish(const struct cunei_top_view *view);

#endif
