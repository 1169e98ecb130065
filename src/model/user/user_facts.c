// SPDX-License-Identifier: MIT
#include "model/user/user_facts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/vector.h"
#include "text/typed_value.h"

/* What finds no place. */
#define OTHERS "…"

void cunei_user_facts_init(struct cunei_user_facts *facts)
{
    *facts = (struct cunei_user_facts){
        .region_names = {.max = CUNEI_REGIONS_MAX},
        .parameter_names = {.max = CUNEI_PARAMETERS_MAX},
        .parameter_keys = {.max = CUNEI_PARAMETERS_MAX},
        .group_keys = {.max = CUNEI_PARAMETERS_MAX},
        .counter_names = {.max = CUNEI_COUNTERS_MAX},
        .mark_texts = {.max = 2 * CUNEI_MARKS_MAX, .max_bytes = CUNEI_MARK_BYTES_MAX},
        .metadata_keys = {.max = CUNEI_METADATA_MAX},
        .token_names = {.max = CUNEI_REGIONS_MAX},
        .token_keys = {.max = CUNEI_REGIONS_MAX},
    };
}

void cunei_user_facts_fini(struct cunei_user_facts *facts)
{
    for (uint32_t i = 0; facts->regions && i < facts->region_names.count; i++)
        cunei_histogram_fini(&facts->regions[i].histogram);
    for (uint32_t i = 0; facts->parameters && i < facts->parameter_keys.count; i++) {
        free(facts->parameters[i].text);
        free(facts->parameters[i].json);
    }
    for (uint32_t i = 0; facts->counters && i < facts->counter_names.count; i++)
        cunei_distribution_fini(&facts->counters[i].spread);
    for (uint32_t i = 0; facts->metadata && i < facts->metadata_keys.count; i++) {
        free(facts->metadata[i].text);
        free(facts->metadata[i].json);
    }
    for (uint32_t i = 0; facts->tokens && i < facts->token_keys.count; i++) {
        cunei_histogram_fini(&facts->tokens[i].histogram);
        free(facts->tokens[i].ticks);
    }
    free(facts->regions);
    free(facts->parameters);
    free(facts->group_sizes);
    free(facts->counters);
    free(facts->marks);
    free(facts->metadata);
    free(facts->tokens);
    cunei_text_set_fini(&facts->region_names);
    cunei_text_set_fini(&facts->parameter_names);
    cunei_text_set_fini(&facts->parameter_keys);
    cunei_text_set_fini(&facts->group_keys);
    cunei_text_set_fini(&facts->counter_names);
    cunei_text_set_fini(&facts->mark_texts);
    cunei_text_set_fini(&facts->metadata_keys);
    cunei_text_set_fini(&facts->token_names);
    cunei_text_set_fini(&facts->token_keys);
    cunei_user_facts_init(facts);
}

int64_t cunei_user_facts_item(struct cunei_text_set *set, void **items,
                              size_t item_size, const char *text, size_t size)
{
    uint32_t before = set->count;
    bool is_full = before + 1 >= set->max;

    /* Room doubles when it is full, which it is at powers of two. */
    if ((before & (before - 1)) == 0) {
        size_t room = before;
        void *grown = cunei_vector_grow(*items, item_size, &room, (size_t)before + 1);
        if (!grown)
            return -ENOMEM;
        *items = grown;
    }
    uint32_t max = set->max;
    if (is_full)
        set->max = before; /* none but those that are there … */
    int64_t index = cunei_text_set_add(set, text, size);
    set->max = max;
    if (index == -ENOSPC) /* … and the last */
        index = cunei_text_set_add(set, OTHERS, strlen(OTHERS));
    if (index >= 0 && set->count > before)
        memset((char *)*items + (size_t)index * item_size, 0, item_size);
    return index;
}

int64_t cunei_user_facts_region(struct cunei_user_facts *facts, const char *name)
{
    return CUNEI_USER_FACTS_ITEM(&facts->region_names, facts->regions, name,
                                 strlen(name));
}

int64_t cunei_user_facts_counter(struct cunei_user_facts *facts, const char *name)
{
    return CUNEI_USER_FACTS_ITEM(&facts->counter_names, facts->counters, name,
                                 strlen(name));
}

int cunei_user_facts_sample(struct cunei_region_facts *region, uint64_t ns)
{
    region->whole_ns += ns;
    if (region->histogram.span == 0 || ns < region->min_ns)
        region->min_ns = ns;
    if (ns > region->max_ns)
        region->max_ns = ns;
    return cunei_histogram_add(&region->histogram, ns);
}

