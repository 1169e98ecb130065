// SPDX-License-Identifier: MIT
#include "top/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* ncurses has macros for half of the alphabet: ours come first. */
#include "base/buffer.h"
#include "top/draw/grid.h"
#include "top/terminal/terminal_signals.h"
#include "top/view/view.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

#define ESCAPE_MS     25
#define DEFAULT_COLOR (-1)

/* How an ink looks: in 16 colours, which follow the theme of the terminal, in 256, and
 * in any; and without colours. */
struct look {
    short fore16, back16;
    int fore256, back256;
    int fore_rgb, back_rgb;
    attr_t attributes, plain_attributes;
};

#define D DEFAULT_COLOR

static const struct look looks[CUNEI_TOP_INK_COUNT] = {
    [CUNEI_TOP_INK_PLAIN] = {D, D, D, D, D, D, 0, 0},
    [CUNEI_TOP_INK_DIM] = {D, D, 245, D, 0x8a8a8a, D, 0, 0},
    [CUNEI_TOP_INK_STRONG] = {COLOR_CYAN, D, 80, D, 0x5fd7d7, D, 0, 0},
    [CUNEI_TOP_INK_HOT] = {COLOR_RED, D, 203, D, 0xff5f5f, D, A_BOLD, A_BOLD},
    [CUNEI_TOP_INK_WARM] = {COLOR_YELLOW, D, 215, D, 0xffaf5f, D, 0, A_BOLD},
    [CUNEI_TOP_INK_GOOD] = {COLOR_GREEN, D, 114, D, 0x87d787, D, 0, 0},
    [CUNEI_TOP_INK_BAD] = {COLOR_WHITE, COLOR_RED, 231, 160, 0xffffff, 0xd70000, A_BOLD,
                           A_REVERSE | A_BOLD},
    [CUNEI_TOP_INK_TITLE] = {COLOR_WHITE, COLOR_BLUE, 231, 24, 0xffffff, 0x005f87,
                             A_BOLD, A_REVERSE},
    [CUNEI_TOP_INK_HEAD] = {COLOR_BLACK, COLOR_GREEN, 252, 238, 0xd0d0d0, 0x444444, 0,
                            A_UNDERLINE},
    [CUNEI_TOP_INK_SORTED] = {COLOR_BLACK, COLOR_CYAN, 16, 80, 0x000000, 0x5fd7d7, 0,
                              A_UNDERLINE | A_BOLD},
    [CUNEI_TOP_INK_TAB] = {D, D, 250, 236, 0xbcbcbc, 0x303030, 0, 0},
    [CUNEI_TOP_INK_TAB_OPEN] = {D, D, 231, 236, 0xffffff, 0x303030,
                                A_BOLD | A_UNDERLINE, A_BOLD | A_REVERSE},
    [CUNEI_TOP_INK_KEY] = {D, D, 231, D, 0xffffff, D, A_BOLD, A_BOLD},
    [CUNEI_TOP_INK_KEY_LABEL] = {COLOR_BLACK, COLOR_CYAN, 16, 73, 0x000000, 0x5fafaf, 0,
                                 A_REVERSE},
    [CUNEI_TOP_INK_SELECTED] = {COLOR_BLACK, COLOR_CYAN, 231, 25, 0xffffff, 0x005faf, 0,
                                A_REVERSE},
    [CUNEI_TOP_INK_GRAPH] = {COLOR_GREEN, D, 78, D, 0x5fd787, D, 0, 0},
};

#undef D

static struct {
    SCREEN *screen;
    FILE *out, *in;
    bool is_ascii, has_colors, is_changed;
} terminal;

/* Without a UTF-8 locale, widths of characters are those of C.UTF-8. */
static bool set_locale(void)
{
    bool is_utf8 =
        setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

    if (!is_utf8)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    return is_utf8;
}

/* Whether the terminal database has the terminal, and that one can show a screen. */
static bool is_known(const char *name, int *error)
{
    bool has_screen = setupterm(name, STDOUT_FILENO, error) == OK && cursor_address;

    if (*error == 1)
        (void)del_curterm(cur_term);
    return has_screen;
}

