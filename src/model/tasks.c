// SPDX-License-Identifier: MIT
#include "model/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define FIRST_CAPACITY 64u

void cunei_tasks_fini(struct cunei_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        free(tasks->items[i].name);
    free(tasks->items);
    free(tasks->table);
    *tasks = (struct cunei_tasks){0};
}

static uint32_t find_place(const struct cunei_tasks *tasks, uint64_t number)
{
    uint32_t mask = tasks->table_size - 1;
    uint32_t place = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    while (tasks->table[place] != 0 &&
           tasks->items[tasks->table[place]].number != number)
        place = (place + 1) & mask;
    return place;
}

static int grow(struct cunei_tasks *tasks)
{
    uint32_t capacity = tasks->capacity ? 2 * tasks->capacity : FIRST_CAPACITY;

    if (tasks->capacity >= CUNEI_TASKS_MAX)
        return -ENOSPC;
    struct cunei_task_facts *items = realloc(tasks->items, capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    tasks->items = items;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -ENOMEM;
    free(tasks->table);
    tasks->table = table;
    tasks->table_size = 2 * capacity;
    tasks->capacity = capacity;
    if (tasks->count == 0)
        items[tasks->count++] = (struct cunei_task_facts){0};
    for (uint32_t i = 1; i < tasks->count; i++)
        table[find_place(tasks, items[i].number)] = i;
    return 0;
}

uint32_t cunei_tasks_find(struct cunei_tasks *tasks, uint64_t number)
{
    if (tasks->capacity > 0) {
        uint32_t index = tasks->table[find_place(tasks, number)];
        if (index != 0)
            return index;
    }
    if (tasks->count == tasks->capacity && grow(tasks) < 0)
        return 0;
    uint32_t index = tasks->count++;
    tasks->items[index] = (struct cunei_task_facts){.number = number};
    tasks->table[find_place(tasks, number)] = index;
    return index;
}

void cunei_tasks_name(struct cunei_tasks *tasks, uint32_t index, const char *name,
                      size_t size, uint64_t time)
{
    struct cunei_task_facts *task = &tasks->items[index];

    if (index == 0 || (task->name && time < task->named_at))
        return;
    size = cunei_text_cut(name, strnlen(name, size), CUNEI_TASK_NAME_MAX);
    char *copy = strndup(name, size);
    if (!copy)
        return; /* it keeps the name it had */
    free(task->name);
    task->name = copy;
    task->named_at = time;
}

/* What is later counts; at the same time, what an end says. */
void cunei_tasks_see(struct cunei_task_facts *task, uint64_t time, bool has_ended,
                     bool has_raised)
{
    if (time > task->last)
        task->has_ended = task->has_raised = false;
    if (time >= task->last) {
        task->last = time;
        task->has_ended |= has_ended;
        task->has_raised |= has_raised;
    }
}

void cunei_tasks_begin(struct cunei_task_facts *task, uint32_t slot, bool goes_on,
                       uint64_t time)
{
    if (!goes_on && (task->steps == 0 || time < task->first)) {
        task->slot = slot;
        task->first = time;
    }
    task->steps += !goes_on;
    cunei_tasks_see(task, time, false, false);
}

void cunei_tasks_add(struct cunei_tasks *tasks, const struct cunei_tasks *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct cunei_task_facts *from = &other->items[i];
        uint32_t index = i == 0 ? 0 : cunei_tasks_find(tasks, from->number);
        if (tasks->count == 0)
            continue;
        struct cunei_task_facts *to = &tasks->items[index];

        if (from->name)
            cunei_tasks_name(tasks, index, from->name, strlen(from->name),
                             from->named_at);
        if (from->steps > 0 && (to->steps == 0 || from->first < to->first)) {
            to->slot = from->slot;
            to->first = from->first;
        }
        cunei_tasks_see(to, from->last, from->has_ended, from->has_raised);
        to->steps += from->steps;
        to->run += from->run;
        to->busy += from->busy;
    }
}

uint64_t cunei_tasks_wait(const struct cunei_task_facts *task)
{
    uint64_t life = task->last > task->first ? task->last - task->first : 0;
    return life > task->busy ? life - task->busy : 0;
}
