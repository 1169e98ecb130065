// SPDX-License-Identifier: MIT
#include "model/user/user_reader.h"

#include <stdlib.h>
#include <string.h>

#include "model/user/region_instances.h"
#include "model/walk/walk.h"

/* Search at most this many frames for the target of a parameter. */
#define TARGET_DEPTH 4096u
/* Steps of tasks in each other. */
#define TASKS_MAX 64u

struct cunei_user_reader {
    struct cunei_user_reader_options options;
    struct cunei_walk *walk; /* owned, as the next two */
    uint32_t *indices;       /* of a region or counter plus one, by id; 0: not yet */
    uint32_t *tagged;        /* the region of a tagged function plus one, by id */
    struct cunei_region_instances regions;
    struct {
        uint64_t task;
        uint32_t depth;
    } tasks[TASKS_MAX];
    uint32_t task_count;
    bool has_task; /* of the frame that comes next */
    uint64_t task;
    bool is_switching;
    uint64_t switched_at;
};

static const char *name_of(const struct cunei_user_reader *reader, uint32_t function)
{
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    return index < reader->options.function_count &&
                   reader->options.functions[index].module
               ? reader->options.functions[index].qualname
               : "?";
}

/* A tag is the id of its function, and the name of the region. */
static int read_tags(struct cunei_user_reader *reader)
{
    const struct cunei_text_set *tags = reader->options.tags;

    for (uint32_t i = 0; tags && i < tags->count; i++) {
        uint32_t function = 0;
        if (tags->sizes[i] < sizeof(function))
            continue;
        memcpy(&function, tags->items[i], sizeof(function));
        uint32_t index = function - CUNEI_FUNCTION_FIRST;
        if (index >= reader->options.function_count)
            continue;
        int64_t region = cunei_user_facts_region(reader->options.facts,
                                                 tags->items[i] + sizeof(function));
        if (region < 0)
            return (int)region;
        reader->tagged[index] = (uint32_t)region + 1;
    }
    return 0;
}

static int take_step(void *context, const struct cunei_walk_step *step);

struct cunei_user_reader *cunei_user_reader_new(
    const struct cunei_user_reader_options *options)
{
    struct cunei_user_reader *reader = malloc(sizeof(*reader));
    size_t count = (size_t)options->function_count + 1;

    if (!reader)
        return NULL;
    *reader = (struct cunei_user_reader){
        .options = *options,
        .walk = cunei_walk_new(take_step, reader, options->kinds),
        .indices = calloc(count, sizeof(*reader->indices)),
        .tagged = calloc(count, sizeof(*reader->tagged)),
        .regions = {.facts = options->facts,
                    .frequency = options->wall.scale.frequency},
    };
    if (reader->walk && reader->indices && reader->tagged && read_tags(reader) == 0)
        return reader;
    cunei_user_reader_free(reader);
    return NULL;
}

void cunei_user_reader_free(struct cunei_user_reader *reader)
{
    if (!reader)
        return;
    cunei_walk_free(reader->walk);
    free(reader->indices);
    free(reader->tagged);
    cunei_region_instances_fini(&reader->regions);
    free(reader);
}

/* The region of a function's id plus one; 0: it is not a region. */
static int find_region(struct cunei_user_reader *reader, uint32_t function,
                       uint32_t *region)
{
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    *region = 0;
    if (index >= reader->options.function_count)
        return 0;
    *region = reader->tagged[index];
    if (*region == 0 && cunei_id_kinds_is_region(&reader->options.kinds, function)) {
        if (reader->indices[index] == 0) {
            int64_t found = cunei_user_facts_region(reader->options.facts,
                                                    name_of(reader, function));
            if (found < 0)
                return (int)found;
            reader->indices[index] = (uint32_t)found + 1;
        }
        *region = reader->indices[index];
    }
    return 0;
}

static uint64_t task_now(const struct cunei_user_reader *reader)
{
    return reader->task_count > 0 ? reader->tasks[reader->task_count - 1].task : 0;
}

/* The task that the frame is a step of, if a `task` event came before it. */
static void begin_task(struct cunei_user_reader *reader, uint32_t depth)
{
    if (!reader->has_task)
        return;
    reader->has_task = false;
    if (reader->task_count == TASKS_MAX)
        return;
    reader->tasks[reader->task_count].task = reader->task;
    reader->tasks[reader->task_count++].depth = depth;
}

