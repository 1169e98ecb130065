// SPDX-License-Identifier: MIT
/* The spans of a tape as text: what began and ended when, and how. */
#ifndef CUNEI_TESTS_SPANS_TEXT_H
#define CUNEI_TESTS_SPANS_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "chance.h"
#include "model/spans/piece_join.h"
#include "model/spans/spans.h"
#include "model/walk/packet_cut.h"

static struct tape tape;
static struct cunei_buffer spans_text;
static struct cunei_id_kinds kinds;
static const struct cunei_cut_options *cutting; /* NULL: the tape is reported whole */

static const char *const begins[] = {"(", "(resume ", "(switch ", "(found "};
static const char *const ends[] = {")",        " yield)",  " raise)",
                                   " switch)", " unseen)", " open)"};

static inline int note_thread(void *context, const struct cunei_packet *packet,
                              uint64_t time, bool is_begin)
{
    (void)time;
    if (is_begin)
        cunei_buffer_format(context, "thread %u ", packet->thread);
    return 0;
}

static inline int note_open(void *context, uint32_t function, uint64_t time,
                            enum cunei_span_begin how)
{
    cunei_buffer_format(context, "%s%c%u ", begins[how], 'F' + (int)(function - F),
                        (unsigned)time);
    return 0;
}

static inline int note_close(void *context, uint32_t function, uint64_t time,
                             enum cunei_span_end how)
{
    cunei_buffer_format(context, "%c%u%s ", 'F' + (int)(function - F), (unsigned)time,
                        ends[how]);
    return 0;
}

static inline int note_event(void *context, const uint64_t *event, uint64_t time)
{
    cunei_buffer_format(context, "!%u-%u ", cunei_record_class(event[0]),
                        (unsigned)time);
    return 0;
}

static inline int note_lost(void *context, uint64_t time, uint64_t count)
{
    cunei_buffer_format(context, "lost %u at %u ", (unsigned)count, (unsigned)time);
    return 0;
}

static const struct cunei_spans_methods methods = {
    .thread = note_thread,
    .open = note_open,
    .close = note_close,
    .event = note_event,
    .lost = note_lost,
};

static inline void append_piece(struct cunei_piece_join *seam, size_t begin, size_t end)
{
    struct cunei_buffer text = {0};
    struct cunei_spans *piece = cunei_spans_new(&(struct cunei_spans_options){
        .methods = &methods, .context = &text, .kinds = kinds});

    for (size_t i = begin; i < end; i++) {
        struct cunei_packet *head = &tape.packets[i]->head;
        if (!cutting) {
            assert_int_equal(cunei_spans_packet(piece, head, tape.packets[i]->words,
                                                tape.packets[i]->count),
                             0);
            continue;
        }
        struct cunei_cut cut = {.options = cutting};
        assert_int_equal(cunei_cut_packet(&cut, head, tape.packets[i]->words,
                                          tape.packets[i]->count),
                         0);
        assert_int_equal(
            cunei_spans_packet(piece, &cut.packet, cut.words, cut.word_count), 0);
        cunei_cut_fini(&cut);
    }
    assert_int_equal(cunei_spans_end(piece), 0);
    assert_int_equal(cunei_piece_join_pass(seam, piece), 0);
    if (text.data)
        cunei_buffer_append_text(&spans_text, text.data);
    cunei_buffer_fini(&text);
    cunei_spans_free(piece);
}

/* In every other round, G and one more are regions. */
static inline void choose_kinds(uint64_t round)
{
    static const uint8_t regions[FUNCTION_COUNT] = {
        [1] = CUNEI_DEFINITION_REGION, [4] = CUNEI_DEFINITION_REGION};

    kinds = (struct cunei_id_kinds){round % 2 ? regions : NULL, FUNCTION_COUNT};
}

/* The tape's spans, read in pieces of `size` packets each; 0: of any number. */
static inline const char *spans_in_pieces(size_t size)
{
    struct cunei_piece_join *seam = cunei_piece_join_new(&methods, &spans_text, kinds);

    cunei_buffer_clear(&spans_text);
    for (size_t begin = 0, end; begin < tape.count; begin = end) {
        end = begin + (size ? size : 1 + dice(5));
        end = end < tape.count ? end : tape.count;
        append_piece(seam, begin, end);
    }
    assert_int_equal(cunei_piece_join_end(seam), 0);
    cunei_piece_join_free(seam);
    assert_false(spans_text.failed);
    return spans_text.data ? spans_text.data : "";
}

static inline const char *spans_at_once(void)
{
    return spans_in_pieces(TAPE_PACKETS);
}

/* Around each test. */
static inline int set_up(void **state)
{
    (void)state;
    tape = (struct tape){0};
    kinds = (struct cunei_id_kinds){0};
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    tape_fini(&tape);
    cunei_buffer_fini(&spans_text);
    return 0;
}

#endif
