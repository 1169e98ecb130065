// SPDX-License-Identifier: MIT
#include "model/user/region_instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/vector.h"

/* Of one region at a time. */
#define PARAMETERS_MAX 64u

void cunei_region_instances_fini(struct cunei_region_instances *regions)
{
    free(regions->instances);
    free(regions->values);
    free(regions->open);
    *regions = (struct cunei_region_instances){0};
}

uint32_t cunei_region_instances_new(struct cunei_region_instances *regions,
                                    uint32_t region, uint32_t function, uint64_t time,
                                    bool is_whole)
{
    uint32_t index = regions->free_instance;

    if (index != 0)
        regions->free_instance = regions->instances[index].next;
    else {
        if (regions->instance_count >= CUNEI_INSTANCES_MAX ||
            !CUNEI_VECTOR_RESERVE(regions->instances, regions->instance_capacity,
                                  regions->instance_count + 2))
            return 0;
        index = ++regions->instance_count;
    }
    regions->instances[index] = (struct cunei_instance){
        .region = region, .function = function, .since = time, .is_whole = is_whole};
    return index;
}

/* How many of a region run; NULL: no memory. */
static uint32_t *open_of(struct cunei_region_instances *regions, uint32_t region)
{
    uint32_t before = regions->open_capacity;

    if (!CUNEI_VECTOR_RESERVE(regions->open, regions->open_capacity, region + 1))
        return NULL;
    memset(regions->open + before, 0,
           (regions->open_capacity - before) * sizeof(*regions->open));
    return &regions->open[region];
}

int cunei_region_instances_run(struct cunei_region_instances *regions, uint32_t index,
                               uint64_t time)
{
    struct cunei_instance *instance = &regions->instances[index];
    uint32_t *open = open_of(regions, instance->region);

    if (!open)
        return -ENOMEM;
    instance->since = time;
    instance->is_nested = instance->region > 0 && *open > 0;
    *open += 1;
    return 0;
}

void cunei_region_instances_pause(struct cunei_region_instances *regions,
                                  uint32_t index, uint64_t time)
{
    struct cunei_instance *instance = &regions->instances[index];
    uint64_t ticks = time > instance->since ? time - instance->since : 0;

    regions->open[instance->region]--;
    instance->inside += ticks;
    instance->counted += instance->is_nested ? 0 : ticks;
}

static uint32_t *head_of(struct cunei_region_instances *regions, uint32_t function,
                         uint64_t task)
{
    uint64_t hash = (task * 31 + function) * UINT64_C(0x9e3779b97f4a7c15);
    return &regions->suspended[hash >> 54 & (CUNEI_INSTANCES_HASH - 1)];
}

void cunei_region_instances_suspend(struct cunei_region_instances *regions,
                                    uint32_t index, uint64_t task)
{
    struct cunei_instance *instance = &regions->instances[index];
    uint32_t *head = head_of(regions, instance->function, task);

    instance->task = task;
    instance->next = *head;
    *head = index;
}

uint32_t cunei_region_instances_resume(struct cunei_region_instances *regions,
                                       uint32_t function, uint64_t task)
{
    uint32_t *link = head_of(regions, function, task);

    for (; *link != 0; link = &regions->instances[*link].next) {
        uint32_t index = *link;
        const struct cunei_instance *instance = &regions->instances[index];
        if (instance->function == function && instance->task == task) {
            *link = instance->next;
            return index;
        }
    }
    return 0;
}

int cunei_region_instances_give(struct cunei_region_instances *regions, uint32_t index,
                                uint32_t parameter)
{
    const struct cunei_parameter_facts *facts = regions->facts->parameters;
    struct cunei_instance *instance = &regions->instances[index];

    uint32_t count = 0;

    for (uint32_t i = instance->parameters; i != 0; i = regions->values[i].next) {
        if (facts[regions->values[i].parameter].group == facts[parameter].group) {
            regions->values[i].parameter = parameter;
            return 0;
        }
        count++;
    }
    if (count >= PARAMETERS_MAX)
        return 0;
    uint32_t place = regions->free_value;
    if (place != 0)
        regions->free_value = regions->values[place].next;
    else {
        if (!CUNEI_VECTOR_RESERVE(regions->values, regions->value_capacity,
                                  regions->value_count + 2))
            return -ENOMEM;
        place = ++regions->value_count;
    }
    regions->values[place] =
        (struct cunei_instance_value){parameter, instance->parameters};
    instance->parameters = place;
    return 0;
}

/* Rounding loses less than a nanosecond. */
static uint64_t ns_of(const struct cunei_region_instances *regions, uint64_t ticks)
{
    return cunei_ticks_ns(ticks, regions->frequency);
}

int cunei_region_instances_end(struct cunei_region_instances *regions, uint32_t index)
{
    struct cunei_user_facts *facts = regions->facts;
    struct cunei_instance *instance = &regions->instances[index];
    uint64_t inside_ns = ns_of(regions, instance->inside);
    int rc = 0;

    for (uint32_t i = instance->parameters; i != 0;) {
        struct cunei_instance_value *value = &regions->values[i];
        uint32_t next = value->next;
        facts->parameters[value->parameter].count++;
        facts->parameters[value->parameter].total_ns += inside_ns;
        value->next = regions->free_value;
        regions->free_value = i;
        i = next;
    }
    if (instance->region > 0) {
        struct cunei_region_facts *region = &facts->regions[instance->region - 1];
        region->total_ns += ns_of(regions, instance->counted);
        if (instance->is_whole)
            rc = cunei_user_facts_sample(region, inside_ns);
    }
    instance->parameters = 0;
    instance->next = regions->free_instance;
    regions->free_instance = index;
    return rc;
}

int cunei_region_instances_end_suspended(struct cunei_region_instances *regions)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < CUNEI_INSTANCES_HASH; i++) {
        while (rc == 0 && regions->suspended[i] != 0) {
            uint32_t index = regions->suspended[i];
            regions->suspended[i] = regions->instances[index].next;
            rc = cunei_region_instances_end(regions, index);
        }
    }
    return rc;
}
