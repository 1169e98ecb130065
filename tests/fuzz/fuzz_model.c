// SPDX-License-Identifier: MIT
/*
 * Packets in memory that passed the check, through the model: read in one go, read in
 * pieces and joined, read part by part as from a recording that grows, walked, its
 * lines added up, printed.
 */
#include <stdbool.h>

#include "base/buffer.h"
#include "fuzz.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "model/profile/profile.h"
#include "model/profile/profile_packet.h"
#include "model/user/user_reader.h"
#include "model/walk/lines.h"
#include "model/walk/walk.h"
#include "report/replay/event_fields.h"
#include "trace/directory/trace.h"
#include "trace/packet/check.h"

#define FUNCTION_COUNT 6u

static const uint8_t uuid[16] = {'f', 'i', 'x', 't', 'u', 'r', 'e', 103};

static struct cunei_function functions[FUNCTION_COUNT] = {
    {1024, 1, "a", "f", "/x/a.py", 0},         {1025, 1, "a", "g", "/x/a.py", 0},
    {1026, 1, "a", "h", "/x/a.py", 0},         {1027, 0, "", "i", CUNEI_REGION_FILE, 0},
    {1028, 0, "", "j", CUNEI_COUNTER_FILE, 0}, {1029, 0, "", "k", CUNEI_TOKENS_FILE, 0},
};

static const struct cunei_trace_process process = {
    .functions = functions,
    .function_count = FUNCTION_COUNT,
    .dense_count = FUNCTION_COUNT,
    .class_end = CUNEI_FUNCTION_CLASS_END,
};

static const uint8_t kind_of[FUNCTION_COUNT] = {
    [3] = CUNEI_DEFINITION_REGION,
    [4] = CUNEI_DEFINITION_COUNTER,
    [5] = CUNEI_DEFINITION_TOKENS,
};
static const struct cunei_id_kinds kinds = {kind_of, FUNCTION_COUNT};

struct readings {
    struct cunei_profile whole, parts, grown;
    struct cunei_piece one, many, growing;
    struct cunei_walk *walk;
    struct cunei_lines lines;
    struct cunei_lines_reader *line_reader;
    struct cunei_user_facts user_facts;
    struct cunei_user_reader *userreader;
};

static int count_step(void *context, const struct cunei_walk_step *step)
{
    (void)context;
    FUZZ_CHECK(step->depth == 0 || step->frames);
    return 0;
}

/* A million frames that a stack leaves out are allowed, but take their time. */
static bool is_shallow(const uint64_t *words, size_t count)
{
    for (size_t at = 0; at < count; at += cunei_event_words(&words[at], count - at)) {
        if (cunei_record_class(words[at]) == CUNEI_CLASS_STACK &&
            (uint32_t)words[at + 1] > 100)
            return false;
    }
    return true;
}

/* Where a part that begins at `at` ends: somewhere, but not before a record that the
 * one before it says something about. */
static size_t end_of_part(const uint64_t *words, size_t at, size_t count)
{
    uint32_t class = 0;

    do {
        class = cunei_record_class(words[at]);
        at += cunei_event_words(&words[at], count - at);
    } while (at < count && (class == CUNEI_CLASS_UNWIND || class == CUNEI_CLASS_TASK ||
                            words[at] % 3 != 0));
    return at;
}

/* Another stream is read into the profile in between. */
static void take_turns(struct readings *readings)
{
    FUZZ_CHECK(cunei_profile_seal(&readings->grown, &readings->growing) == 0);
    for (uint32_t i = 0; i < readings->grown.slot_count; i++) {
        FUZZ_CHECK(readings->grown.functions[i].open == 0);
        FUZZ_CHECK(readings->grown.functions[i].outstanding == 0);
        FUZZ_CHECK(readings->grown.functions[i].yielded == 0);
    }
    cunei_profile_reopen(&readings->grown, &readings->growing);
}

static void read_parts(struct readings *readings, const struct cunei_packet *head,
                       const uint64_t *words, size_t count)
{
    struct cunei_profile *grown = &readings->grown;
    size_t at = count ? end_of_part(words, 0, count) : 0;

    FUZZ_CHECK(cunei_profile_read(grown, &readings->growing, head, words, at) == 0);
    while (at < count) {
        size_t end = end_of_part(words, at, count);
        if (words[at] % 2 == 0)
            take_turns(readings);
        FUZZ_CHECK(cunei_profile_continue(grown, &readings->growing, head, words + at,
                                          end - at) == 0);
        at = end;
    }
    if (count > 0)
        cunei_piece_end_packet(&readings->growing, head, false);
    take_turns(readings);
}