bool cunei_top_terminal_is_possible(struct cunei_buffer *reason)
{
    const char *name = getenv("TERM");
    int error = 0;

    if (!isatty(STDOUT_FILENO))
        cunei_buffer_append_text(
            reason, "stdout is not a terminal, where top draws its screen; "
                    "--once, --batch N and --json print samples");
    else if (!name || !*name)
        cunei_buffer_append_text(
            reason, "TERM is not set, so top does not know this terminal; try "
                    "TERM=xterm, or --once, which needs no terminal");
    else if (is_known(name, &error))
        return true;
    else if (error != 1)
        cunei_buffer_format(reason,
                            "the terminal database has no '%s' (TERM); try TERM=xterm, "
                            "or --once, which needs no terminal",
                            name);
    else
        cunei_buffer_format(reason,
                            "a terminal '%s' (TERM) cannot show a screen; try "
                            "TERM=xterm, or --once, which needs no terminal",
                            name);
    return false;
}

/* Keys come from stdin, or from the terminal itself where that is a pipe. */
static FILE *open_input(void)
{
    const char *name = isatty(STDIN_FILENO) ? ttyname(STDIN_FILENO) : NULL;

    /* In a container the terminal may have no name there. */
    return fopen(name ? name : "/dev/tty", "r+e");
}

static void set_colors(void)
{
    const char *no_color = getenv("NO_COLOR");

    terminal.has_colors = !(no_color && *no_color) && has_colors() &&
                          start_color() == OK && use_default_colors() == OK;
    for (int i = 0; terminal.has_colors && i < CUNEI_TOP_INK_COUNT; i++) {
        const struct look *look = &looks[i];
        if (COLORS > 256)
            (void)init_extended_pair(i + 1, look->fore_rgb, look->back_rgb);
        else if (COLORS == 256)
            (void)init_extended_pair(i + 1, look->fore256, look->back256);
        else
            (void)init_pair((short)(i + 1), look->fore16, look->back16);
    }
}

static const char *capability(const char *text)
{
    return text && text != (const char *)-1 ? text : "";
}

/* What ends everything that we have switched on. */
static void note_sequence(void)
{
    char sequence[256];

    (void)snprintf(sequence, sizeof(sequence),
                   "\033[?1006l\033[?1002l\033[?1000l%s%s%s%s",
                   capability(exit_attribute_mode), capability(keypad_local),
                   capability(cursor_normal), capability(exit_ca_mode));
    cunei_top_signals_set_sequence(sequence);
}

static void set_modes(void)
{
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)leaveok(stdscr, TRUE);
    (void)set_escdelay(ESCAPE_MS);
    (void)mousemask(
        BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    (void)mouseinterval(0);
    (void)curs_set(0);
}

bool cunei_top_terminal_open(bool has_no_utf8, struct cunei_buffer *reason)
{
    terminal.is_ascii = !set_locale() || has_no_utf8;
    if (!cunei_top_terminal_is_possible(reason))
        return false;
    terminal.in = open_input();
    terminal.out = fdopen(dup(STDOUT_FILENO), "w");
    int rc = terminal.in && terminal.out ? cunei_top_signals_watch(fileno(terminal.in))
                                         : -errno;
    if (rc == 0) {
        terminal.screen = newterm(NULL, terminal.out, terminal.in);
        rc = terminal.screen ? 0 : -ENOTTY;
    }
    if (rc < 0) {
        cunei_buffer_format(reason, "cannot use the terminal: %s", strerror(-rc));
        cunei_top_terminal_close();
        return false;
    }
    note_sequence();
    set_modes();
    set_colors();
    return true;
}

void cunei_top_terminal_close(void)
{
    if (terminal.screen) {
        (void)endwin();
        delscreen(terminal.screen);
    }
    cunei_top_signals_forget();
    if (terminal.in)
        (void)fclose(terminal.in);
    if (terminal.out)
        (void)fclose(terminal.out);
    terminal.screen = NULL;
    terminal.in = terminal.out = NULL;
}

bool cunei_top_terminal_is_ascii(void)
{
    return terminal.is_ascii;
}

