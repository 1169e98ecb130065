// SPDX-License-Identifier: MIT
/*
 * What each line of a function cost: how often it began, and how long it took.
 *
 *     struct cunei_lines lines = {0};
 *     for each stream:
 *         struct cunei_lines_reader *reader = cunei_lines_begin(&lines, kinds);
 *         for each packet of it, in order:
 *             cunei_lines_read(reader, packet, words, word_count);
 *         cunei_lines_end(reader);
 *     …
 *     cunei_lines_fini(&lines);
 *
 * A line lasts from its event to the next one of the same frame, or until that frame is
 * left or suspended; what it calls belongs to it.  Where it is open in several frames
 * of a thread, as in a recursion, time counts once.  What was lost is not guessed:
 * after a gap a frame is in no line until its next line event.
 *
 * Streams are read from their beginning, by the rules of the walk.  Memory is bounded.
 */
#ifndef CUNEI_MODEL_WALK_LINES_H
#define CUNEI_MODEL_WALK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "wire/event.h"
#include "wire/id_kind.h"
#include "wire/packet.h"

/* What is beyond is added to line 0 of function 0. */
#define CUNEI_LINES_MAX (1u << 22)

struct cunei_lines_reader;

struct cunei_line_facts {
    uint32_t function; /* its id, or what cunei_lines_add made of it */
    uint32_t line;
    uint64_t hits;
    uint64_t time;      /* in ticks, or what cunei_lines_add made of them */
    uint64_t opened_at; /* private, as the next: while a stream is read */
    uint32_t open;
    bool is_searched; /* by the instructions of its function: see format.md */
};

struct cunei_lines {
    struct cunei_line_facts *items; /* owned, from 1 on; 0: see CUNEI_LINES_MAX */
    uint32_t count, capacity;
    struct cunei_map map; /* private: of function and line */
};

/* Read a stream; the lines are borrowed.  NULL: no memory. */
struct cunei_lines_reader *cunei_lines_begin(struct cunei_lines *lines,
                                             struct cunei_id_kinds kinds);

/* -ENOMEM, as of the next, which also frees the reader. */
int cunei_lines_read(struct cunei_lines_reader *reader,
                     const struct cunei_packet *packet, const uint64_t *words,
                     size_t word_count);
int cunei_lines_end(struct cunei_lines_reader *reader);

/*
 * Add the lines of another: `map` has the functions' numbers by id less
 * CUNEI_FUNCTION_FIRST - 1, times are multiplied by `numerator / denominator`. -ENOMEM.
 */
int cunei_lines_add(struct cunei_lines *lines, const struct cunei_lines *other,
                    const uint32_t *map, uint32_t map_count, uint64_t numerator,
                    uint64_t denominator);

void cunei_lines_fini(struct cunei_lines *lines);

#endif
