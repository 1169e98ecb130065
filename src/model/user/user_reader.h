// SPDX-License-Identifier: MIT
/*
 * Reads what a program recorded with the API (model/user/user_facts.h), stream by
 * stream.
 *
 *     struct cunei_user_reader *reader = cunei_user_reader_new(&options);
 *     for each stream:
 *         for each packet of it, in order:
 *             cunei_user_reader_read(reader, packet, words, word_count);
 *         cunei_user_reader_end(reader);
 *     cunei_user_reader_free(reader);
 *
 * Streams are read from their beginning, by the rules of the walk.  A region that is
 * suspended with its frame resumes when one of its name does in the same task, the last
 * first.  Memory is bounded.
 */
#ifndef CUNEI_MODEL_USER_USER_READER_H
#define CUNEI_MODEL_USER_USER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/facts/text_set.h"
#include "model/facts/wall_clock.h"
#include "model/user/user_facts.h"
#include "wire/id_kind.h"
#include "wire/metadata.h"
#include "wire/packet.h"

struct cunei_user_reader;

struct cunei_user_reader_options {
    struct cunei_user_facts *facts;         /* borrowed, as all */
    const struct cunei_function *functions; /* by id - CUNEI_FUNCTION_FIRST */
    uint32_t function_count;
    struct cunei_id_kinds kinds;
    const struct cunei_text_set *tags; /* see cunei_profile.tags; NULL: none */
    struct cunei_wall_clock wall;
    uint32_t process; /* its index */
};

/* NULL: no memory. */
struct cunei_user_reader *cunei_user_reader_new(
    const struct cunei_user_reader_options *options);
void cunei_user_reader_free(struct cunei_user_reader *reader);

/* -ENOMEM, as of the next. */
int cunei_user_reader_read(struct cunei_user_reader *reader,
                           const struct cunei_packet *packet, const uint64_t *words,
                           size_t word_count);
int cunei_user_reader_end(struct cunei_user_reader *reader);

/* Whether no region runs, as after the end of a stream. */
bool cunei_user_reader_is_idle(const struct cunei_user_reader *reader);

#endif
