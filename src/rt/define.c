// SPDX-License-Identifier: MIT
/*
 * Functions: each identity gets one id.  The definition is written before the id is
 * given out: first into the live file, from there into the metadata file before the
 * next packet is written.
 *
 * The table holds whole identities, not hashes of them: two functions must never share
 * an id.  It lives as long as the recording; the caller holds the recording's lock.
 */
#include "rt/define.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/vector.h"
#include "rt/live.h"
#include "rt/packet.h"
#include "rt/state.h"
#include "wire/event.h"

struct identity {
    uint32_t id;
    uint32_t size;
    char *bytes; /* owned */
};

static struct table {
    struct identity *items; /* owned */
    uint32_t count, capacity;
    struct cunei_map map; /* of the identities' bytes */
    uint32_t next_id;
    struct cunei_buffer identity; /* of the function looked up */
    struct cunei_buffer text;     /* of its definition */
} table;

/*
 * Definitions are added with the recording's lock held, but any thread that writes a
 * packet flushes them: the tail and the definitions stream have a lock of their own.
 */
static pthread_mutex_t define_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t
    tail_length; /* the mapping holds a copy, which the program may overwrite */

void cunei_define_reset(struct cunei_recorder_state *recording)
{
    for (uint32_t i = 0; i < table.count; i++)
        free(table.items[i].bytes);
    free(table.items);
    cunei_map_fini(&table.map);
    cunei_buffer_fini(&table.identity);
    cunei_buffer_fini(&table.text);
    memset(&table, 0, sizeof(table));
    table.next_id = CUNEI_FUNCTION_FIRST;
    tail_length = 0;
    recording->flush_definitions = cunei_define_flush;
}

void cunei_define_abandon(struct cunei_recorder_state *recording)
{
    static struct abandoned {
        struct table table;
        struct abandoned *before;
    } * last;
    struct abandoned *abandoned = malloc(sizeof(*abandoned));

    /* Kept reachable, so that leak checkers do not report it. */
    if (abandoned) {
        *abandoned = (struct abandoned){table, last};
        last = abandoned;
    }
    memset(&table, 0, sizeof(table));
    cunei_define_reset(recording);
}

/* The id of an identity; 0: it has none. */
static uint32_t find(uint64_t hash, const char *bytes, size_t size)
{
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&table.map, &search, &i);) {
        if (table.items[i].size == size &&
            memcmp(table.items[i].bytes, bytes, size) == 0)
            return table.items[i].id;
    }
    return 0;
}

void cunei_define_lock(void)
{
    (void)pthread_mutex_lock(&define_lock);
}

void cunei_define_unlock(void)
{
    (void)pthread_mutex_unlock(&define_lock);
}

static struct cunei_live_tail *tail_of(struct cunei_recorder_state *recording)
{
    return (void *)((char *)recording->live + CUNEI_LIVE_TAIL_OFFSET);
}

/* Whether `size` bytes of definitions may be written; `force` does not ask. */
static int check_space(struct cunei_recorder_state *recording, uint64_t size,
                       bool force)
{
    return force ? 0 : cunei_space_take(&recording->space, &recording->folder, size);
}

/* Write the tail to the metadata file and begin anew. */
static int flush_tail(struct cunei_recorder_state *recording, bool force)
{
    struct cunei_live_tail *tail = tail_of(recording);

    if (tail_length == 0)
        return 0;
    int rc = check_space(recording, tail_length, force);
    if (rc == 0)
        rc = cunei_file_append(&recording->folder, CUNEI_METADATA_NAME, tail->text,
                               tail_length, &recording->metadata_end);
    if (rc < 0)
        return rc;
    tail_length = 0;
    /* Pairs with the reader's second look at `flushed`, after its copy. */
    atomic_fetch_add_explicit(&tail->flushed, 1, memory_order_acq_rel);
    atomic_store_explicit(&tail->length, 0, memory_order_release);
    return 0;
}

/* Write the open packet of definitions, if there is one. */
static int flush_events(struct cunei_recorder_state *recording, bool force)
{
    struct cunei_stream *stream = &recording->definitions;

    if (!stream->packet)
        return 0;
    int rc = check_space(recording, stream->content_bits / 8, force);
    return rc < 0 ? rc : cunei_packet_close(recording, stream, CUNEI_CLOSE_KEEP, false);
}