static int begin(struct cunei_user_reader *reader, const struct cunei_walk_step *step)
{
    struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
    uint32_t region = 0;

    if (!frame->is_region)
        begin_task(reader, step->depth);
    int rc = find_region(reader, frame->function, &region);
    if (rc < 0)
        return rc;
    bool is_resumed = step->kind == CUNEI_WALK_ENTER && frame->is_resumed;
    bool is_new = step->kind == CUNEI_WALK_ENTER && !is_resumed;
    if (is_resumed)
        frame->tag = cunei_region_instances_resume(&reader->regions, frame->function,
                                                   task_now(reader));
    if (region == 0 && frame->tag == 0)
        return 0;
    if (frame->tag == 0)
        frame->tag = cunei_region_instances_new(&reader->regions, region,
                                                frame->function, step->time, is_new);
    if (region > 0) {
        reader->options.facts->regions[region - 1].count += is_new;
        reader->options.facts->regions[region - 1].resumes += is_resumed;
    }
    return frame->tag
               ? cunei_region_instances_run(&reader->regions, frame->tag, step->time)
               : 0;
}

static int end(struct cunei_user_reader *reader, const struct cunei_walk_step *step)
{
    const struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
    int rc = 0;

    if (frame->tag != 0) {
        if (!step->is_suspended)
            cunei_region_instances_pause(&reader->regions, frame->tag, step->time);
        if (step->is_yield)
            cunei_region_instances_suspend(&reader->regions, frame->tag,
                                           task_now(reader));
        else
            rc = cunei_region_instances_end(&reader->regions, frame->tag);
    }
    while (!frame->is_region && reader->task_count > 0 &&
           reader->tasks[reader->task_count - 1].depth >= step->depth)
        reader->task_count--;
    return rc;
}

/* A greenlet stops running, with all its open frames. */
static void pause_all(struct cunei_user_reader *reader,
                      const struct cunei_walk_step *step)
{
    for (uint32_t i = 0; i < step->depth; i++) {
        if (step->frames[i].tag)
            cunei_region_instances_pause(&reader->regions, step->frames[i].tag,
                                         step->time);
    }
    reader->is_switching = true;
    reader->switched_at = step->time;
    reader->task_count = 0;
}

/* The first `depth` frames are back; not the one that begins with the step. */
static int run_all(struct cunei_user_reader *reader, const struct cunei_walk_step *step,
                   uint32_t depth)
{
    int rc = 0;

    reader->is_switching = false;
    for (uint32_t i = 0; rc == 0 && i < depth; i++) {
        if (step->frames[i].tag)
            rc = cunei_region_instances_run(&reader->regions, step->frames[i].tag,
                                            reader->switched_at);
    }
    return rc;
}

/* The frame that a parameter is of, from 1; 0: none that is known. */
static uint32_t target_of(const struct cunei_walk_step *step, uint32_t function)
{
    uint32_t depth = step->depth, left = TARGET_DEPTH;

    while (depth > 0 && left > 0 && step->frames[depth - 1].function != function) {
        depth--;
        left--;
    }
    return left > 0 ? depth : 0;
}

static int read_parameter(struct cunei_user_reader *reader,
                          const struct cunei_walk_step *step)
{
    const struct cunei_user_value *value = (const void *)step->event;
    uint32_t depth = target_of(step, value->target);
    uint32_t index = value->target - CUNEI_FUNCTION_FIRST, region = 0;

    if (depth == 0 || index >= reader->options.function_count ||
        !reader->options.functions[index].module)
        return 0;
    struct cunei_walk_frame *frame = &step->frames[depth - 1];
    int rc = find_region(reader, frame->function, &region);
    if (rc < 0)
        return rc;
    const struct cunei_parameter_facts owner = {
        .is_region = region > 0,
        .region = region > 0 ? region - 1 : 0,
        .module = reader->options.functions[index].module,
        .qualname = reader->options.functions[index].qualname,
    };
    int64_t parameter =
        cunei_user_facts_parameter(reader->options.facts, &owner, value);
    if (parameter < 0)
        return (int)parameter;
    if (frame->tag == 0) {
        frame->tag = cunei_region_instances_new(
            &reader->regions, region, frame->function,
            frame->is_known ? frame->entered + frame->suspended : step->time, false);
        if (frame->tag == 0)
            return 0;
        uint64_t since = reader->regions.instances[frame->tag].since;
        rc = cunei_region_instances_run(&reader->regions, frame->tag, since);
    }
    return rc < 0 ? rc
                  : cunei_region_instances_give(&reader->regions, frame->tag,
                                                (uint32_t)parameter);
}

static uint64_t time_ns(const struct cunei_user_reader *reader,
                        const struct cunei_walk_step *step)
{
    return cunei_wall_clock_ns(&reader->options.wall, step->time);
}

