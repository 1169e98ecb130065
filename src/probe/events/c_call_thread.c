// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/c_call_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "probe/core/thread_data.h"

#define TABLE_FIRST 256u
#define TABLE_MAX   65536u /* if types are created without end, all is forgotten */
#define OPEN_FIRST  64u

/* The state before a thread's first call: no room for anything. */
static struct cunei_c_call_thread_open no_opens[1];
static struct cunei_c_call_thread_known no_table[1];
static struct cunei_c_call_thread nothing = {
    .top = no_opens, .last = no_opens, .opens = no_opens, .table = no_table};

_Thread_local struct cunei_c_call_thread *cunei_c_call_thread_own = &nothing;

static void forget_known(struct cunei_c_call_thread *thread)
{
    for (size_t i = 0; i <= thread->table_mask; i++) {
        free(thread->table[i].text);
        thread->table[i] = (struct cunei_c_call_thread_known){0};
    }
    thread->known_count = 0;
}

static void free_thread_data(void *part)
{
    struct cunei_c_call_thread *thread = part;

    cunei_c_call_thread_own = &nothing;
    forget_known(thread);
    free(thread->table);
    free(thread->opens);
    free(thread);
}

static struct cunei_c_call_thread *new_thread(void)
{
    struct cunei_c_call_thread_known *table = calloc(TABLE_FIRST, sizeof(*table));
    struct cunei_c_call_thread_open *opens = calloc(OPEN_FIRST, sizeof(*opens));
    struct cunei_c_call_thread *thread =
        table && opens ? cunei_thread_data_new(sizeof(*thread), free_thread_data)
                       : NULL;

    if (!thread) {
        free(table);
        free(opens);
        return NULL;
    }
    *thread = (struct cunei_c_call_thread){.table = table,
                                           .table_mask = TABLE_FIRST - 1,
                                           .opens = opens,
                                           .top = opens,
                                           .last = opens + OPEN_FIRST - 1};
    cunei_c_call_thread_own = thread;
    return thread;
}

struct cunei_c_call_thread *cunei_c_call_thread_get(uint64_t recording)
{
    struct cunei_c_call_thread *thread = cunei_c_call_thread_own;

    if (thread == &nothing)
        thread = new_thread();
    if (thread && thread->recording != recording) {
        forget_known(thread);
        thread->top = thread->opens;
        thread->recording = recording;
    }
    return thread;
}

static bool grow_table(struct cunei_c_call_thread *thread)
{
    struct cunei_c_call_thread_known *before = thread->table;
    size_t size = thread->table_mask + 1;
    struct cunei_c_call_thread_known *table =
        size < TABLE_MAX ? calloc(2 * size, sizeof(*table)) : NULL;

    if (!table)
        return false;
    thread->table = table;
    thread->table_mask = 2 * size - 1;
    for (size_t i = 0; i < size; i++) {
        if (before[i].method)
            *cunei_c_call_thread_find(thread, before[i].method, before[i].owner) =
                before[i];
    }
    free(before);
    return true;
}

void cunei_c_call_thread_add(struct cunei_c_call_thread *thread,
                             const struct cunei_c_call_thread_known *known)
{
    struct cunei_c_call_thread_known *place =
        cunei_c_call_thread_find(thread, known->method, known->owner);

    if (!place->method) {
        /* Half of the table stays free, so that searches are short. */
        if (2 * (thread->known_count + 1) > thread->table_mask && !grow_table(thread))
            forget_known(thread);
        thread->known_count++;
        place = cunei_c_call_thread_find(thread, known->method, known->owner);
    }
    free(place->text);
    *place = *known;
}

static bool grow_opens(struct cunei_c_call_thread *thread)
{
    size_t capacity = (size_t)(thread->last - thread->opens) + 1;
    struct cunei_c_call_thread_open *opens =
        cunei_vector_grow(thread->opens, sizeof(*opens), &capacity, capacity + 1);

    if (!opens)
        return false;
    thread->top = opens + (thread->top - thread->opens);
    thread->opens = opens;
    thread->last = opens + capacity - 1;
    return true;
}

bool cunei_c_call_thread_push(struct cunei_c_call_thread *thread,
                              const struct cunei_c_call_thread_open *open)
{
    if (thread->top == thread->last && !grow_opens(thread))
        return false;
    *++thread->top = *open;
    return true;
}

void cunei_c_call_thread_remove(struct cunei_c_call_thread *thread,
                                struct cunei_c_call_thread_open *open)
{
    memmove(open, open + 1, (size_t)(thread->top - open) * sizeof(*open));
    thread->top--;
}

struct cunei_c_call_thread_open *cunei_c_call_thread_find_open(
    const struct cunei_c_call_thread *thread, const void *frame)
{
    for (struct cunei_c_call_thread_open *open = thread->top; open > thread->opens;
         open--) {
        if (open->frame == frame)
            return open;
    }
    return NULL;
}
