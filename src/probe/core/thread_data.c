// SPDX-License-Identifier: MIT
#include "probe/core/thread_data.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define PARTS_MAX 8u

struct thread {
    size_t count;
    struct {
        void *memory;
        void (*end)(void *memory);
    } parts[PARTS_MAX];
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void end_thread(void *ending)
{
    const struct thread *thread = ending;

    for (size_t i = 0; i < thread->count; i++)
        thread->parts[i].end(thread->parts[i].memory);
    free(ending);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, end_thread) == 0;
}

static struct thread *find_own(void)
{
    (void)pthread_once(&once, make_key);
    struct thread *thread = has_key ? pthread_getspecific(key) : NULL;

    if (thread || !has_key)
        return thread;
    thread = calloc(1, sizeof(*thread));
    if (thread && pthread_setspecific(key, thread) != 0) {
        free(thread);
        return NULL;
    }
    return thread;
}

void *cunei_thread_data_new(size_t size, void (*end)(void *part))
{
    struct thread *thread = find_own();
    void *part = thread && thread->count < PARTS_MAX ? calloc(1, size) : NULL;

    if (part) {
        thread->parts[thread->count].memory = part;
        thread->parts[thread->count].end = end;
        thread->count++;
    }
    return part;
}
