// SPDX-License-Identifier: MIT
/*
 * The terminal: shows a grid, and reads keys.  There is one.
 *
 *     struct cunei_buffer reason = {0};
 *     if (!cunei_top_terminal_open(false, &reason))
 *         … reason says why not …
 *     cunei_top_terminal_size(&grid.row_count, &grid.column_count);
 *     cunei_top_terminal_show(&grid);
 *     … poll(2) on cunei_top_terminal_fds() …
 *     while (cunei_top_terminal_next(&input))
 *         …
 *     cunei_top_terminal_close();
 *
 * However the process ends, but for SIGKILL, the terminal is as it was before: signals
 * that end it are noted (cunei_top_terminal_signal), a crash restores the terminal and
 * then continues to crash, and SIGTSTP gives the terminal to the shell.
 */
#ifndef CUNEI_TOP_TERMINAL_TERMINAL_H
#define CUNEI_TOP_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_buffer;
struct cunei_grid;

enum cunei_top_input_kind {
    CUNEI_TOP_INPUT_KEY,
    CUNEI_TOP_INPUT_CLICK,
    CUNEI_TOP_INPUT_WHEEL,
    CUNEI_TOP_INPUT_RESIZE,
};

struct cunei_top_input {
    enum cunei_top_input_kind kind;
    uint32_t key; /* enum cunei_top_key_code, or a character */
    int row, column;
    int steps; /* of the wheel: down, or below 0 up */
};

/* Whether a screen can be shown at all; if not, `reason` has the sentence why. */
bool cunei_top_terminal_is_possible(struct cunei_buffer *reason);
bool cunei_top_terminal_open(bool has_no_utf8, struct cunei_buffer *reason);
void cunei_top_terminal_close(void);

/* Whether only ASCII can be shown. */
bool cunei_top_terminal_is_ascii(void);
void cunei_top_terminal_size(int *row_count, int *column_count);
void cunei_top_terminal_show(const struct cunei_grid *grid);
/* Draw all of it the next time, whatever is on the screen. */
void cunei_top_terminal_redraw(void);

/* Keys can be read where `*input` is readable, and a signal came where `*signals` is.
 */
void cunei_top_terminal_fds(int *input, int *signals);

/* The next input that is there; false: none. */
bool cunei_top_terminal_next(struct cunei_top_input *input);

/* The signal that asked us to end; 0: none. */
int cunei_top_terminal_signal(void);

#endif
