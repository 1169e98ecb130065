// SPDX-License-Identifier: MIT
#include "cmd/common/progress_bar.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/units.h"
#include "text/format.h"

#define DELAY_NS (CUNEI_NS_PER_S / 2)
#define PAUSE_NS (CUNEI_NS_PER_S / 10)
#define CELLS    24u

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CUNEI_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Eighths of a cell make it move smoothly. */
static void append_bar(struct cunei_buffer *text, uint64_t done, uint64_t total)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    uint64_t eighths = total ? (uint64_t)CELLS * 8 * (done / 8) / (total / 8 + 1) : 0;
    uint64_t cells = eighths / 8;

    for (uint64_t i = 0; i < cells; i++)
        cunei_buffer_append_text(text, "█");
    cunei_buffer_append_text(text, parts[eighths % 8]);
    for (uint64_t i = cells + (eighths % 8 > 0); i < CELLS; i++)
        cunei_buffer_append_text(text, " ");
}

void cunei_progress_bar_show(void *progress, uint64_t done_bytes, uint64_t total_bytes)
{
    struct cunei_progress_bar *bar = progress;
    uint64_t now = now_ns();

    if (bar->begin_ns == 0)
        bar->begin_ns = now;
    if (now - bar->begin_ns < DELAY_NS || now - bar->last_ns < PAUSE_NS ||
        !isatty(STDERR_FILENO))
        return;
    bar->last_ns = now;
    bar->is_shown = true;
    struct cunei_buffer text = {0};
    cunei_buffer_format(&text, "\r%s ▕", bar->what);
    append_bar(&text, done_bytes < total_bytes ? done_bytes : total_bytes, total_bytes);
    cunei_buffer_append_text(&text, "▏ ");
    cunei_format_size(&text, done_bytes);
    cunei_buffer_append_text(&text, " of ");
    cunei_format_size(&text, total_bytes);
    cunei_buffer_append_text(&text, "\033[K");
    if (!text.failed)
        (void)fputs(text.data, stderr);
    (void)fflush(stderr);
    cunei_buffer_fini(&text);
}

void cunei_progress_bar_clear(struct cunei_progress_bar *progress)
{
    if (progress->is_shown)
        (void)fputs("\r\033[K", stderr);
    progress->is_shown = false;
}
