// SPDX-License-Identifier: MIT
#include "model/facts/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

void cunei_tasks_fini(struct cunei_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        free(tasks->items[i].name);
    free(tasks->items);
    cunei_map_fini(&tasks->map);
    *tasks = (struct cunei_tasks){0};
}

uint32_t cunei_tasks_find(struct cunei_tasks *tasks, uint64_t number)
{
    uint64_t hash = cunei_hash_number(number);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&tasks->map, &search, &i);) {
        if (tasks->items[i].number == number)
            return i;
    }
    if (tasks->count == CUNEI_TASKS_MAX ||
        !CUNEI_VECTOR_RESERVE(tasks->items, tasks->capacity, tasks->count + 2))
        return 0;
    if (tasks->count == 0)
        tasks->items[tasks->count++] = (struct cunei_task_facts){0};
    if (cunei_map_add(&tasks->map, hash, tasks->count) < 0)
        return 0;
    tasks->items[tasks->count] = (struct cunei_task_facts){.number = number};
    return tasks->count++;
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

/* The later one counts; at the same time, the one of an end. */
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

void cunei_tasks_begin(struct cunei_task_facts *task, uint32_t slot,
                       bool continues_step, uint64_t time)
{
    if (!continues_step && (task->steps == 0 || time < task->first)) {
        task->slot = slot;
        task->first = time;
    }
    task->steps += !continues_step;
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

static int compare_times(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

    return one > other ? -1 : one < other;
}

/* When those of the tasks that have ended did so, the latest first; their number. */
static uint32_t sort_ends(const struct cunei_tasks *tasks, uint64_t *ends)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < tasks->count; i++) {
        if (tasks->items[i].has_ended)
            ends[count++] = tasks->items[i].last;
    }
    qsort(ends, count, sizeof(*ends), compare_times);
    return count;
}

/* Keep what lives, and what ended after that time; the map is made anew. */
static void keep_since(struct cunei_tasks *tasks, uint64_t since)
{
    struct cunei_map map = {0};
    uint32_t count = 1;
    bool has_failed = false;

    for (uint32_t i = 1; !has_failed && i < tasks->count; i++) {
        const struct cunei_task_facts *task = &tasks->items[i];
        if (!task->has_ended || task->last > since)
            has_failed =
                cunei_map_add(&map, cunei_hash_number(task->number), count++) < 0;
    }
    if (has_failed) {
        cunei_map_fini(&map);
        return; /* all stay */
    }
    count = 1;
    for (uint32_t i = 1; i < tasks->count; i++) {
        if (!tasks->items[i].has_ended || tasks->items[i].last > since)
            tasks->items[count++] = tasks->items[i];
        else
            free(tasks->items[i].name);
    }
    tasks->forgotten += tasks->count - count;
    tasks->count = count;
    cunei_map_fini(&tasks->map);
    tasks->map = map;
}

void cunei_tasks_forget(struct cunei_tasks *tasks, uint32_t keep)
{
    if (tasks->count / 2 <= keep)
        return;
    uint64_t *ends = calloc(tasks->count, sizeof(*ends));
    if (!ends)
        return;
    if (sort_ends(tasks, ends) / 2 > keep)
        keep_since(tasks, ends[keep]);
    free(ends);
}
