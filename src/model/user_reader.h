// SPDX-License-Identifier: MIT
/*
 * Takes in what a process said itself (model/user_facts.h), stream by stream.
 *
 *     struct cunei_user_reader reader;
 *     cunei_user_reader_init(&reader, &options);
 *     for each stream:
 *         for each packet of it, in order:
 *             cunei_user_reader_read(&reader, packet, words, word_count);
 *         cunei_user_reader_end(&reader);
 *     cunei_user_reader_fini(&reader);
 *
 * Streams are read from their beginning, by the rules of the walk.  A region that is
 * suspended with its frame goes on when one of its name does in the same task, the last
 * first.  Memory is bounded.
 */
#ifndef CUNEI_MODEL_USER_READER_H
#define CUNEI_MODEL_USER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/text_set.h"
#include "model/user_facts.h"
#include "model/walk.h"
#include "model/wall_clock.h"
#include "wire/metadata.h"

/* Regions that are open or suspended; what is beyond is not timed. */
#define CUNEI_INSTANCES_MAX (1u << 20)

struct cunei_user_reader_options {
    struct cunei_user_facts *facts;         /* borrowed, as all */
    const struct cunei_function *functions; /* by id - CUNEI_FUNCTION_FIRST */
    uint32_t function_count;
    struct cunei_id_kinds kinds;
    const struct cunei_text_set *tags; /* see cunei_profile.tags; NULL: none */
    struct cunei_wall_clock wall;
    uint32_t process; /* its index */
};

/* Private: a region, or a call that was given a parameter. */
struct cunei_instance {
    uint32_t region;     /* index plus one; 0: a function that is none */
    uint32_t function;   /* id */
    uint32_t parameters; /* the first, from 1 */
    uint32_t next;       /* free, or suspended under the same hash */
    uint64_t task;       /* in which it was suspended */
    uint64_t since;      /* ticks; of what runs */
    uint64_t inside;     /* before that */
    uint64_t counted;    /* of that, what was in no other of its name */
    bool is_nested;
    bool is_whole; /* its begin was seen */
};

/* Private: a value of an instance. */
struct cunei_instance_value {
    uint32_t parameter; /* index in the facts */
    uint32_t next;
};

#define CUNEI_USERREADER_HASH  1024u
#define CUNEI_USERREADER_TASKS 64u

/* Private. */
struct cunei_user_reader {
    struct cunei_user_reader_options options;
    struct cunei_walk walk;
    uint32_t *indices; /* owned: of a region or counter plus one, by id; 0: not yet */
    uint32_t *tagged;  /* owned: the region of a tagged function plus one, by id */
    struct cunei_instance *instances; /* owned, from 1 */
    uint32_t instance_count, instance_capacity, free_instance;
    struct cunei_instance_value *values; /* owned, from 1 */
    uint32_t value_count, value_capacity, free_value;
    uint32_t suspended[CUNEI_USERREADER_HASH];
    uint32_t *open; /* owned: regions that run, by index … */
    uint32_t open_capacity;
    struct {
        uint64_t task;
        uint32_t depth;
    } tasks[CUNEI_USERREADER_TASKS];
    uint32_t task_count;
    bool has_task; /* of the frame that comes next */
    uint64_t task;
    bool is_switching;
    uint64_t switched_at;
};

/* -ENOMEM, as of all. */
int cunei_user_reader_init(struct cunei_user_reader *reader,
                           const struct cunei_user_reader_options *options);
int cunei_user_reader_read(struct cunei_user_reader *reader,
                           const struct cunei_packet *packet, const uint64_t *words,
                           size_t word_count);
int cunei_user_reader_end(struct cunei_user_reader *reader);
void cunei_user_reader_fini(struct cunei_user_reader *reader);

#endif