static void read_packet(struct readings *readings, const struct cunei_packet *head,
                        const uint64_t *words, size_t count)
{
    struct cunei_piece piece = {0};
    struct cunei_buffer text = {0};

    FUZZ_CHECK(
        cunei_profile_read(&readings->whole, &readings->one, head, words, count) == 0);
    FUZZ_CHECK(cunei_profile_read(&readings->parts, &piece, head, words, count) == 0);
    read_parts(readings, head, words, count);
    FUZZ_CHECK(cunei_profile_seal(&readings->parts, &piece) == 0);
    FUZZ_CHECK(cunei_profile_join(&readings->parts, &readings->many, &piece) == 0);
    FUZZ_CHECK(cunei_walk_packet(readings->walk, head, words, count) == 0);
    FUZZ_CHECK(cunei_lines_read(readings->line_reader, head, words, count) == 0);
    FUZZ_CHECK(cunei_user_reader_read(readings->userreader, head, words, count) == 0);
    for (size_t at = 0; at < count; at += cunei_event_words(&words[at], count - at)) {
        if (cunei_record_class(words[at]) < CUNEI_FUNCTION_FIRST)
            cunei_event_fields_format(&text, &words[at], at % 2 == 0);
    }
    cunei_buffer_fini(&text);
}

/* What was spent is a difference: without activations nothing must be left of it. */
static void check_spent(const struct cunei_facts *facts)
{
    FUZZ_CHECK(cunei_histogram_count(&facts->histogram) > 0 ||
               cunei_facts_spent(facts) == 0);
}

/* Not the times: what a deep stack leaves out may be known on one side only. */
static void compare(const struct readings *readings)
{
    for (uint32_t i = 0; i < readings->whole.slot_count; i++) {
        const struct cunei_facts *whole = &readings->whole.functions[i];
        const struct cunei_facts *parts = &readings->parts.functions[i];
        check_spent(whole);
        check_spent(parts);
        FUZZ_CHECK(whole->calls == parts->calls);
        FUZZ_CHECK(i == 0 || whole->resumes == parts->resumes);
    }
    FUZZ_CHECK(readings->whole.events == readings->parts.events);
    FUZZ_CHECK(readings->whole.switches == readings->parts.switches);
    FUZZ_CHECK(readings->whole.tasks.count == readings->parts.tasks.count);
    FUZZ_CHECK(readings->one.thread_count == readings->many.thread_count);
}

static bool is_same_histogram(const struct cunei_histogram *a,
                              const struct cunei_histogram *b)
{
    return a->first == b->first && a->span == b->span &&
           (a->span == 0 ||
            memcmp(a->counts, b->counts, a->span * sizeof(*a->counts)) == 0);
}

/* A part is no piece: nothing is guessed, so that all is the same, times included. */
static void compare_grown(const struct readings *readings)
{
    const struct cunei_profile *whole = &readings->whole, *grown = &readings->grown;

    for (uint32_t i = 0; i < whole->slot_count; i++) {
        const struct cunei_facts *a = &whole->functions[i], *b = &grown->functions[i];
        FUZZ_CHECK(a->calls == b->calls && a->self == b->self && a->total == b->total);
        FUZZ_CHECK(a->max_ns == b->max_ns && a->resumes == b->resumes);
        FUZZ_CHECK(a->recursive == b->recursive && a->raised == b->raised);
        FUZZ_CHECK(a->suspended == b->suspended && a->nested == b->nested);
        FUZZ_CHECK(a->surplus == b->surplus);
        FUZZ_CHECK(is_same_histogram(&a->histogram, &b->histogram));
    }
    FUZZ_CHECK(whole->events == grown->events && whole->lines == grown->lines);
    FUZZ_CHECK(whole->orphans == grown->orphans && whole->unclosed == grown->unclosed);
    FUZZ_CHECK(whole->appeared == grown->appeared && whole->gaps == grown->gaps);
    FUZZ_CHECK(whole->tree->count == grown->tree->count);
    for (uint32_t i = 0; i < whole->tree->count; i++)
        FUZZ_CHECK(whole->tree->nodes[i].self == grown->tree->nodes[i].self &&
                   whole->tree->nodes[i].calls == grown->tree->nodes[i].calls &&
                   whole->tree->nodes[i].gap == grown->tree->nodes[i].gap);
    FUZZ_CHECK(whole->edges->count == grown->edges->count);
    for (uint32_t i = 0; i < whole->edges->count; i++)
        FUZZ_CHECK(whole->edges->items[i].total == grown->edges->items[i].total &&
                   whole->edges->items[i].inclusive ==
                       grown->edges->items[i].inclusive &&
                   whole->edges->items[i].self == grown->edges->items[i].self);
    FUZZ_CHECK(whole->tasks.count == grown->tasks.count);
    for (uint32_t i = 0; i < whole->tasks.count; i++) {
        const struct cunei_task_facts *a = &whole->tasks.items[i];
        const struct cunei_task_facts *b = &grown->tasks.items[i];
        FUZZ_CHECK(a->run == b->run && a->busy == b->busy && a->steps == b->steps);
        FUZZ_CHECK(a->last == b->last && a->has_ended == b->has_ended);
        FUZZ_CHECK(a->has_raised == b->has_raised && a->slot == b->slot);
    }
    FUZZ_CHECK(readings->one.thread_count == readings->growing.thread_count);
}

