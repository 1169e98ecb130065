// SPDX-License-Identifier: MIT
#include "trigger/limits.h"

static enum cunei_snapshot_limit find_limit(const struct cunei_snapshot_limits *limits,
                                            const struct cunei_snapshot_tally *tally,
                                            uint64_t now_ns)
{
    if (limits->count && tally->count >= limits->count)
        return CUNEI_LIMIT_COUNT;
    if (tally->is_full || (limits->bytes && tally->bytes >= limits->bytes))
        return CUNEI_LIMIT_SPACE;
    bool has_tried = tally->count + tally->failed > 0;
    bool is_soon = has_tried && (now_ns < tally->last_ns ||
                                 now_ns - tally->last_ns < limits->interval_ns);
    return is_soon ? CUNEI_LIMIT_INTERVAL : CUNEI_LIMIT_NONE;
}

bool cunei_snapshot_may(const struct cunei_snapshot_limits *limits,
                        struct cunei_snapshot_tally *tally, uint64_t now_ns,
                        uint64_t firings, uint64_t *max_bytes)
{
    enum cunei_snapshot_limit limit = find_limit(limits, tally, now_ns);

    tally->fired += firings;
    if (limit != CUNEI_LIMIT_NONE)
        tally->left[limit] += firings;
    *max_bytes = limits->bytes ? limits->bytes - tally->bytes : 0;
    return limit == CUNEI_LIMIT_NONE;
}

void cunei_snapshot_count(struct cunei_snapshot_tally *tally, uint64_t now_ns,
                          uint64_t bytes)
{
    tally->count++;
    tally->bytes += bytes;
    tally->last_ns = now_ns;
}

void cunei_snapshot_count_failed(struct cunei_snapshot_tally *tally, uint64_t now_ns)
{
    tally->failed++;
    tally->last_ns = now_ns;
}

void cunei_snapshot_count_too_large(struct cunei_snapshot_tally *tally,
                                    uint64_t firings)
{
    tally->is_full = true;
    tally->left[CUNEI_LIMIT_SPACE] += firings;
}
