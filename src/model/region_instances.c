// SPDX-License-Identifier: MIT
#include "model/region_instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of one region at a time. */
#define PARAMETERS_MAX 64u

/* Room for one more of a list that begins at 1; false: there is none. */
static bool reserve(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t grown_capacity = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(*items, grown_capacity * size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = grown_capacity;
    return true;
}

uint32_t cunei_region_instances_new(struct cunei_user_reader *reader, uint32_t region,
                                    uint32_t function, uint64_t time, bool is_whole)
{
    uint32_t index = reader->free_instance;

    if (index != 0)
        reader->free_instance = reader->instances[index].next;
    else {
        void *items = reader->instances;
        if (reader->instance_count >= CUNEI_INSTANCES_MAX)
            return 0;
        bool has_room = reserve(&items, reader->instance_count + 1,
                                &reader->instance_capacity, sizeof(*reader->instances));
        reader->instances = items;
        if (!has_room)
            return 0;
        index = ++reader->instance_count;
    }
    reader->instances[index] = (struct cunei_instance){
        .region = region, .function = function, .since = time, .is_whole = is_whole};
    return index;
}

/* How many of a region run; NULL: no memory. */
static uint32_t *open_of(struct cunei_user_reader *reader, uint32_t region)
{
    if (region >= reader->open_capacity) {
        uint32_t capacity = reader->open_capacity ? reader->open_capacity : 64;
        while (capacity <= region)
            capacity *= 2;
        uint32_t *open = realloc(reader->open, capacity * sizeof(*open));
        if (!open)
            return NULL;
        memset(open + reader->open_capacity, 0,
               (capacity - reader->open_capacity) * sizeof(*open));
        reader->open = open;
        reader->open_capacity = capacity;
    }
    return &reader->open[region];
}

int cunei_region_instances_run(struct cunei_user_reader *reader, uint32_t index,
                               uint64_t time)
{
    struct cunei_instance *instance = &reader->instances[index];
    uint32_t *open = open_of(reader, instance->region);

    if (!open)
        return -ENOMEM;
    instance->since = time;
    instance->is_nested = instance->region > 0 && *open > 0;
    *open += 1;
    return 0;
}

void cunei_region_instances_pause(struct cunei_user_reader *reader, uint32_t index,
                                  uint64_t time)
{
    struct cunei_instance *instance = &reader->instances[index];
    uint64_t ticks = time > instance->since ? time - instance->since : 0;

    reader->open[instance->region]--;
    instance->inside += ticks;
    instance->counted += instance->is_nested ? 0 : ticks;
}

static uint32_t *head_of(struct cunei_user_reader *reader, uint32_t function,
                         uint64_t task)
{
    uint64_t hash = (task * 31 + function) * UINT64_C(0x9e3779b97f4a7c15);
    return &reader->suspended[hash >> 54 & (CUNEI_USERREADER_HASH - 1)];
}

void cunei_region_instances_suspend(struct cunei_user_reader *reader, uint32_t index,
                                    uint64_t task)
{
    struct cunei_instance *instance = &reader->instances[index];
    uint32_t *head = head_of(reader, instance->function, task);

    instance->task = task;
    instance->next = *head;
    *head = index;
}

uint32_t cunei_region_instances_resume(struct cunei_user_reader *reader,
                                       uint32_t function, uint64_t task)
{
    uint32_t *link = head_of(reader, function, task);

    for (; *link != 0; link = &reader->instances[*link].next) {
        uint32_t index = *link;
        const struct cunei_instance *instance = &reader->instances[index];
        if (instance->function == function && instance->task == task) {
            *link = instance->next;
            return index;
        }
    }
    return 0;
}

int cunei_region_instances_give(struct cunei_user_reader *reader, uint32_t index,
                                uint32_t parameter)
{
    const struct cunei_parameter_facts *facts = reader->options.facts->parameters;
    struct cunei_instance *instance = &reader->instances[index];

    uint32_t count = 0;

    for (uint32_t i = instance->parameters; i != 0; i = reader->values[i].next) {
        if (facts[reader->values[i].parameter].group == facts[parameter].group) {
            reader->values[i].parameter = parameter;
            return 0;
        }
        count++;
    }
    if (count >= PARAMETERS_MAX)
        return 0;
    uint32_t place = reader->free_value;
    if (place != 0)
        reader->free_value = reader->values[place].next;
    else {
        void *items = reader->values;
        bool has_room = reserve(&items, reader->value_count + 1,
                                &reader->value_capacity, sizeof(*reader->values));
        reader->values = items;
        if (!has_room)
            return -ENOMEM;
        place = ++reader->value_count;
    }
    reader->values[place] =
        (struct cunei_instance_value){parameter, instance->parameters};
    instance->parameters = place;
    return 0;
}

/* A tick less or more is no harm, as in all times. */
static uint64_t ns_of(const struct cunei_user_reader *reader, uint64_t ticks)
{
    const struct cunei_wall_clock *wall = &reader->options.wall;
    return (uint64_t)((unsigned __int128)ticks * UINT64_C(1000000000) /
                      wall->frequency);
}

int cunei_region_instances_end(struct cunei_user_reader *reader, uint32_t index)
{
    struct cunei_user_facts *facts = reader->options.facts;
    struct cunei_instance *instance = &reader->instances[index];
    uint64_t inside_ns = ns_of(reader, instance->inside);
    int rc = 0;

    for (uint32_t i = instance->parameters; i != 0;) {
        struct cunei_instance_value *value = &reader->values[i];
        uint32_t next = value->next;
        facts->parameters[value->parameter].count++;
        facts->parameters[value->parameter].total_ns += inside_ns;
        value->next = reader->free_value;
        reader->free_value = i;
        i = next;
    }
    if (instance->region > 0) {
        struct cunei_region_facts *region = &facts->regions[instance->region - 1];
        region->total_ns += ns_of(reader, instance->counted);
        if (instance->is_whole)
            rc = cunei_user_facts_sample(region, inside_ns);
    }
    instance->parameters = 0;
    instance->next = reader->free_instance;
    reader->free_instance = index;
    return rc;
}
