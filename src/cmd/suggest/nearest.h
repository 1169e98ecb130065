// SPDX-License-Identifier: MIT
/*
 * What somebody may have meant: the offered name that is fewest keystrokes away.
 *
 *     struct cunei_suggestion nearest = {.word = "reprot"};
 *     cunei_suggestion_offer(&nearest, "report");
 *     if (nearest.name)
 *         … "did you mean 'report'?"
 */
#ifndef CUNEI_CMD_SUGGEST_NEAREST_H
#define CUNEI_CMD_SUGGEST_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_suggestion {
    const char *word; /* as typed */
    const char *name; /* borrowed: the best so far; NULL: none is near */
    size_t distance;
};

void cunei_suggestion_offer(struct cunei_suggestion *nearest, const char *name);

/*
 * The same for a function, as people would ask for it: by the last part of its name, or
 * all of it.  What has no name of its own, as <module>, is not guessed.  Whether it is
 * the best now.
 */
bool cunei_suggestion_offer_function(struct cunei_suggestion *nearest,
                                     const char *qualname);

#endif