static void finish(struct readings *readings)
{
    FUZZ_CHECK(cunei_profile_seal(&readings->whole, &readings->one) == 0);
    FUZZ_CHECK(cunei_profile_seal(&readings->grown, &readings->growing) == 0);
    FUZZ_CHECK(cunei_walk_end(readings->walk) == 0);
    FUZZ_CHECK(cunei_lines_end(readings->line_reader) == 0);
    FUZZ_CHECK(cunei_user_reader_end(readings->userreader) == 0);
    FUZZ_CHECK(cunei_user_reader_is_idle(readings->userreader));
    cunei_user_reader_free(readings->userreader);
    FUZZ_CHECK(cunei_user_facts_finish(&readings->user_facts) == 0);
    cunei_user_facts_fini(&readings->user_facts);
    for (uint32_t i = 1; i < readings->lines.count; i++)
        FUZZ_CHECK(readings->lines.items[i].open == 0);
    cunei_lines_fini(&readings->lines);
    compare(readings);
    compare_grown(readings);
    cunei_piece_fini(&readings->one);
    cunei_piece_fini(&readings->many);
    cunei_piece_fini(&readings->growing);
    cunei_profile_fini(&readings->grown);
    cunei_profile_fini(&readings->whole);
    cunei_profile_fini(&readings->parts);
    cunei_walk_free(readings->walk);
}

static void begin_userreader(struct readings *readings)
{
    const struct cunei_user_reader_options options = {
        .facts = &readings->user_facts,
        .functions = functions,
        .function_count = FUNCTION_COUNT,
        .kinds = kinds,
        .wall = {.scale = cunei_tick_scale(1000)},
    };

    cunei_user_facts_init(&readings->user_facts);
    readings->userreader = cunei_user_reader_new(&options);
    FUZZ_CHECK(readings->userreader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cunei_profile_options options = {.function_count = FUNCTION_COUNT,
                                                  .frequency = 1000,
                                                  .kinds = kinds,
                                                  .tree = true,
                                                  .edges = true};
    struct readings readings = {0};
    uint64_t *memory = malloc(size + 1);
    uint64_t last = 0;
    size_t at = 0;

    FUZZ_CHECK(memory);
    if (size > 0)
        memcpy(memory, data, size);
    FUZZ_CHECK(cunei_profile_init(&readings.whole, &options) == 0);
    FUZZ_CHECK(cunei_profile_init(&readings.parts, &options) == 0);
    FUZZ_CHECK(cunei_profile_init(&readings.grown, &options) == 0);
    readings.walk = cunei_walk_new(count_step, NULL, kinds);
    readings.line_reader = cunei_lines_begin(&readings.lines, kinds);
    FUZZ_CHECK(readings.walk && readings.line_reader);
    begin_userreader(&readings);
    while (size - at >= sizeof(struct cunei_packet)) {
        const struct cunei_packet *head = (const void *)((const char *)memory + at);
        if (cunei_trace_check_head(head, uuid, 0) ||
            head->packet_bits / 8 > size - at ||
            head->stream_class != CUNEI_STREAM_EVENTS)
            break;
        const uint64_t *words = (const uint64_t *)(const void *)head;
        size_t word_count = (size_t)(head->content_bits / 64) - CUNEI_PACKET_WORDS;
        struct cunei_trace_events events = cunei_trace_check_events(
            &process, head, words + CUNEI_PACKET_WORDS, word_count);
        /* The reader lets no packet pass that begins before the last one's end. */
        if (!events.wrong && head->timestamp_begin >= last &&
            is_shallow(words + CUNEI_PACKET_WORDS, word_count)) {
            read_packet(&readings, head, words + CUNEI_PACKET_WORDS, events.word_count);
            last = events.last_time;
        }
        at += head->packet_bits / 8;
    }
    finish(&readings);
    free(memory);
    return 0;
}