int cunei_define_flush(struct cunei_recorder_state *recording, bool force)
{
    cunei_define_lock();
    int rc = flush_tail(recording, force);
    if (rc == 0)
        rc = flush_events(recording, force);
    cunei_define_unlock();
    return rc;
}

/* Add a whole line to the metadata. */
static int put_line(struct cunei_recorder_state *recording,
                    const struct cunei_function *function)
{
    struct cunei_live_tail *tail = tail_of(recording);
    int rc = 0;

    cunei_metadata_format_function(function, &table.text);
    size_t size = table.text.size;
    if (table.text.failed || size > sizeof(tail->text))
        return -ENOMEM;
    if (size > sizeof(tail->text) - tail_length)
        rc = flush_tail(recording, false);
    if (rc < 0)
        return rc;
    memcpy(tail->text + tail_length, table.text.data, size);
    tail_length += size;
    /* Pairs with the acquire in the reader: the line is there before it counts. */
    atomic_store_explicit(&tail->length, tail_length, memory_order_release);
    return 0;
}

/* Beyond the classes: an event in the definitions stream. */
static int put_event(struct cunei_recorder_state *recording,
                     const struct cunei_function *function)
{
    struct cunei_stream *stream = &recording->definitions;
    uint64_t now = cunei_clock_read();
    int rc = 0;

    /* The thread that wrote the last definition may run on a core whose clock is ahead.
     */
    if (now < stream->last)
        now = stream->last;
    cunei_metadata_format_define(function, now, &table.text);
    if (table.text.failed)
        return -ENOMEM;
    if (!stream->slot) {
        stream->slot = cunei_live_add_slot(recording, CUNEI_STREAM_DEFINITIONS);
        if (!stream->slot)
            return -ENOMEM;
        stream->vtid = (uint32_t)recording->pid;
    }
    unsigned words = (unsigned)(table.text.size / 8);
    if (stream->packet && !cunei_stream_has_room(stream, now, words))
        rc = flush_events(recording, false);
    if (rc < 0)
        return rc;
    if (!stream->packet)
        cunei_packet_begin(recording, stream, now, 0);
    for (unsigned i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, table.text.data + 8 * (size_t)i, sizeof(word));
        cunei_stream_store(stream, i, word);
    }
    cunei_stream_publish(stream, now, words);
    return 0;
}

static bool write_definition(struct cunei_recorder_state *recording,
                             const struct cunei_function *function)
{
    /* After recording has stopped for lack of space, definitions are not written
     * either. */
    if (cunei_recorder_is_full(recording))
        return false;
    cunei_buffer_clear(&table.text);
    cunei_define_lock();
    int rc = function->id < CUNEI_FUNCTION_CLASS_END ? put_line(recording, function)
                                                     : put_event(recording, function);
    cunei_define_unlock();
    return rc == 0;
}

uint32_t cunei_define(struct cunei_recorder_state *recording,
                      const struct cunei_function *function, bool only_known)
{
    const char *const parts[] = {function->module, function->qualname, function->file};

    cunei_buffer_clear(&table.identity);
    for (size_t i = 0; i < 3; i++)
        cunei_buffer_append(&table.identity, parts[i], strlen(parts[i]) + 1);
    cunei_buffer_append(&table.identity, &function->line, sizeof(function->line));
    if (table.identity.failed)
        return 0;

    const char *bytes = table.identity.data;
    size_t size = table.identity.size;
    uint64_t hash = cunei_hash_bytes(CUNEI_HASH_BYTES_FIRST, bytes, size);
    uint32_t id = find(hash, bytes, size);
    if (id || only_known || table.next_id >= CUNEI_FUNCTION_END ||
        !CUNEI_VECTOR_RESERVE(table.items, table.capacity, table.count + 1))
        return id;

    struct cunei_function defined = *function;
    defined.id = table.next_id;
    char *copy = malloc(size);
    if (!copy || cunei_map_add(&table.map, hash, table.count) < 0) {
        free(copy);
        return 0;
    }
    if (!write_definition(recording, &defined)) {
        cunei_map_remove(&table.map, hash, table.count);
        free(copy);
        return 0;
    }
    memcpy(copy, bytes, size);
    table.items[table.count++] =
        (struct identity){.id = defined.id, .size = (uint32_t)size, .bytes = copy};
    return table.next_id++;
}