void cunei_top_terminal_size(int *row_count, int *column_count)
{
    *row_count = LINES;
    *column_count = COLS;
}

static void show_cell(int row, int column, const struct cunei_cell *cell)
{
    const struct look *look = &looks[cell->ink];
    wchar_t text[CCHARW_MAX + 1] = {0};
    cchar_t shown;
    int pair = terminal.has_colors ? cell->ink + 1 : 0;

    (void)mbstowcs(text, cell->text, CCHARW_MAX);
    if (setcchar(&shown, text,
                 terminal.has_colors ? look->attributes : look->plain_attributes, 0,
                 &pair) == OK)
        (void)mvadd_wch(row, column, &shown);
}

void cunei_top_terminal_show(const struct cunei_grid *grid)
{
    if (terminal.is_changed)
        (void)clear();
    else
        (void)erase();
    terminal.is_changed = false;
    for (int row = 0; row < grid->row_count && row < LINES; row++) {
        for (int i = 0; i < grid->column_count && i < COLS; i++) {
            const struct cunei_cell *cell = cunei_grid_cell(grid, row, i);
            if (cell->text[0])
                show_cell(row, i, cell);
        }
    }
    (void)refresh();
}

void cunei_top_terminal_redraw(void)
{
    terminal.is_changed = true;
}

void cunei_top_terminal_fds(int *input, int *signals)
{
    *input = fileno(terminal.in);
    *signals = cunei_top_signals_fd();
}

static bool read_mouse(struct cunei_top_input *input)
{
    MEVENT event;

    if (getmouse(&event) != OK)
        return false;
    *input = (struct cunei_top_input){
        .kind = CUNEI_TOP_INPUT_CLICK, .row = event.y, .column = event.x};
    if (event.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
        input->kind = CUNEI_TOP_INPUT_WHEEL;
        input->steps = event.bstate & BUTTON4_PRESSED ? -3 : 3;
    }
    return true;
}

static uint32_t key_of(wint_t code)
{
    static const struct {
        wint_t code;
        uint32_t key;
    } keys[] = {
        {KEY_UP, CUNEI_TOP_KEY_UP},
        {KEY_DOWN, CUNEI_TOP_KEY_DOWN},
        {KEY_LEFT, CUNEI_TOP_KEY_LEFT},
        {KEY_RIGHT, CUNEI_TOP_KEY_RIGHT},
        {KEY_PPAGE, CUNEI_TOP_KEY_PAGE_UP},
        {KEY_NPAGE, CUNEI_TOP_KEY_PAGE_DOWN},
        {KEY_HOME, CUNEI_TOP_KEY_HOME},
        {KEY_END, CUNEI_TOP_KEY_END},
        {KEY_BTAB, CUNEI_TOP_KEY_BACK_TAB},
        {KEY_ENTER, CUNEI_TOP_KEY_ENTER},
        {KEY_BACKSPACE, CUNEI_TOP_KEY_BACKSPACE},
        {KEY_DC, CUNEI_TOP_KEY_BACKSPACE},
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].code == code)
            return keys[i].key;
    }
    if (code >= (wint_t)KEY_F(1) && code <= (wint_t)KEY_F(10))
        return CUNEI_TOP_KEY_F1 + (uint32_t)(code - (wint_t)KEY_F(1));
    return 0;
}

bool cunei_top_terminal_next(struct cunei_top_input *input)
{
    wint_t code = 0;
    int rc;

    while ((rc = get_wch(&code)) != ERR) {
        *input = (struct cunei_top_input){.kind = CUNEI_TOP_INPUT_KEY, .key = code};
        if (rc == OK)
            return true;
        if (code == KEY_RESIZE) {
            input->kind = CUNEI_TOP_INPUT_RESIZE;
            return true;
        }
        if (code == KEY_MOUSE) {
            if (read_mouse(input))
                return true;
            continue;
        }
        input->key = key_of(code);
        if (input->key)
            return true;
    }
    return false;
}

int cunei_top_terminal_signal(void)
{
    return cunei_top_signals_pending();
}
