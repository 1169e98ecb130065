// SPDX-License-Identifier: MIT
/* In place of the terminal where cunei was built without ncursesw. */
#include "base/buffer.h"
#include "top/terminal/terminal.h"

bool cunei_top_terminal_is_possible(struct cunei_buffer *reason)
{
    cunei_buffer_append_text(
        reason, "this cunei was built without ncursesw, which the screen of top needs: "
                "install libncurses-dev (Debian) and install cunei again; --once, "
                "--batch N and --json work without it");
    return false;
}

bool cunei_top_terminal_open(bool has_no_utf8, struct cunei_buffer *reason)
{
    (void)has_no_utf8;
    return cunei_top_terminal_is_possible(reason);
}

void cunei_top_terminal_close(void)
{
}

bool cunei_top_terminal_is_ascii(void)
{
    return true;
}

void cunei_top_terminal_size(int *row_count, int *column_count)
{
    *row_count = *column_count = 0;
}

void cunei_top_terminal_show(const struct cunei_grid *grid)
{
    (void)grid;
}

void cunei_top_terminal_redraw(void)
{
}

void cunei_top_terminal_fds(int *input, int *signals)
{
    *input = *signals = -1;
}

bool cunei_top_terminal_next(struct cunei_top_input *input)
{
    (void)input;
    return false;
}

int cunei_top_terminal_signal(void)
{
    return 0;
}
