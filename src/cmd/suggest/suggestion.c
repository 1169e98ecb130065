// SPDX-License-Identifier: MIT
#include "cmd/suggest/suggestion.h"

#include <string.h>

#include "base/buffer.h"

enum {
    WORD_MAX = 256 /* characters; qualified names of methods and closures are long */
};

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours from `a` to `b`. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_size; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = smallest(last[j] + 1, now[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b_size];
}

/* How many edits a name of this length may be away. */
static size_t edits_allowed(size_t size)
{
    return 1 + size / 4;
}

/* In lower case, as far as it is ASCII. */
static void fold(const char *word, size_t size, char *folded)
{
    for (size_t i = 0; i < size; i++)
        folded[i] =
            (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] - 'A' + 'a' : word[i]);
}

/* Upper and lower case differ by one edit for all letters together. */
static size_t folded_distance(const char *a, size_t a_size, const char *b,
                              size_t b_size)
{
    char folded_a[WORD_MAX], folded_b[WORD_MAX];

    fold(a, a_size, folded_a);
    fold(b, b_size, folded_b);
    return 1 + distance(folded_a, a_size, folded_b, b_size);
}

void cunei_suggestion_offer(struct cunei_suggestion *suggestion, const char *name)
{
    size_t word_size = strlen(suggestion->word), name_size = strlen(name);
    if (word_size == 0 || word_size > WORD_MAX || name_size > WORD_MAX)
        return;

    size_t longer = word_size > name_size ? word_size : name_size;
    size_t shorter = word_size > name_size ? name_size : word_size;
    bool begins = word_size >= 2 && strncmp(suggestion->word, name, word_size) == 0;
    if (longer - shorter > edits_allowed(longer) && !begins)
        return; /* cheaper than to compute the distance */
    size_t steps = distance(suggestion->word, word_size, name, name_size);
    size_t folded = folded_distance(suggestion->word, word_size, name, name_size);
    steps = folded < steps ? folded : steps;
    if (steps > 1 && begins)
        steps = 1; /* a prefix counts as one edit */
    if (steps > edits_allowed(longer))
        return;
    if (!suggestion->name || steps < suggestion->distance) {
        suggestion->name = name;
        suggestion->distance = steps;
    }
}

bool cunei_suggestion_offer_function(struct cunei_suggestion *suggestion,
                                     const char *qualname)
{
    const char *before = suggestion->name;
    const char *last = strrchr(qualname, '.');

    if (*(last ? last + 1 : qualname) == '<' && !strchr(suggestion->word, '<'))
        return false;
    cunei_suggestion_offer(suggestion, qualname);
    if (last && !strchr(suggestion->word, '.'))
        cunei_suggestion_offer(suggestion, last + 1);
    return suggestion->name != before;
}

void cunei_suggestion_format(const struct cunei_suggestion *suggestion,
                             const char *prefix, const char *otherwise,
                             struct cunei_buffer *out)
{
    if (suggestion->name)
        cunei_buffer_format(out, "; did you mean '%s%s'?", prefix, suggestion->name);
    else if (otherwise)
        cunei_buffer_format(out, "; %s", otherwise);
}
