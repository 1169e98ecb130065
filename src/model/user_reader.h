// SPDX-License-Identifier: MIT
/*
 * Reads what a program recorded with the API (model/user_facts.h), stream by stream.
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
 * suspended with its frame resumes when one of its name does in the same task, the last
 * first.  Memory is bounded.
 */
#ifndef CUNEI_MODEL_USER_READER_H
#define CUNEI_MODEL_USER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/region_instances.h"
#include "model/text_set.h"
#include "model/user_facts.h"
#include "model/walk.h"
#include "model/wall_clock.h"
#include "wire/metadata.h"

struct cunei_user_reader_options {
    struct cunei_user_facts *facts;         /* borrowed, as all */
    const struct cunei_function *functions; /* by id - CUNEI_FUNCTION_FIRST */
    uint32_t function_count;
    struct cunei_id_kinds kinds;
    const struct cunei_text_set *tags; /* see cunei_profile.tags; NULL: none */
    struct cunei_wall_clock wall;
    uint32_t process; /* its index */
};

#define CUNEI_USERREADER_TASKS 64u

/* Private. */
struct cunei_user_reader {
    struct cunei_user_reader_options options;
    struct cunei_walk walk;
    uint32_t *indices; /* owned: of a region or counter plus one, by id; 0: not yet */
    uint32_t *tagged;  /* owned: the region of a tagged function plus one, by id */
    struct cunei_region_instances regions;
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
