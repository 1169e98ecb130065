// SPDX-License-Identifier: MIT
/*
 * What a mistyped word was meant to be: the offered name that is fewest edits away.
 *
 *     struct cunei_suggestion suggestion = {.word = "reprot"};
 *     cunei_suggestion_offer(&suggestion, "report");
 *     cunei_suggestion_format(&suggestion, "cunei ", "see 'cunei --help'", &text);
 *         "; did you mean 'cunei report'?"
 *
 * The other modules of this folder make sentences of their suggestions.  None of them
 * prints.
 */
#ifndef CUNEI_CMD_SUGGEST_SUGGESTION_H
#define CUNEI_CMD_SUGGEST_SUGGESTION_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_buffer;

struct cunei_suggestion {
    const char *word; /* as typed */
    const char *name; /* borrowed: the nearest so far; NULL: none is near */
    size_t distance;
};

void cunei_suggestion_offer(struct cunei_suggestion *suggestion, const char *name);

/*
 * Offer a function by its qualified name and by the last part of it.  Functions without
 * a name of their own, such as <module>, are not offered.  Returns whether this one is
 * the nearest now.
 */
bool cunei_suggestion_offer_function(struct cunei_suggestion *suggestion,
                                     const char *qualname);

/*
 * Append "; did you mean 'NAME'?", with `prefix` before the name, or where no name is
 * near, "; " and `otherwise` (NULL: nothing).
 */
void cunei_suggestion_format(const struct cunei_suggestion *suggestion,
                             const char *prefix, const char *otherwise,
                             struct cunei_buffer *out);

#endif
