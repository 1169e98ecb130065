// SPDX-License-Identifier: MIT
/*
 * Another command of cunei that runs while the screen is shown: a snapshot or an
 * export.
 *
 *     struct cunei_top_background background = {.output = -1};
 *     const char *words[] = {"cunei", "snapshot", "DIR", NULL};
 *     rc = cunei_top_background_start(&background, words);
 *     … background.output is readable:
 *     cunei_top_background_look(&background, text, size, &has_failed) …
 */
#ifndef CUNEI_CMD_TOP_BACKGROUND_COMMAND_H
#define CUNEI_CMD_TOP_BACKGROUND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buffer.h"

struct cunei_top_background {
    pid_t pid;  /* 0: none runs */
    int output; /* -1: none runs */
    struct cunei_buffer text;
};

/* -EBUSY: one runs already; or of starting it. */
int cunei_top_background_start(struct cunei_top_background *background,
                               const char *const *words);

/* Read what it prints.  True: it has ended, and the last line goes to `text`. */
bool cunei_top_background_look(struct cunei_top_background *background, char *text,
                               size_t size, bool *has_failed);

/* Wait for its end. */
void cunei_top_background_finish(struct cunei_top_background *background);

#endif