/* The value as text of our own; NULL: no memory. */
static char *copy_value(const struct cunei_user_value *value, bool json)
{
    struct cunei_buffer text = {0};

    cunei_typed_value_format_event(value, json, &text);
    cunei_buffer_append(&text, "", 1);
    if (!text.failed)
        return text.data;
    cunei_buffer_fini(&text);
    return NULL;
}

static int fill_parameter(struct cunei_parameter_facts *parameter,
                          const struct cunei_parameter_facts *owner,
                          const struct cunei_user_value *value)
{
    *parameter = *owner;
    parameter->text = value ? copy_value(value, false) : NULL;
    parameter->json = value ? copy_value(value, true) : NULL;
    return value && (!parameter->text || !parameter->json) ? -ENOMEM : 0;
}

/* All values of a name and owner; and which of them. */
static void put_key(struct cunei_buffer *key, const struct cunei_parameter_facts *owner)
{
    cunei_buffer_append(key, &owner->name, sizeof(owner->name));
    if (owner->is_region)
        cunei_buffer_append(key, &owner->region, sizeof(owner->region));
    else
        cunei_buffer_format(key, "%s:%s", owner->module, owner->qualname);
}

static int64_t find_value(struct cunei_user_facts *facts,
                          const struct cunei_parameter_facts *owner,
                          const struct cunei_user_value *value,
                          struct cunei_buffer *key)
{
    uint32_t before = facts->parameter_keys.count;
    uint32_t *size = &facts->group_sizes[owner->group];
    size_t group = key->size;

    /* The key ends here for values beyond the limit: they share one entry. */
    if (*size <= CUNEI_VALUES_MAX) {
        cunei_buffer_append(key, &value->kind, sizeof(value->kind));
        cunei_typed_value_format_event(value, true, key);
    }
    if (key->failed)
        return -ENOMEM;
    int64_t index = CUNEI_USER_FACTS_ITEM(&facts->parameter_keys, facts->parameters,
                                          key->data, key->size);
    if (index < 0 || facts->parameter_keys.count == before)
        return index;
    *size += key->size > group;
    if (*size > CUNEI_VALUES_MAX)
        value = NULL;
    int rc = fill_parameter(&facts->parameters[index], owner, value);
    return rc < 0 ? rc : index;
}

int64_t cunei_user_facts_parameter(struct cunei_user_facts *facts,
                                   const struct cunei_parameter_facts *owner,
                                   const struct cunei_user_value *value)
{
    struct cunei_user_event_text text = cunei_user_event_name(value);
    struct cunei_parameter_facts wanted = *owner;
    struct cunei_buffer key = {0};

    int64_t index = cunei_text_set_add(&facts->parameter_names, text.data, text.size);
    if (index == -ENOSPC)
        index = 0;
    if (index < 0)
        goto out;
    wanted.name = (uint32_t)index;
    put_key(&key, &wanted);
    if (key.failed) {
        index = -ENOMEM;
        goto out;
    }
    index = CUNEI_USER_FACTS_ITEM(&facts->group_keys, facts->group_sizes, key.data,
                                  key.size);
    if (index < 0)
        goto out;
    wanted.group = (uint32_t)index;
    index = find_value(facts, &wanted, value, &key);
out:
    cunei_buffer_fini(&key);
    return index;
}

/* Neumaier's: what rounding takes is kept apart. */
static void add_sum(struct cunei_counter_facts *counter, double number)
{
    double sum = counter->sum + number;

    if (isfinite(sum))
        counter->carry += fabs(counter->sum) >= fabs(number)
                              ? counter->sum - sum + number
                              : number - sum + counter->sum;
    counter->sum = sum;
}

int cunei_user_facts_count(struct cunei_counter_facts *counter,
                           const struct cunei_counter *event, uint64_t time_ns)
{
    bool is_double = event->kind & CUNEI_COUNTER_VALUE_DOUBLE;
    double number = cunei_user_event_number(event->value, is_double);
    bool is_first = counter->count == counter->nan;
    int64_t whole = (int64_t)event->value;

    counter->count++;
    counter->is_double |= is_double;
    cunei_time_series_add(&counter->course, time_ns,
                          cunei_user_event_number(
                              event->total, event->kind & CUNEI_COUNTER_TOTAL_DOUBLE));
    if (isnan(number)) {
        counter->nan++;
        return 0;
    }
    if (is_double)
        add_sum(counter, number);
    else
        counter->whole += whole;
    counter->min = is_first || number < counter->min ? number : counter->min;
    counter->max = is_first || number > counter->max ? number : counter->max;
    counter->whole_min =
        is_first || whole < counter->whole_min ? whole : counter->whole_min;
    counter->whole_max =
        is_first || whole > counter->whole_max ? whole : counter->whole_max;
    return cunei_distribution_add(&counter->spread, number);
}