static int read_counter(struct cunei_user_reader *reader,
                        const struct cunei_walk_step *step)
{
    const struct cunei_counter *event = (const void *)step->event;
    uint32_t index = event->counter - CUNEI_FUNCTION_FIRST;

    if (index >= reader->options.function_count)
        return 0;
    /* An id that is used as a region is not a counter. */
    if (cunei_id_kinds_find(&reader->options.kinds, event->counter) !=
        CUNEI_DEFINITION_COUNTER)
        return 0;
    if (reader->indices[index] == 0) {
        int64_t found = cunei_user_facts_counter(reader->options.facts,
                                                 name_of(reader, event->counter));
        if (found < 0)
            return (int)found;
        reader->indices[index] = (uint32_t)found + 1;
    }
    return cunei_user_facts_count(
        &reader->options.facts->counters[reader->indices[index] - 1], event,
        time_ns(reader, step));
}

static int read_task(struct cunei_user_reader *reader,
                     const struct cunei_walk_step *step)
{
    reader->has_task = true;
    reader->task = ((const struct cunei_task *)(const void *)step->event)->task;
    return 0;
}

static int read_mark(struct cunei_user_reader *reader,
                     const struct cunei_walk_step *step)
{
    const struct cunei_mark_facts where = {.time_ns = time_ns(reader, step),
                                           .process = reader->options.process,
                                           .tid = step->packet->vtid};

    return cunei_user_facts_mark(reader->options.facts, (const void *)step->event,
                                 &where);
}

static int read_metadata(struct cunei_user_reader *reader,
                         const struct cunei_walk_step *step)
{
    return cunei_user_facts_metadata(reader->options.facts, (const void *)step->event,
                                     time_ns(reader, step));
}

static int read_token(struct cunei_user_reader *reader,
                      const struct cunei_walk_step *step)
{
    const struct cunei_token *token = (const void *)step->event;

    return cunei_user_facts_token(reader->options.facts, reader->options.process,
                                  name_of(reader, token->name), token,
                                  time_ns(reader, step));
}

/* What is made of an event; a class that is not listed is passed over. */
static int (*const readers[CUNEI_CLASS_COUNT])(struct cunei_user_reader *reader,
                                               const struct cunei_walk_step *step) = {
    [CUNEI_CLASS_TASK] = read_task,         [CUNEI_CLASS_MARK] = read_mark,
    [CUNEI_CLASS_COUNTER] = read_counter,   [CUNEI_CLASS_PARAMETER] = read_parameter,
    [CUNEI_CLASS_METADATA] = read_metadata, [CUNEI_CLASS_TOKEN] = read_token,
};

static int read_event(struct cunei_user_reader *reader,
                      const struct cunei_walk_step *step)
{
    uint32_t class = cunei_event_class_of(step->event[0]);

    return readers[class] ? readers[class](reader, step) : 0;
}

static int take_step(void *context, const struct cunei_walk_step *step)
{
    struct cunei_user_reader *reader = context;
    bool is_begin = step->kind == CUNEI_WALK_ENTER || step->kind == CUNEI_WALK_FOUND;
    int rc = 0;

    if (reader->is_switching && !step->is_suspended)
        rc = run_all(reader, step, step->depth - is_begin);
    if (rc < 0)
        return rc;
    switch (step->kind) {
    case CUNEI_WALK_ENTER:
    case CUNEI_WALK_FOUND:
        return begin(reader, step);
    case CUNEI_WALK_LEAVE:
    case CUNEI_WALK_MISSED:
    case CUNEI_WALK_OPEN:
        return end(reader, step);
    case CUNEI_WALK_SWITCH:
        pause_all(reader, step);
        return 0;
    case CUNEI_WALK_THREAD:
        reader->task_count = 0;
        return 0;
    case CUNEI_WALK_EVENT:
        return read_event(reader, step);
    default:
        return 0;
    }
}

int cunei_user_reader_read(struct cunei_user_reader *reader,
                           const struct cunei_packet *packet, const uint64_t *words,
                           size_t word_count)
{
    return cunei_walk_packet(reader->walk, packet, words, word_count);
}

int cunei_user_reader_end(struct cunei_user_reader *reader)
{
    int rc = cunei_walk_end(reader->walk);

    /* Regions that are suspended and do not resume end here. */
    if (rc == 0)
        rc = cunei_region_instances_end_suspended(&reader->regions);
    reader->task_count = 0;
    reader->is_switching = false;
    return rc;
}

bool cunei_user_reader_is_idle(const struct cunei_user_reader *reader)
{
    bool is_idle = true;

    for (uint32_t i = 0; is_idle && i < reader->regions.open_capacity; i++)
        is_idle = reader->regions.open[i] == 0;
    return is_idle;
}
