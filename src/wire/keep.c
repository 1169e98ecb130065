// SPDX-License-Identifier: MIT
#include "wire/keep.h"

#include <errno.h>
#include <string.h>

#include "base/measure.h"
#include "wire/ring.h"

/* One word; each kind of them at most once. */
static int parse_word(struct cunei_keep *keep, const char *word)
{
    uint64_t value = 0;

    if (strcmp(word, "memory") == 0 && !keep->in_memory) {
        keep->in_memory = true;
        return 0;
    }
    if (!keep->ns && cunei_measure_duration(word, &value) && value > 0) {
        keep->ns = value;
        return 0;
    }
    if (!keep->size && cunei_measure_size(word, &value) &&
        value >= CUNEI_RING_SIZE_MIN && value <= CUNEI_RING_SIZE_MAX) {
        keep->size = value;
        return 0;
    }
    return -EINVAL;
}

int cunei_keep_parse(struct cunei_keep *keep, const char *text)
{
    struct cunei_keep found = {0};
    char copy[64];
    int rc = 0;

    if (strlen(text) >= sizeof(copy))
        return -EINVAL;
    memcpy(copy, text, strlen(text) + 1);
    for (char *word = copy, *next; rc == 0 && word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = '\0';
        rc = parse_word(&found, word);
    }
    if (rc < 0 || (!found.size && !found.ns))
        return -EINVAL;
    if (!found.size)
        found.size = CUNEI_KEEP_SIZE;
    *keep = found;
    return 0;
}
