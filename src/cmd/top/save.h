// SPDX-License-Identifier: MIT
/*
 * What the keys for snapshot and export start: a command of cunei for each recording
 * that is watched, one after another, while the screen is shown.
 *
 *     struct cunei_top_save save = CUNEI_TOP_SAVE_NONE;
 *     rc = cunei_top_save_start(&save, CUNEI_TOP_SAVE_SNAPSHOT, &targets);
 *     … save.background.output is readable: cunei_top_save_look(&save, text, size) …
 */
#ifndef CUNEI_CMD_TOP_SAVE_H
#define CUNEI_CMD_TOP_SAVE_H

#include "cmd/top/background_command.h"
#include "cmd/top/targets.h"

enum cunei_top_save_kind {
    CUNEI_TOP_SAVE_SNAPSHOT,
    CUNEI_TOP_SAVE_PAGE
};

struct cunei_top_save {
    enum cunei_top_save_kind kind;
    struct cunei_top_targets from; /* what is saved; none: nothing is under way */
    size_t next;                   /* of these, to be started */
    char stamp[32];                /* in the names of what is made */
    char failure[160];             /* what the first command that failed printed */
    struct cunei_top_background background;
};

#define CUNEI_TOP_SAVE_NONE           \
    (struct cunei_top_save)           \
    {                                 \
        .background = {.output = -1 } \
    }

/* -EBUSY: something is under way; or of starting it. */
int cunei_top_save_start(struct cunei_top_save *save, enum cunei_top_save_kind kind,
                         const struct cunei_top_targets *targets);

/* True: all is done, and `text` says what came of it. */
bool cunei_top_save_look(struct cunei_top_save *save, char *text, size_t size);

/* Wait for the command that runs. */
void cunei_top_save_finish(struct cunei_top_save *save);

#endif
