// SPDX-License-Identifier: MIT
#include "report/replay/replay_events.h"

#include <inttypes.h>
#include <string.h>

#include "report/replay/event_fields.h"
#include "report/replay/replay_line.h"
#include "report/replay/replay_options.h"
#include "text/format.h"
#include "text/names.h"
#include "text/typed_value.h"
#include "wire/user_event.h"

/* The columns that a name keeps where a line is too long. */
#define NAME_MIN 12u

/* A line inside the innermost open call. */
static int begin(struct cunei_replay_line *replay, const struct cunei_walk_step *step)
{
    int rc = cunei_replay_line_open(replay, step, step->depth);
    if (rc == 0)
        cunei_replay_line_begin(replay, step->time, NULL, step->depth);
    return rc;
}

static void put_copy(struct cunei_replay_line *replay, enum cunei_ink ink,
                     const char *text, size_t size)
{
    struct cunei_buffer copy = {0};

    cunei_buffer_append(&copy, text, strnlen(text, size));
    cunei_replay_line_text(replay, ink, cunei_buffer_text(&copy), NAME_MIN);
    replay->line.failed |= copy.failed;
    cunei_buffer_fini(&copy);
}

static void put_type(struct cunei_replay_line *replay,
                     const struct cunei_exception *event)
{
    struct cunei_buffer type = {0};

    cunei_buffer_append(&type, event->type, strnlen(event->type, event->length));
    cunei_replay_line_text(replay, CUNEI_INK_BAD,
                           type.data ? cunei_format_type(type.data) : "?", NAME_MIN);
    replay->line.failed |= type.failed;
    cunei_buffer_fini(&type);
}

static int print_exception(struct cunei_replay_line *replay,
                           const struct cunei_walk_step *step)
{
    const struct cunei_exception *event = (const void *)step->event;
    enum cunei_phase phase = cunei_record_phase(event->record);

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_BAD, "! ");
    put_type(replay, event);
    if (phase == CUNEI_PHASE_ENTER) {
        cunei_replay_line_place(replay, event->function, event->line);
        return cunei_replay_line_end(replay);
    }
    if (event->handler == 0 && event->handler_line == CUNEI_EXCEPTION_UNHANDLED)
        cunei_replay_line_word(replay, CUNEI_INK_DIM, " not caught");
    else if (event->handler == 0)
        cunei_replay_line_word(replay, CUNEI_INK_DIM, " caught by unrecorded code");
    else {
        cunei_replay_line_word(replay, CUNEI_INK_DIM,
                               phase == CUNEI_PHASE_LEAVE ? " caught by "
                                                          : " re-raised by ");
        cunei_replay_line_name(replay, event->handler, CUNEI_INK_PLAIN);
        cunei_replay_line_place(replay, event->handler, event->handler_line);
    }
    return cunei_replay_line_end(replay);
}

static int print_task(struct cunei_replay_line *replay,
                      const struct cunei_walk_step *step)
{
    const struct cunei_task *event = (const void *)step->event;
    uint32_t index = cunei_tasks_find(&replay->tasks, event->task);
    struct cunei_buffer name = {0};

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_DIM, "task ");
    if (index > 0 && replay->tasks.items[index].name)
        cunei_buffer_append_text(&name, replay->tasks.items[index].name);
    else
        cunei_buffer_format(&name, "%" PRIu64, event->task);
    cunei_replay_line_text(replay, CUNEI_INK_STRONG, name.data ? name.data : "?",
                           NAME_MIN);
    cunei_buffer_fini(&name);
    return cunei_replay_line_end(replay);
}

static int print_name(struct cunei_replay_line *replay,
                      const struct cunei_walk_step *step)
{
    const struct cunei_thread_name *event = (const void *)step->event;

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_DIM, "the thread is named ");
    put_copy(replay, CUNEI_INK_STRONG, event->name, event->length);
    return cunei_replay_line_end(replay);
}

static int print_gap(struct cunei_replay_line *replay,
                     const struct cunei_walk_step *step)
{
    bool begins = cunei_record_phase(step->event[0]) == CUNEI_PHASE_ENTER;

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_DIM,
                           begins ? "recording of calls is switched off"
                                  : "recording of calls is switched on");
    return cunei_replay_line_end(replay);
}

static int print_line(struct cunei_replay_line *replay,
                      const struct cunei_walk_step *step)
{
    const struct cunei_line *event = (const void *)step->event;
    struct cunei_buffer words = {0};

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_buffer_format(&words, "line %" PRIu32, event->line);
    cunei_replay_line_word(replay, CUNEI_INK_DIM, words.data ? words.data : "line");
    cunei_replay_line_place(replay, event->function, event->line);
    cunei_buffer_fini(&words);
    return cunei_replay_line_end(replay);
}

