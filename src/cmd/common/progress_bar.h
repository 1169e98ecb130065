// SPDX-License-Identifier: MIT
/*
 * A bar on stderr for what takes long: only on a terminal, only after half a second.
 *
 *     struct cunei_progress_bar progress = {.what = "reading"};
 *     cunei_progress_bar_show(&progress, done, total);    (as often as you like)
 *     cunei_progress_bar_clear(&progress);
 */
#ifndef CUNEI_CMD_COMMON_PROGRESS_BAR_H
#define CUNEI_CMD_COMMON_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_progress_bar {
    const char *what;
    uint64_t begin_ns, last_ns; /* private, as the rest */
    bool is_shown;
};

/* `progress` is a struct cunei_progress_bar: it serves as a callback. */
void cunei_progress_bar_show(void *progress, uint64_t done_bytes, uint64_t total_bytes);
void cunei_progress_bar_clear(struct cunei_progress_bar *progress);

#endif
