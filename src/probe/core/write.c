// SPDX-License-Identifier: MIT
#include "probe/core/write.h"

#include <string.h>

#include "base/text.h"
#include "rt/clock.h"
#include "rt/recorder.h"

struct cunei_stream *cunei_write_room(uint64_t *now, unsigned words, bool top_is_open)
{
    struct cunei_stream *stream = cunei_stream_own;

    *now = cunei_clock_read();
    if (cunei_stream_has_room(stream, *now, words))
        return stream;
    return cunei_recorder_room(now, words, top_is_open);
}

void cunei_write_function(uint32_t id, enum cunei_phase phase)
{
    cunei_write_phase(id, phase,
                      phase == CUNEI_PHASE_LEAVE || phase == CUNEI_PHASE_YIELD);
}

void cunei_write_phase(uint32_t id, enum cunei_phase phase, bool top_is_open)
{
    unsigned words = id < CUNEI_FUNCTION_CLASS_END ? 1 : 2;
    uint64_t now;
    struct cunei_stream *stream = cunei_write_room(&now, words, top_is_open);

    if (!stream)
        return;
    if (words == 2) {
        cunei_stream_store(stream, 0, cunei_record(now, CUNEI_CLASS_CALL, phase));
        cunei_stream_store(stream, 1, id);
    } else
        cunei_stream_store(stream, 0, cunei_record(now, id, phase));
    cunei_stream_publish(stream, now, words);
}

uint64_t cunei_write_count_last(uint32_t id, enum cunei_phase phase)
{
    const struct cunei_stream *stream = cunei_stream_own;
    bool is_call = id >= CUNEI_FUNCTION_CLASS_END;
    uint64_t class = is_call ? CUNEI_CLASS_CALL : id, size = is_call ? 2 : 1;
    uint64_t count = 0;

    if (!stream || !stream->slot || !stream->packet)
        return 0;
    const uint64_t *words = (const void *)stream->packet;
    uint64_t at = stream->content_bits / 64, head = sizeof(*stream->packet) / 8;
    for (; at >= head + size; at -= size, count++) {
        const uint64_t *event = &words[at - size];
        if (cunei_record_class(event[0]) != class ||
            cunei_record_phase(event[0]) != phase || (is_call && event[1] != id))
            break;
    }
    return count;
}

void cunei_write_unwind(uint32_t id, enum cunei_phase phase, uint64_t run)
{
    unsigned words = id < CUNEI_FUNCTION_CLASS_END ? 3 : 4;
    uint64_t now;
    struct cunei_stream *stream = cunei_write_room(&now, words, true);

    if (!stream) {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM); /* the second of the two */
        return;
    }
    cunei_stream_store(stream, 0, cunei_record(now, CUNEI_CLASS_UNWIND, phase));
    cunei_stream_store(stream, 1, run);
    if (words == 4) {
        cunei_stream_store(stream, 2,
                           cunei_record(now, CUNEI_CLASS_CALL, CUNEI_PHASE_LEAVE));
        cunei_stream_store(stream, 3, id);
    } else
        cunei_stream_store(stream, 2, cunei_record(now, id, CUNEI_PHASE_LEAVE));
    cunei_stream_publish(stream, now, words);
}

static uint64_t set_time(uint64_t record, uint64_t now)
{
    return (record & ~CUNEI_TIME_MASK) | (now & CUNEI_TIME_MASK);
}

void cunei_write_words(uint64_t *words, unsigned count, bool top_is_open)
{
    uint64_t now;
    struct cunei_stream *stream = cunei_write_room(&now, count, top_is_open);

    if (!stream)
        return;
    words[0] = set_time(words[0], now);
    for (unsigned i = 0; i < count; i++)
        cunei_stream_store(stream, i, words[i]);
    cunei_stream_publish(stream, now, count);
}

void cunei_write_text(uint64_t *words, unsigned count, const char *text, size_t size,
                      bool top_is_open)
{
    uint64_t now;

    size = cunei_text_cut(text, size, CUNEI_WRITE_TEXT_MAX);
    unsigned text_words = (unsigned)((size + 7) / 8);
    words[count - 1] = (words[count - 1] & UINT32_MAX) | (uint64_t)text_words * 8 << 32;
    struct cunei_stream *stream =
        cunei_write_room(&now, count + text_words, top_is_open);
    if (!stream)
        return;
    words[0] = set_time(words[0], now);
    for (unsigned i = 0; i < count; i++)
        cunei_stream_store(stream, i, words[i]);
    for (unsigned i = 0; i < text_words; i++) {
        uint64_t word = 0;
        size_t left = size - (size_t)i * 8;
        memcpy(&word, text + (size_t)i * 8, left < 8 ? left : 8);
        cunei_stream_store(stream, count + i, word);
    }
    cunei_stream_publish(stream, now, count + text_words);
}

bool cunei_write_has_old_packet(void)
{
    const unsigned words =
        16; /* the end of a function, and the events written with it */
    const struct cunei_stream *stream = cunei_stream_own;
    uint64_t now;

    if (!stream || !stream->slot)
        return false;
    uint64_t sequence = stream->packet->sequence;
    stream = cunei_write_room(&now, words, true);
    return stream && stream->packet->sequence == sequence;
}