static void put_value(struct cunei_replay_line *replay,
                      const struct cunei_user_value *value)
{
    struct cunei_user_event_text name = cunei_user_event_name(value);
    struct cunei_buffer text = {0};

    put_copy(replay, CUNEI_INK_STRONG, name.data, name.size);
    if (value->kind == CUNEI_VALUE_NONE)
        return;
    cunei_replay_line_word(replay, CUNEI_INK_DIM,
                           value->kind == CUNEI_VALUE_ERROR ? ": " : " = ");
    cunei_typed_value_format_event(value, false, &text);
    put_copy(replay, value->kind == CUNEI_VALUE_ERROR ? CUNEI_INK_BAD : CUNEI_INK_PLAIN,
             cunei_buffer_text(&text), text.size);
    replay->line.failed |= text.failed;
    cunei_buffer_fini(&text);
}

/* A mark, parameter or metadata of the program, after the name of its class. */
static int print_value(struct cunei_replay_line *replay,
                       const struct cunei_walk_step *step)
{
    const struct cunei_user_value *event = (const void *)step->event;
    uint32_t class = cunei_record_class(event->record);

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_DIM, cunei_event_class(class)->name);
    cunei_replay_line_word(replay, CUNEI_INK_DIM, " ");
    put_value(replay, event);
    return cunei_replay_line_end(replay);
}

static int print_counter(struct cunei_replay_line *replay,
                         const struct cunei_walk_step *step)
{
    const struct cunei_counter *event = (const void *)step->event;
    bool is_set = cunei_record_phase(event->record) == CUNEI_PHASE_ENTER;
    struct cunei_buffer words = {0};

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_DIM, "counter ");
    cunei_replay_line_name(replay, event->counter, CUNEI_INK_STRONG);
    cunei_buffer_append_text(&words, " = ");
    cunei_typed_value_format_number(
        event->total, event->kind & CUNEI_COUNTER_TOTAL_DOUBLE, false, &words);
    if (!is_set) {
        cunei_buffer_append_text(&words, ", changed by ");
        cunei_typed_value_format_number(
            event->value, event->kind & CUNEI_COUNTER_VALUE_DOUBLE, false, &words);
    }
    cunei_replay_line_word(replay, CUNEI_INK_PLAIN, cunei_buffer_text(&words));
    replay->line.failed |= words.failed;
    cunei_buffer_fini(&words);
    return cunei_replay_line_end(replay);
}

static int print_token(struct cunei_replay_line *replay,
                       const struct cunei_walk_step *step)
{
    const struct cunei_token *event = (const void *)step->event;
    enum cunei_phase phase = cunei_record_phase(event->record);
    struct cunei_buffer words = {0};

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_DIM, "tokens of ");
    cunei_replay_line_name(replay, event->name, CUNEI_INK_STRONG);
    cunei_buffer_format(&words, " %" PRIu64, event->serial);
    if (phase == CUNEI_PHASE_RESUME)
        cunei_buffer_format(&words, ": %" PRIu32, event->count);
    else
        cunei_buffer_append_text(&words,
                                 phase == CUNEI_PHASE_ENTER ? " begin" : " end");
    cunei_replay_line_word(replay, CUNEI_INK_PLAIN, cunei_buffer_text(&words));
    replay->line.failed |= words.failed;
    cunei_buffer_fini(&words);
    return cunei_replay_line_end(replay);
}

/* A pause is printed at its end, with its length. */
static int print_gc(struct cunei_replay_line *replay,
                    const struct cunei_walk_step *step)
{
    const struct cunei_gc *event = (const void *)step->event;
    uint64_t begin = replay->collected_since;
    bool is_known = begin < step->time;
    uint64_t took_ns = cunei_replay_line_duration(replay, step->time - begin);
    struct cunei_buffer words = {0};

    if (replay->is_collecting || took_ns < replay->options->min_time_ns)
        return 0;
    int rc = cunei_replay_line_open(replay, step, step->depth);
    if (rc != 0)
        return rc;
    cunei_replay_line_begin(replay, begin, is_known ? &took_ns : NULL, step->depth);
    cunei_replay_line_word(replay, CUNEI_INK_WARM, "gc");
    cunei_buffer_format(&words, " of generation %" PRIu32 " freed ", event->generation);
    cunei_format_several(&words, event->collected, "object");
    cunei_replay_line_word(replay, CUNEI_INK_DIM, cunei_buffer_text(&words));
    replay->line.failed |= words.failed;
    cunei_buffer_fini(&words);
    return cunei_replay_line_end(replay);
}

