// SPDX-License-Identifier: MIT
#include "model/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "model/greenlet_stacks.h"

#define FIRST_CAPACITY 64u

void cunei_lines_fini(struct cunei_lines *lines)
{
    free(lines->items);
    free(lines->table);
    *lines = (struct cunei_lines){0};
}

static uint32_t find_place(const struct cunei_lines *lines, uint32_t function,
                           uint32_t line)
{
    uint32_t mask = lines->table_size - 1;
    uint64_t key = (uint64_t)function << 32 | line;
    uint32_t place = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    for (;; place = (place + 1) & mask) {
        const struct cunei_line_facts *item = &lines->items[lines->table[place]];
        if (lines->table[place] == 0 ||
            (item->function == function && item->line == line))
            return place;
    }
}

static int grow(struct cunei_lines *lines)
{
    uint32_t capacity = lines->capacity ? 2 * lines->capacity : FIRST_CAPACITY;

    if (lines->capacity >= CUNEI_LINES_MAX)
        return -ENOSPC;
    struct cunei_line_facts *items = realloc(lines->items, capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    lines->items = items;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -ENOMEM;
    free(lines->table);
    lines->table = table;
    lines->table_size = 2 * capacity;
    lines->capacity = capacity;
    if (lines->count == 0)
        items[lines->count++] = (struct cunei_line_facts){0};
    for (uint32_t i = 1; i < lines->count; i++)
        table[find_place(lines, items[i].function, items[i].line)] = i;
    return 0;
}

/* Its index; 0 where there is no room for another, which is there, too. */
static int find(struct cunei_lines *lines, uint32_t function, uint32_t line,
                uint32_t *index)
{
    if (lines->capacity > 0) {
        *index = lines->table[find_place(lines, function, line)];
        if (*index != 0)
            return 0;
    }
    if (lines->count == lines->capacity) {
        int rc = grow(lines);
        if (rc < 0)
            return rc == -ENOSPC ? 0 : rc;
    }
    *index = lines->count++;
    lines->items[*index] =
        (struct cunei_line_facts){.function = function, .line = line};
    lines->table[find_place(lines, function, line)] = *index;
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

/* A greenlet goes on, whose frames the walk has put back without a word. */
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
    const struct cunei_greenlets *others = reader->walk.greenlets;

    close_lines(reader->lines, step, reader->last);
    for (uint32_t i = 0; i < step->depth; i++)
        step->frames[i].tag = 0;
    for (uint32_t i = 1; others && i < others->count; i++) {
        for (uint32_t j = 0; j < others->items[i].depth; j++)
            others->items[i].frames[j].tag = 0;
    }
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

void cunei_lines_begin(struct cunei_lines_reader *reader, struct cunei_lines *lines,
                       const struct cunei_id_kinds *kinds)
{
    *reader = (struct cunei_lines_reader){.lines = lines,
                                          .walk = {.step = take_step, .kinds = *kinds}};
}

int cunei_lines_read(struct cunei_lines_reader *reader,
                     const struct cunei_packet *packet, const uint64_t *words,
                     size_t word_count)
{
    reader->walk.context = reader;
    return cunei_walk_packet(&reader->walk, packet, words, word_count);
}

int cunei_lines_end(struct cunei_lines_reader *reader)
{
    reader->walk.context = reader;
    int rc = cunei_walk_end(&reader->walk);
    cunei_walk_fini(&reader->walk);
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
