// SPDX-License-Identifier: MIT
/*
 * Functions: each identity gets one id, and its definition is written before the id is
 * given away: into the live file, and from there into the metadata file before the next
 * packet is.
 *
 * The table holds whole identities, not hashes of them: two functions must never share
 * an id.  It lives as long as the recording; called with the recording's lock held.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rt/recorder_private.h"
#include "wire/event.h"

struct entry {
    uint64_t hash;
    uint32_t id;
    uint32_t size;
    char *identity; /* owned */
};

static struct table {
    struct entry *entries; /* owned: open addressing, a power of two */
    size_t capacity;
    size_t count;
    uint32_t next_id;
    struct cunei_buffer identity; /* of the function looked up */
    struct cunei_buffer text;     /* of its definition */
} table;

/*
 * Definitions are put with the recording's lock held, but flushed by any thread that
 * writes a packet: the tail and the definitions stream have a lock of their own.
 */
static pthread_mutex_t define_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t tail_length; /* the mapping holds a copy, which is not believed */

void cunei_define_reset(void)
{
    for (size_t i = 0; i < table.capacity; i++)
        free(table.entries[i].identity);
    free(table.entries);
    cunei_buffer_fini(&table.identity);
    cunei_buffer_fini(&table.text);
    memset(&table, 0, sizeof(table));
    table.next_id = CUNEI_FUNCTION_FIRST;
    tail_length = 0;
}

void cunei_define_abandon(void)
{
    static struct abandoned {
        struct table table;
        struct abandoned *before;
    } * last;
    struct abandoned *abandoned = malloc(sizeof(*abandoned));

    /* It stays in reach, so that whoever looks for leaks does not take it for one. */
    if (abandoned) {
        *abandoned = (struct abandoned){table, last};
        last = abandoned;
    }
    memset(&table, 0, sizeof(table));
    cunei_define_reset();
}

/* FNV-1a */
static uint64_t hash_of(const char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

/* The entry of this identity, or the empty one where it belongs. */
static struct entry *find(struct entry *entries, size_t capacity, uint64_t hash,
                          const char *identity, size_t size)
{
    size_t at = hash & (capacity - 1);

    while (entries[at].identity &&
           (entries[at].hash != hash || entries[at].size != size ||
            memcmp(entries[at].identity, identity, size) != 0))
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static bool grow(void)
{
    size_t capacity = table.capacity ? 2 * table.capacity : 1024;
    struct entry *entries = calloc(capacity, sizeof(*entries));

    if (!entries)
        return false;
    for (size_t i = 0; i < table.capacity; i++) {
        struct entry *entry = &table.entries[i];
        if (entry->identity)
            *find(entries, capacity, entry->hash, entry->identity, entry->size) =
                *entry;
    }
    free(table.entries);
    table.entries = entries;
    table.capacity = capacity;
    return true;
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
        rc = cunei_folder_append(&recording->folder, CUNEI_METADATA_NAME, tail->text,
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

    /* Whoever defined the one before may run on a processor whose clock is ahead. */
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
    /* Once recording has stopped for space, nothing new is written, either. */
    if (cunei_recording_is_full(recording))
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
    if (table.identity.failed || (2 * table.count >= table.capacity && !grow()))
        return 0;

    const char *identity = table.identity.data;
    size_t size = table.identity.size;
    uint64_t hash = hash_of(identity, size);
    struct entry *entry = find(table.entries, table.capacity, hash, identity, size);
    if (entry->identity)
        return entry->id;
    if (only_known || table.next_id >= CUNEI_FUNCTION_END)
        return 0;

    struct cunei_function defined = *function;
    defined.id = table.next_id;
    char *copy = malloc(size);
    if (!copy || !write_definition(recording, &defined)) {
        free(copy);
        return 0;
    }
    memcpy(copy, identity, size);
    *entry = (struct entry){
        .hash = hash, .id = table.next_id++, .size = (uint32_t)size, .identity = copy};
    table.count++;
    return entry->id;
}
