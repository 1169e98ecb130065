// SPDX-License-Identifier: MIT
#include "model/walk/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "model/walk/walk.h"

struct cunei_lines_reader {
    struct cunei_lines *lines; /* borrowed */
    struct cunei_walk *walk;   /* owned */
    uint64_t last;             /* time of the last step */
    bool is_switching;
    uint64_t switched_at;
};

void cunei_lines_fini(struct cunei_lines *lines)
{
    free(lines->items);
    cunei_map_fini(&lines->map);
    *lines = (struct cunei_lines){0};
}

/* Its index, 0 if there are too many lines; -ENOMEM. */
static int find(struct cunei_lines *lines, uint32_t function, uint32_t line,
                uint32_t *index)
{
    uint64_t hash = cunei_hash_number((uint64_t)function << 32 | line);
    struct cunei_map_search search = {.hash = hash};

    while (cunei_map_next(&lines->map, &search, index)) {
        if (lines->items[*index].function == function &&
            lines->items[*index].line == line)
            return 0;
    }
    *index = 0;
    if (lines->count == CUNEI_LINES_MAX)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(lines->items, lines->capacity, lines->count + 2))
        return -ENOMEM;
    if (lines->count == 0)
        lines->items[lines->count++] = (struct cunei_line_facts){0};
    if (cunei_map_add(&lines->map, hash, lines->count) < 0)
        return -ENOMEM;
    *index = lines->count++;
    lines->items[*index] =
        (struct cunei_line_facts){.function = function, .line = line};
    return 0;
}

/* The line that a frame is in is its tag; 0: none that is known. */
static void open_line(struct cunei_lines *lines, uint32_t index, uint64_t time)
{
    if (index > 0 && lines->items[index].open++ == 0)
        lines->items[index].opened_at = time;
}

static void close_line(struct cunei_lines *lines, uint32_t index, uint64_t time)
{
    if (index == 0)
        return;
    struct cunei_line_facts *item = &lines->items[index];
    if (item->open > 0 && --item->open == 0 && time > item->opened_at)
        item->time += time - item->opened_at;
}

static void close_lines(struct cunei_lines *lines, const struct cunei_walk_step *step,
                        uint64_t time)
{
    for (uint32_t i = 0; i < step->depth; i++)
        close_line(lines, step->frames[i].tag, time);
}

/* A greenlet runs again; the walk puts its frames back without a step. */
static void resume_lines(struct cunei_lines_reader *reader,
                         const struct cunei_walk_step *step)
{
    reader->is_switching = false;
    for (uint32_t i = 0; i < step->depth; i++)
        open_line(reader->lines, step->frames[i].tag, reader->switched_at);
}

/* Where a frame is after a gap is not known, be it open or suspended. */
static void lose_lines(struct cunei_lines_reader *reader,
                       const struct cunei_walk_step *step)
{
    close_lines(reader->lines, step, reader->last);
    cunei_walk_clear_tags(reader->walk);
}

static int read_line(struct cunei_lines_reader *reader,
                     const struct cunei_walk_step *step)
{
    const struct cunei_line *event = (const void *)step->event;
    enum cunei_phase phase = cunei_record_phase(event->record);
    uint32_t depth = step->depth, index = 0;

    while (depth > 0 && step->frames[depth - 1].is_region)
        depth--;
    struct cunei_walk_frame *top = depth > 0 ? &step->frames[depth - 1] : NULL;

    int rc = find(reader->lines, event->function, event->line, &index);
    if (rc < 0)
        return rc;
    if (top && top->function != event->function)
        top = NULL; /* its frame is not known */
    reader->lines->items[index].is_searched |= phase == CUNEI_PHASE_YIELD;
    if (phase == CUNEI_PHASE_YIELD && top && top->tag == index)
        return 0; /* it is in that line already */
    reader->lines->items[index].hits += phase != CUNEI_PHASE_RESUME;
    if (!top)
        return 0;
    close_line(reader->lines, top->tag, step->time);
    top->tag = index;
    open_line(reader->lines, index, step->time);
    return 0;
}

static int take_step(void *context, const struct cunei_walk_step *step)
{
    struct cunei_lines_reader *reader = context;
    int rc = 0;

    if (reader->is_switching)
        resume_lines(reader, step);
    switch (step->kind) {
    case CUNEI_WALK_EVENT:
        if (cunei_record_class(step->event[0]) == CUNEI_CLASS_LINE)
            rc = read_line(reader, step);
        break;
    case CUNEI_WALK_LEAVE:
    case CUNEI_WALK_MISSED:
    case CUNEI_WALK_OPEN:
        if (!step->is_suspended)
            close_line(reader->lines, step->frames[step->depth - 1].tag, step->time);
        break;
    case CUNEI_WALK_SWITCH:
        close_lines(reader->lines, step, step->time);
        reader->is_switching = true;
        reader->switched_at = step->time;
        break;
    case CUNEI_WALK_LOST:
        lose_lines(reader, step);
        break;
    default:
        break;
    }
    reader->last = step->time;
    return rc;
}

struct cunei_lines_reader *cunei_lines_begin(struct cunei_lines *lines,
                                             struct cunei_id_kinds kinds)
{
    struct cunei_lines_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    reader->lines = lines;
    reader->walk = cunei_walk_new(take_step, reader, kinds);
    if (!reader->walk) {
        free(reader);
        return NULL;
    }
    return reader;
}

int cunei_lines_read(struct cunei_lines_reader *reader,
                     const struct cunei_packet *packet, const uint64_t *words,
                     size_t word_count)
{
    return cunei_walk_packet(reader->walk, packet, words, word_count);
}

int cunei_lines_end(struct cunei_lines_reader *reader)
{
    int rc = cunei_walk_end(reader->walk);

    cunei_walk_free(reader->walk);
    free(reader);
    return rc;
}

int cunei_lines_add(struct cunei_lines *lines, const struct cunei_lines *other,
                    const uint32_t *map, uint32_t map_count, uint64_t numerator,
                    uint64_t denominator)
{
    for (uint32_t i = 1; i < other->count; i++) {
        const struct cunei_line_facts *from = &other->items[i];
        uint32_t slot = from->function - (CUNEI_FUNCTION_FIRST - 1), index = 0;
        uint32_t function = slot < map_count ? map[slot] : 0;
        if (function == 0)
            continue;
        int rc = find(lines, function, from->line, &index);
        if (rc < 0)
            return rc;
        lines->items[index].hits += from->hits;
        lines->items[index].is_searched |= from->is_searched;
        lines->items[index].time +=
            (uint64_t)((unsigned __int128)from->time * numerator / denominator);
    }
    return 0;
}
