// SPDX-License-Identifier: MIT
/* Streams of tokens: what came when, from whichever thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/vector.h"
#include "model/user/user_facts.h"

static int add_tick(struct cunei_user_facts *facts, struct cunei_tokens_facts *tokens,
                    struct cunei_tick tick)
{
    tokens->count += tick.count;
    if (facts->tick_total >= CUNEI_TOKENS_MAX || tick.count == 0)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(tokens->ticks, tokens->tick_capacity,
                              tokens->tick_count + 1))
        return -ENOMEM;
    tokens->ticks[tokens->tick_count++] = tick;
    facts->tick_total++;
    return 0;
}

int cunei_user_facts_token(struct cunei_user_facts *facts, uint32_t process,
                           const char *name, const struct cunei_token *event,
                           uint64_t time_ns)
{
    const uint64_t key[] = {process, event->serial};
    uint32_t before = facts->token_keys.count;
    int64_t index = CUNEI_USER_FACTS_ITEM(&facts->token_keys, facts->tokens,
                                          (const char *)key, sizeof(key));

    if (index < 0)
        return (int)index;
    struct cunei_tokens_facts *tokens = &facts->tokens[index];
    if (facts->token_keys.count > before) {
        tokens->process = process;
        tokens->number = event->serial;
        int64_t known = cunei_text_set_add(&facts->token_names, name, strlen(name));
        if (known == -ENOMEM)
            return -ENOMEM;
        tokens->name = known < 0 ? 0 : (uint32_t)known;
    }
    switch (cunei_record_phase(event->record)) {
    case CUNEI_PHASE_ENTER:
        tokens->has_begun = true;
        tokens->begin_ns = time_ns;
        return 0;
    case CUNEI_PHASE_LEAVE:
        tokens->has_ended = true;
        tokens->end_ns = time_ns;
        return 0;
    default:
        return add_tick(facts, tokens, (struct cunei_tick){time_ns, event->count, 0});
    }
}

static int compare_ticks(const void *a, const void *b)
{
    const struct cunei_tick *one = a, *two = b;
    return one->time_ns < two->time_ns ? -1 : one->time_ns > two->time_ns;
}

/* Tokens that came at once share the time since the last ones. */
static int measure(struct cunei_tokens_facts *tokens)
{
    const struct cunei_tick *ticks = tokens->ticks;
    int rc = 0;

    for (uint32_t i = 1; rc == 0 && i < tokens->tick_count; i++) {
        uint64_t ns = (ticks[i].time_ns - ticks[i - 1].time_ns) / ticks[i].count;
        if (i == 1 || ns < tokens->min_ns)
            tokens->min_ns = ns;
        rc = cunei_histogram_add(&tokens->histogram, ns);
        if (rc < 0)
            break;
        uint32_t bucket = cunei_histogram_bucket(ns) - tokens->histogram.first;
        tokens->histogram.counts[bucket] += ticks[i].count - 1;
        tokens->max_ns = ns > tokens->max_ns ? ns : tokens->max_ns;
    }
    return rc;
}

static int finish_tokens(struct cunei_tokens_facts *tokens)
{
    if (tokens->tick_count == 0)
        return 0;
    qsort(tokens->ticks, tokens->tick_count, sizeof(*tokens->ticks), compare_ticks);
    uint64_t first_ns = tokens->ticks[0].time_ns;
    uint64_t last_ns = tokens->ticks[tokens->tick_count - 1].time_ns;
    uint64_t from_ns = first_ns;
    uint64_t count = tokens->count - tokens->ticks[0].count;
    if (tokens->has_begun && tokens->begin_ns <= first_ns) {
        tokens->has_first = true;
        tokens->first_ns = first_ns - tokens->begin_ns;
        from_ns = tokens->begin_ns;
        count = tokens->count;
    }
    if (last_ns > from_ns)
        tokens->per_s =
            (double)count * (double)CUNEI_NS_PER_S / (double)(last_ns - from_ns);
    int rc = measure(tokens);
    free(tokens->ticks);
    tokens->ticks = NULL;
    return rc;
}

static int compare_marks(const void *a, const void *b)
{
    const struct cunei_mark_facts *one = a, *two = b;

    if (one->time_ns != two->time_ns)
        return one->time_ns < two->time_ns ? -1 : 1;
    return one->tid < two->tid ? -1 : one->tid > two->tid;
}

/* Those of one stream are, and sorting takes memory. */
static bool are_in_order(const struct cunei_user_facts *facts)
{
    for (size_t i = 1; i < facts->mark_count; i++) {
        if (compare_marks(&facts->marks[i - 1], &facts->marks[i]) > 0)
            return false;
    }
    return true;
}

int cunei_user_facts_finish(struct cunei_user_facts *facts)
{
    int rc = 0;

    if (!are_in_order(facts))
        qsort(facts->marks, facts->mark_count, sizeof(*facts->marks), compare_marks);
    for (uint32_t i = 0; rc == 0 && i < facts->token_keys.count; i++)
        rc = finish_tokens(&facts->tokens[i]);
    return rc;
}
