// SPDX-License-Identifier: MIT
/* Packets in memory, as in a stream file: the check that everything else relies on. */
#include <stdbool.h>

#include "fuzz.h"
#include "trace/directory/trace.h"
#include "trace/packet/check.h"

static const uint8_t uuid[16] = {'f', 'i', 'x', 't', 'u', 'r', 'e', 103};

static struct cunei_function functions[20010] = {
    {1024, 1, "a", "f", "/x/a.py", 0},
    {1025, 1, "a", "g", "/x/a.py", 0},
    [3] = {1027, 1, "a", "h", "/x/a.py", 0},
    [4] = {1028, 0, "", "i", CUNEI_COUNTER_FILE, 0},
    [5] = {1029, 0, "", "j", CUNEI_TOKENS_FILE, 0},
    [20000] = {CUNEI_FUNCTION_CLASS_END, 1, "a", "far", "/x/a.py", 0},
};

static const struct cunei_trace_process process = {
    .functions = functions,
    .function_count = sizeof(functions) / sizeof(functions[0]),
    .dense_count = 2,
    .class_end = CUNEI_FUNCTION_CLASS_END,
};

/* What a reader of a checked packet believes. */
static void check_words(const struct cunei_packet *head, const uint64_t *words,
                        const struct cunei_trace_events *events)
{
    uint64_t last = head->timestamp_begin;
    size_t at = 0, count = 0;

    for (; at < events->word_count; count++) {
        uint32_t class = cunei_record_class(words[at]);
        uint64_t time = cunei_record_time(words[at], head->timestamp_begin);
        FUZZ_CHECK(time >= last && time - head->timestamp_begin < CUNEI_SPAN_MAX);
        FUZZ_CHECK(class < CUNEI_FUNCTION_FIRST ||
                   cunei_trace_function(&process, class));
        last = time;
        at += cunei_event_words(&words[at], events->word_count - at);
    }
    FUZZ_CHECK(at == events->word_count && count == events->event_count);
    FUZZ_CHECK(last == events->last_time);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t *memory = malloc(size + 1);
    size_t at = 0;

    FUZZ_CHECK(memory);
    if (size > 0)
        memcpy(memory, data, size);
    while (size - at >= sizeof(struct cunei_packet)) {
        const struct cunei_packet *head = (const void *)((const char *)memory + at);
        if (cunei_trace_check_head(head, uuid, 0) || head->packet_bits / 8 > size - at)
            break;
        const uint64_t *words = (const uint64_t *)(const void *)head;
        size_t word_count = (size_t)(head->content_bits / 64) - CUNEI_PACKET_WORDS;
        struct cunei_trace_events events = cunei_trace_check_events(
            &process, head, words + CUNEI_PACKET_WORDS, word_count);
        FUZZ_CHECK(events.word_count <= word_count);
        FUZZ_CHECK(events.wrong || events.word_count == word_count);
        check_words(head, words + CUNEI_PACKET_WORDS, &events);
        at += head->packet_bits / 8;
    }
    free(memory);
    return 0;
}