/* A class without a sentence of its own: its name and its fields. */
static int print_fields(struct cunei_replay_line *replay,
                        const struct cunei_walk_step *step)
{
    uint32_t class = cunei_record_class(step->event[0]);
    struct cunei_buffer fields = {0};

    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_replay_line_word(replay, CUNEI_INK_DIM, cunei_event_class(class)->name);
    cunei_event_fields_format(&fields, step->event, false);
    put_copy(replay, CUNEI_INK_PLAIN, cunei_buffer_text(&fields), fields.size);
    replay->line.failed |= fields.failed;
    cunei_buffer_fini(&fields);
    return cunei_replay_line_end(replay);
}

static int keep_task(struct cunei_replay_line *replay,
                     const struct cunei_walk_step *step)
{
    const struct cunei_task *task = (const void *)step->event;

    if (task->length > 0 && task->name[0])
        cunei_tasks_name(&replay->tasks, cunei_tasks_find(&replay->tasks, task->task),
                         task->name, task->length, step->time);
    return 0;
}

static int keep_gc(struct cunei_replay_line *replay, const struct cunei_walk_step *step)
{
    replay->collected_since =
        replay->is_collecting ? replay->collecting_since : step->time;
    replay->is_collecting = cunei_record_phase(step->event[0]) == CUNEI_PHASE_ENTER;
    replay->collecting_since = step->time;
    return 0;
}

static int keep_argument(struct cunei_replay_line *replay,
                         const struct cunei_walk_step *step)
{
    return cunei_replay_arguments_add(&replay->arguments, step);
}

typedef int (*step_function)(struct cunei_replay_line *replay,
                             const struct cunei_walk_step *step);

/* What a replay does with an event; a class that is not listed prints its fields. */
static const struct {
    step_function keep; /* also if no line is printed */
    step_function print;
    bool is_hidden; /* it has no line of its own */
    bool has_duration;
} events[CUNEI_CLASS_COUNT] = {
    [CUNEI_CLASS_DEFINE] = {.is_hidden = true},
    [CUNEI_CLASS_GAP] = {.print = print_gap},
    [CUNEI_CLASS_DEMOTE] = {.is_hidden = true},
    [CUNEI_CLASS_TASK] = {.keep = keep_task, .print = print_task},
    [CUNEI_CLASS_THREAD_NAME] = {.print = print_name},
    [CUNEI_CLASS_EXCEPTION] = {.print = print_exception},
    [CUNEI_CLASS_GC] = {.keep = keep_gc, .print = print_gc, .has_duration = true},
    [CUNEI_CLASS_LINE] = {.print = print_line},
    [CUNEI_CLASS_ARGUMENT] = {.keep = keep_argument, .is_hidden = true},
    [CUNEI_CLASS_MARK] = {.print = print_value},
    [CUNEI_CLASS_COUNTER] = {.print = print_counter},
    [CUNEI_CLASS_PARAMETER] = {.print = print_value},
    [CUNEI_CLASS_SAMPLE] = {.is_hidden = true},
    [CUNEI_CLASS_TAG] = {.is_hidden = true},
    [CUNEI_CLASS_METADATA] = {.print = print_value},
    [CUNEI_CLASS_TOKEN] = {.print = print_token},
};

int cunei_replay_event_keep(struct cunei_replay_line *replay,
                            const struct cunei_walk_step *step)
{
    uint32_t class = cunei_event_class_of(step->event[0]);

    return events[class].keep ? events[class].keep(replay, step) : 0;
}

int cunei_replay_event_print(struct cunei_replay_line *replay,
                             const struct cunei_walk_step *step)
{
    uint32_t class = cunei_event_class_of(step->event[0]);
    /* --min-time hides events without a duration. */
    bool is_shown = (replay->options->min_time_ns == 0 || events[class].has_duration) &&
                    cunei_replay_line_shows(replay, step->depth);

    if (events[class].is_hidden || !is_shown)
        return 0;
    return events[class].print ? events[class].print(replay, step)
                               : print_fields(replay, step);
}

int cunei_replay_switch_print(struct cunei_replay_line *replay,
                              const struct cunei_walk_step *step)
{
    struct cunei_buffer words = {0};

    /* With --min-time open calls may be printed after the switch, in the wrong order.
     */
    if (replay->options->min_time_ns > 0)
        return 0;
    int rc = begin(replay, step);
    if (rc != 0)
        return rc;
    cunei_buffer_format(&words, "greenlet %" PRIu64, step->greenlet);
    cunei_replay_line_word(replay, CUNEI_INK_DIM, words.data ? words.data : "greenlet");
    cunei_replay_line_word(replay, CUNEI_INK_DIM, " runs");
    cunei_buffer_fini(&words);
    return cunei_replay_line_end(replay);
}
