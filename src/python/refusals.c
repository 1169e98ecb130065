// SPDX-License-Identifier: MIT
#include "python/refusals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/vector.h"
#include "python/refusal_reason.h"

#define REASONS_SHOWN 8

static void remove_at(struct cunei_refusals *refusals, size_t at)
{
    refusals->count--;
    memmove(refusals->items + at, refusals->items + at + 1,
            (refusals->count - at) * sizeof(*refusals->items));
}

/* Where a process with this reason is; the count: nowhere. */
static size_t find(const struct cunei_refusals *refusals, int64_t pid, int reason)
{
    size_t at = 0;

    while (at < refusals->count &&
           (refusals->items[at].pid != pid || refusals->items[at].reason != reason))
        at++;
    return at;
}

static bool has_process(const struct cunei_refusals *refusals, int64_t pid)
{
    bool has = false;

    for (size_t i = 0; !has && i < refusals->count; i++)
        has = refusals->items[i].pid == pid;
    return has;
}

void cunei_refusals_add(struct cunei_refusals *refusals, int64_t pid, int64_t reason)
{
    bool is_known = reason > 0 && reason <= CUNEI_REFUSAL_MAX;
    size_t unseen = find(refusals, pid, CUNEI_REFUSAL_UNSEEN);

    if (unseen < refusals->count)
        remove_at(refusals, unseen);
    else if (reason == CUNEI_REFUSAL_UNSEEN && has_process(refusals, pid))
        return;
    if (refusals->count < CUNEI_REFUSALS_MAX &&
        CUNEI_VECTOR_RESERVE_ONE(refusals->items, refusals->count))
        refusals->items[refusals->count++] =
            (struct cunei_refusal){pid, is_known ? (int)reason : CUNEI_REFUSAL_UNKNOWN};
}

void cunei_refusals_remove_recorded(struct cunei_refusals *refusals, int64_t pid)
{
    static const int reasons[] = {CUNEI_REFUSAL_MOVED, CUNEI_REFUSAL_UNSEEN};

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        size_t at = find(refusals, pid, reasons[i]);
        if (at < refusals->count)
            remove_at(refusals, at);
    }
}

size_t cunei_refusals_count(const struct cunei_refusals *refusals, int reason)
{
    size_t count = 0;

    for (size_t i = 0; i < refusals->count; i++)
        count += refusals->items[i].reason == reason;
    return count;
}

/* The reasons that there are, each once; returns how many. */
static size_t list_reasons(const struct cunei_refusals *refusals,
                           int reasons[REASONS_SHOWN])
{
    size_t count = 0;

    for (size_t i = 0; i < refusals->count && count < REASONS_SHOWN; i++) {
        size_t at = 0;
        while (at < count && reasons[at] != refusals->items[i].reason)
            at++;
        if (at == count)
            reasons[count++] = refusals->items[i].reason;
    }
    return count;
}

void cunei_refusals_format(const struct cunei_refusals *refusals,
                           struct cunei_buffer *text)
{
    int reasons[REASONS_SHOWN];
    size_t count = list_reasons(refusals, reasons);

    for (size_t i = 0; i < count; i++) {
        cunei_buffer_append_text(text, i > 0 ? ", " : "");
        cunei_refusal_reason_format(reasons[i], text);
        if (count > 1)
            cunei_buffer_format(text, " (%zu)",
                                cunei_refusals_count(refusals, reasons[i]));
    }
}

void cunei_refusals_fini(struct cunei_refusals *refusals)
{
    free(refusals->items);
    *refusals = (struct cunei_refusals){0};
}
