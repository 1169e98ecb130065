// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/region_list.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "probe/core/lock.h"
#include "probe/core/thread_data.h"
#include "probe/user/user_name.h"

#define OPEN_MAX     65536u
#define BUCKET_COUNT 1024u

static _Atomic unsigned recording;

/* The calling thread's, or NULL: a part of it (probe/core/thread_data.h). */
static __attribute__((
    tls_model("initial-exec"))) _Thread_local struct cunei_region_list *own;

/* Regions of frames that are suspended, by the frame: nothing is allocated while the
 * latch is closed, as a map would. */
static struct cunei_region_list_node *buckets[BUCKET_COUNT];
static _Atomic size_t suspended_count;
static cunei_latch latch = CUNEI_LATCH_INIT;

static void empty(struct cunei_region_list *list)
{
    while (list->count > 0)
        cunei_user_name_free(list->opens[--list->count].user_name);
}

static void free_thread_data(void *thread)
{
    struct cunei_region_list *list = thread;

    own = NULL;
    empty(list);
    free(list->opens);
    free(list);
}

struct cunei_region_list *cunei_region_list_get(void)
{
    if (!own)
        own = cunei_thread_data_new(sizeof(*own), free_thread_data);
    struct cunei_region_list *list = own;
    unsigned this_one = atomic_load_explicit(&recording, memory_order_relaxed);

    if (list && list->recording != this_one) {
        for (size_t i = 0; i < list->count; i++)
            list->unrecorded += list->opens[i].form == CUNEI_REGION_CALLS;
        empty(list);
        list->recording = this_one;
        list->greenlet = NULL;
    }
    return list;
}

const struct cunei_region_list *cunei_region_list_peek(void)
{
    return own && own->count > 0 ? cunei_region_list_get() : NULL;
}

bool cunei_region_list_reserve(struct cunei_region_list *list)
{
    return list->count < OPEN_MAX &&
           CUNEI_VECTOR_RESERVE(list->opens, list->capacity, list->count + 1);
}

static void remove_at(struct cunei_region_list *list, size_t at)
{
    list->count--;
    memmove(&list->opens[at], &list->opens[at + 1],
            (list->count - at) * sizeof(list->opens[0]));
}

void cunei_region_list_remove(struct cunei_region_list *list, size_t at)
{
    cunei_user_name_free(list->opens[at].user_name);
    remove_at(list, at);
}

static struct cunei_region_list_node **bucket_of(const void *frame)
{
    return &buckets[((uintptr_t)frame / 64) % BUCKET_COUNT];
}

void cunei_region_list_suspend(struct cunei_region_list *list, size_t at)
{
    struct cunei_region_list_node *node = malloc(sizeof(*node));

    if (!node) {
        cunei_region_list_remove(list, at);
        return;
    }
    node->open = list->opens[at];
    remove_at(list, at);
    struct cunei_region_list_node **bucket = bucket_of(node->open.frame);
    cunei_latch_close(&latch);
    node->next = *bucket;
    *bucket = node;
    atomic_fetch_add_explicit(&suspended_count, 1, memory_order_relaxed);
    cunei_latch_open(&latch);
}

bool cunei_region_list_has_suspended(void)
{
    return atomic_load_explicit(&suspended_count, memory_order_relaxed) > 0;
}

struct cunei_region_list_node *cunei_region_list_take(const void *frame)
{
    struct cunei_region_list_node *taken = NULL, **end = &taken;

    if (!cunei_region_list_has_suspended())
        return NULL;
    cunei_latch_close(&latch);
    for (struct cunei_region_list_node **at = bucket_of(frame); *at;) {
        struct cunei_region_list_node *node = *at;
        if (node->open.frame != frame) {
            at = &node->next;
            continue;
        }
        *at = node->next;
        node->next = NULL;
        *end = node;
        end = &node->next;
        atomic_fetch_sub_explicit(&suspended_count, 1, memory_order_relaxed);
    }
    cunei_latch_open(&latch);
    return taken;
}

void cunei_region_list_reset(void)
{
    atomic_fetch_add_explicit(&recording, 1, memory_order_relaxed);
    cunei_latch_close(&latch);
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        while (buckets[i]) {
            struct cunei_region_list_node *node = buckets[i];
            buckets[i] = node->next;
            cunei_user_name_free(node->open.user_name);
            free(node);
        }
    }
    atomic_store_explicit(&suspended_count, 0, memory_order_relaxed);
    cunei_latch_open(&latch);
}
