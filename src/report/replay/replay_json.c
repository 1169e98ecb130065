// SPDX-License-Identifier: MIT
#include "report/replay/replay_json.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/replay/replay_line.h"
#include "report/replay/replay_options.h"

static void put_text(struct cunei_buffer *out, const char *key, const char *text)
{
    cunei_buffer_format(out, ",\"%s\":", key);
    cunei_text_json(out, text, strlen(text));
}

static const char *end_of(const struct cunei_walk_step *step)
{
    if (step->is_raised)
        return "raise";
    if (step->is_yield)
        return "yield";
    if (cunei_replay_line_is_unrecorded(step))
        return "unrecorded";
    return step->kind == CUNEI_WALK_LEAVE    ? "return"
           : step->kind == CUNEI_WALK_MISSED ? "missing"
           : step->is_suspended              ? "suspended"
                                             : "open";
}

int cunei_replay_json_print(struct cunei_replay_line *replay,
                            const struct cunei_walk_step *step)
{
    const struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
    const struct cunei_function *names =
        cunei_trace_function(replay->process, step->function);
    struct cunei_buffer *line = &replay->line;
    uint64_t took_ns = cunei_replay_line_age(replay, step);

    if (took_ns < replay->options->min_time_ns ||
        !cunei_replay_line_shows(replay, step->depth - 1))
        return 0;
    cunei_buffer_format(
        line, "{\"pid\":%" PRIu32 ",\"thread\":%" PRIu32 ",\"depth\":%" PRIu32,
        replay->process->metadata.pid, replay->tid, step->depth - 1);
    if (frame->is_known)
        cunei_buffer_format(line, ",\"begin_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64,
                            cunei_replay_line_time(replay, frame->entered), took_ns);
    else
        cunei_buffer_append_text(line, ",\"begin_ns\":null,\"duration_ns\":null");
    put_text(line, "end", end_of(step));
    cunei_buffer_format(line, ",\"resumed\":%s", frame->is_resumed ? "true" : "false");
    put_text(line, "module", names ? names->module : "");
    put_text(line, "qualname", names ? names->qualname : "");
    put_text(line, "file", names ? names->file : "");
    cunei_buffer_format(line, ",\"line\":%" PRIu32, names ? names->line : 0);
    if (frame->tag > 0)
        cunei_buffer_format(line, ",\"arguments\":[%s]",
                            cunei_replay_arguments_text(&replay->arguments, frame));
    if (replay->arguments.result.size > 0)
        put_text(line, "result", replay->arguments.result.data);
    cunei_buffer_append_text(line, "}");
    return cunei_replay_line_end(replay);
}