double cunei_user_facts_sum(const struct cunei_counter_facts *counter)
{
    double sum = counter->sum + (double)counter->whole;
    return isfinite(sum) ? sum + counter->carry : sum;
}

double cunei_user_facts_mean(const struct cunei_counter_facts *counter)
{
    uint64_t count = counter->count - counter->nan;
    return count > 0 ? cunei_user_facts_sum(counter) / (double)count : 0;
}

/* Its index; those that find no place share one. */
static int add_text(struct cunei_user_facts *facts, struct cunei_user_event_text text,
                    uint32_t *index)
{
    struct cunei_text_set *set = &facts->mark_texts;

    /* Before all others: there is always a place for it. */
    int64_t added = cunei_text_set_add(set, OTHERS, strlen(OTHERS));
    if (added >= 0)
        added = cunei_text_set_add(set, text.data, text.size);
    if (added == -ENOSPC)
        added = 0;
    if (added >= 0)
        *index = (uint32_t)added;
    return added < 0 ? (int)added : 0;
}

int cunei_user_facts_mark(struct cunei_user_facts *facts,
                          const struct cunei_user_value *value,
                          const struct cunei_mark_facts *where)
{
    if (facts->mark_count >= CUNEI_MARKS_MAX)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(facts->marks, facts->mark_capacity,
                              facts->mark_count + 1))
        return -ENOMEM;
    struct cunei_mark_facts *mark = &facts->marks[facts->mark_count++];
    *mark = *where;
    mark->kind = value->kind;
    mark->value = value->value;
    int rc = add_text(facts, cunei_user_event_name(value), &mark->name);
    if (rc == 0 &&
        (value->kind == CUNEI_VALUE_TEXT || value->kind == CUNEI_VALUE_ERROR))
        rc = add_text(facts, cunei_user_event_text(value), &mark->text);
    return rc;
}

int cunei_user_facts_metadata(struct cunei_user_facts *facts,
                              const struct cunei_user_value *value, uint64_t time_ns)
{
    struct cunei_user_event_text name = cunei_user_event_name(value);
    int64_t index = CUNEI_USER_FACTS_ITEM(&facts->metadata_keys, facts->metadata,
                                          name.data, name.size);

    if (index < 0)
        return (int)index;
    struct cunei_metadata_facts *item = &facts->metadata[index];
    /* The last one counts. */
    if (item->text && item->time_ns > time_ns)
        return 0;
    free(item->text);
    free(item->json);
    item->text = copy_value(value, false);
    item->json = copy_value(value, true);
    item->time_ns = time_ns;
    return item->text && item->json ? 0 : -ENOMEM;
}

/* With recursion whole ones are more than the total. */
uint64_t cunei_user_facts_region_mean(const struct cunei_region_facts *region)
{
    uint64_t count = cunei_histogram_count(&region->histogram);

    if (count > 0)
        return region->whole_ns / count;
    return region->count > 0 ? region->total_ns / region->count : 0;
}

/* A bucket of the histogram may reach beyond these two, which are known exactly. */
static uint64_t within(uint64_t ns, uint64_t min_ns, uint64_t max_ns)
{
    return ns < min_ns ? min_ns : ns > max_ns ? max_ns : ns;
}

uint64_t cunei_user_facts_region_quantile(const struct cunei_region_facts *region,
                                          double fraction)
{
    double count = (double)cunei_histogram_count(&region->histogram);
    uint64_t ns = cunei_histogram_quantile(&region->histogram, fraction);

    return count * fraction > count - 1 ? region->max_ns
                                        : within(ns, region->min_ns, region->max_ns);
}

uint64_t cunei_user_facts_tokens_quantile(const struct cunei_tokens_facts *tokens,
                                          double fraction)
{
    uint64_t ns = cunei_histogram_quantile(&tokens->histogram, fraction);

    return within(ns, tokens->min_ns, tokens->max_ns);
}
