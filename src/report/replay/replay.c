// SPDX-License-Identifier: MIT
#include "report/replay/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "model/facts/import_system.h"
#include "model/walk/packet_cut.h"
#include "report/replay/replay_events.h"
#include "report/replay/replay_json.h"
#include "report/replay/replay_line.h"
#include "text/names.h"
#include "text/terminal_text.h"
#include "trace/directory/trace_begin.h"
#include "wire/user_event.h"

/* Columns for the name of a thread, where they are in front of lines. */
#define LABEL_WIDTH 12u

static void put_how(struct cunei_replay_line *replay,
                    const struct cunei_walk_step *step)
{
    if (step->is_yield)
        cunei_replay_line_word(replay, CUNEI_INK_DIM, " yield");
    if (step->is_raised)
        cunei_replay_line_word(replay, CUNEI_INK_BAD, " ! raised");
    if (cunei_replay_line_is_unrecorded(step))
        cunei_replay_line_word(replay, CUNEI_INK_DIM, " end not recorded");
    else if (step->kind == CUNEI_WALK_MISSED)
        cunei_replay_line_word(replay, CUNEI_INK_BAD, " end is missing");
    if (step->kind == CUNEI_WALK_OPEN)
        cunei_replay_line_word(replay, CUNEI_INK_WARM,
                               replay->is_cut       ? " … continues"
                               : step->is_suspended ? " still suspended"
                                                    : " still open");
}

/* A call has ended, or the trace ends inside it. */
static int close_frame(struct cunei_replay_line *replay,
                       const struct cunei_walk_step *step)
{
    uint32_t depth = step->depth - 1;
    const struct cunei_walk_frame *frame = &step->frames[depth];
    uint64_t took_ns = cunei_replay_line_age(replay, step);
    int rc = 0;

    if (!frame->mark) {
        if (took_ns < replay->options->min_time_ns ||
            !cunei_replay_line_shows(replay, depth))
            return 0;
        rc = cunei_replay_line_open(replay, step, depth);
    }
    if (rc != 0 || !cunei_replay_line_shows(replay, depth))
        return rc;
    cunei_replay_line_begin(
        replay, frame->mark || !frame->is_known ? step->time : frame->entered,
        frame->is_known && !replay->is_cut ? &took_ns : NULL, depth);
    if (frame->mark)
        cunei_replay_line_word(replay, CUNEI_INK_PLAIN, "} ");
    else if (frame->is_resumed)
        cunei_replay_line_word(replay, CUNEI_INK_DIM, "resume ");
    cunei_replay_line_name(replay, step->function,
                           frame->mark ? CUNEI_INK_DIM : CUNEI_INK_STRONG);
    if (!frame->mark)
        cunei_replay_line_put_arguments(replay, frame);
    if (step->kind == CUNEI_WALK_LEAVE)
        cunei_replay_line_put_result(replay);
    put_how(replay, step);
    if (!frame->mark)
        cunei_replay_line_place(replay, step->function, 0);
    return cunei_replay_line_end(replay);
}

static int put_note(struct cunei_replay_line *replay,
                    const struct cunei_walk_step *step, const char *words)
{
    int rc = cunei_replay_line_open(replay, step, step->depth);
    if (rc != 0)
        return rc;
    cunei_replay_line_begin(replay, step->time, NULL, step->depth);
    if (step->kind == CUNEI_WALK_ORPHAN)
        cunei_replay_line_name(replay, step->function, CUNEI_INK_PLAIN);
    cunei_replay_line_word(replay, CUNEI_INK_BAD, words);
    return cunei_replay_line_end(replay);
}

static bool is_thread_wanted(const struct cunei_replay_line *replay,
                             const struct cunei_packet *packet)
{
    const char *wanted = replay->options->thread;
    char name[CUNEI_PACKET_THREAD_NAME + 1] = "";
    char tid[16];

    if (!wanted)
        return true;
    memcpy(name, packet->thread_name, CUNEI_PACKET_THREAD_NAME);
    (void)snprintf(tid, sizeof(tid), "%" PRIu32, packet->vtid);
    return strcmp(wanted, tid) == 0 || cunei_glob_matches(wanted, name);
}

/* In a column, in front of each line of the thread. */
static void make_label(struct cunei_replay_line *replay,
                       const struct cunei_packet *packet)
{
    struct cunei_buffer text = {0};

    cunei_buffer_clear(&replay->label);
    if (packet->thread_name[0])
        cunei_buffer_append(&text, packet->thread_name,
                            strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
    else
        cunei_buffer_format(&text, "%" PRIu32, packet->vtid);
    cunei_buffer_format(&replay->label, "%" PRIu32 " ", packet->vpid);
    size_t end = cunei_terminal_width(cunei_buffer_text(&replay->label)) + LABEL_WIDTH;
    cunei_terminal_text(&replay->label, cunei_buffer_text(&text), LABEL_WIDTH);
    while (cunei_terminal_width(cunei_buffer_text(&replay->label)) < end &&
           !replay->label.failed)
        cunei_buffer_append_text(&replay->label, " ");
    cunei_buffer_append_text(&replay->label, " ");
    replay->label.failed |= text.failed;
    cunei_buffer_fini(&text);
}

/* The title is printed above the first line of the thread. */
static int begin_thread(struct cunei_replay_line *replay,
                        const struct cunei_packet *packet)
{
    const struct cunei_style *style = &replay->options->style;
    char name[CUNEI_PACKET_THREAD_NAME + 1] = "";
    struct cunei_buffer text = {0};

    cunei_buffer_clear(&replay->title);
    replay->is_cut = false;
    replay->is_collecting = false;
    replay->tid = packet->vtid;
    replay->is_wanted = is_thread_wanted(replay, packet);
    replay->is_found |= replay->is_wanted;
    if (!replay->is_wanted || replay->options->json)
        return 0;
    if (replay->has_labels) {
        make_label(replay, packet);
        return 0;
    }
    memcpy(name, packet->thread_name, CUNEI_PACKET_THREAD_NAME);
    cunei_format_program(&text, &replay->process->description);
    cunei_buffer_format(&text, " · %s%s(process %" PRIu32 ", thread %" PRIu32 ")", name,
                        name[0] ? " " : "", packet->vpid, packet->vtid);
    cunei_style_begin(style, &replay->title, CUNEI_INK_HEAD);
    cunei_terminal_text(&replay->title, cunei_buffer_text(&text), SIZE_MAX);
    cunei_style_end(style, &replay->title, CUNEI_INK_HEAD);
    cunei_buffer_append_text(&replay->title, "\n");
    replay->title.failed |= text.failed;
    cunei_buffer_fini(&text);
    return 0;
}

static bool is_end(const struct cunei_walk_step *step)
{
    return step->kind == CUNEI_WALK_LEAVE || step->kind == CUNEI_WALK_MISSED ||
           step->kind == CUNEI_WALK_OPEN;
}

static int print_step(struct cunei_replay_line *replay,
                      const struct cunei_walk_step *step)
{
    if (replay->options->json)
        return is_end(step) ? cunei_replay_json_print(replay, step) : 0;
    if (is_end(step))
        return close_frame(replay, step);
    switch (step->kind) {
    case CUNEI_WALK_ENTER:
        /* With a minimum time a call is printed when it ends, or above a call inside
         * it. */
        return replay->options->min_time_ns > 0 ||
                       !cunei_replay_line_shows(replay, step->depth - 1)
                   ? 0
                   : cunei_replay_line_open(replay, step, step->depth - 1);
    case CUNEI_WALK_ORPHAN:
        return put_note(replay, step, " returned, but its call is missing");
    case CUNEI_WALK_LOST:
        return put_note(replay, step, "… events were lost here");
    case CUNEI_WALK_SWITCH:
        return cunei_replay_switch_print(replay, step);
    case CUNEI_WALK_EVENT:
        return cunei_replay_event_print(replay, step);
    default:
        return 0;
    }
}

/* The step is the first one after --until: print the open calls, not the step itself.
 */
static int cut_off(struct cunei_replay_line *replay, const struct cunei_walk_step *step)
{
    struct cunei_walk_step open = *step;
    bool is_begin = step->kind == CUNEI_WALK_ENTER || step->kind == CUNEI_WALK_FOUND ||
                    step->kind == CUNEI_WALK_AGAIN;
    int rc = 0;

    replay->is_cut = true;
    open.kind = CUNEI_WALK_OPEN;
    open.is_yield = open.is_raised = false;
    open.depth -= is_begin;
    for (; rc == 0 && open.depth > 0; open.depth--) {
        open.function = open.frames[open.depth - 1].function;
        rc = print_step(replay, &open);
    }
    return rc == 0 ? CUNEI_REPLAY_DONE : rc;
}

int cunei_replay_step(void *context, const struct cunei_walk_step *step)
{
    struct cunei_replay_line *replay = context;
    int rc = 0;

    replay->now = step->time;
    if (step->kind == CUNEI_WALK_THREAD)
        return begin_thread(replay, step->packet);
    if (!replay->is_wanted)
        return 0;
    uint64_t ns = cunei_replay_line_time(replay, step->time);
    bool is_late = ns > replay->options->until_ns;
    /* Events before --from are kept: later lines may need them. */
    if (step->kind == CUNEI_WALK_EVENT && !is_late)
        rc = cunei_replay_event_keep(replay, step);
    if (rc == 0 && !replay->is_cut && ns >= replay->options->from_ns)
        rc = is_late ? cut_off(replay, step) : print_step(replay, step);
    if (is_end(step))
        cunei_replay_arguments_remove(&replay->arguments,
                                      &step->frames[step->depth - 1]);
    return rc;
}

static enum cunei_cut_choice choose(const struct cunei_replay_options *options,
                                    const struct cunei_function *function)
{
    if (!function->module)
        return CUNEI_CUT_WANTED;
    if (!options->no_fold && !options->json && cunei_is_import_system(function))
        return CUNEI_CUT_FOLDED;
    return cunei_definition_of(function) != CUNEI_DEFINITION_FUNCTION ||
                   cunei_patterns_include(&options->patterns, function->module,
                                          function->qualname, function->file)
               ? CUNEI_CUT_WANTED
           : cunei_patterns_have_project(&options->patterns) ? CUNEI_CUT_FOLDED
                                                             : CUNEI_CUT_UNWANTED;
}

void cunei_replay_choose(const struct cunei_replay_options *options,
                         const struct cunei_trace_process *process, uint32_t first,
                         uint8_t *choices)
{
    for (uint32_t i = first; i < process->function_count; i++)
        choices[i] = (uint8_t)choose(options, &process->functions[i]);
}

/* What is shown of the functions of a process, owned by the caller; NULL with *rc 0:
 * all. */
static uint8_t *choose_functions(const struct cunei_replay_options *options,
                                 const struct cunei_trace_process *process,
                                 bool *has_any, int *rc)
{
    uint8_t *functions = calloc(process->function_count + (size_t)1, 1);
    bool is_whole = true;

    *rc = functions ? 0 : -ENOMEM;
    if (functions)
        cunei_replay_choose(options, process, 0, functions);
    for (uint32_t i = 0; functions && i < process->function_count; i++) {
        is_whole &= functions[i] == CUNEI_CUT_WANTED;
        *has_any |= functions[i] == CUNEI_CUT_WANTED;
    }
    if (is_whole) {
        free(functions);
        return NULL;
    }
    return functions;
}

/* The packet without the functions that are not shown. */
static int walk_packet(struct cunei_walk *walk, struct cunei_cut *cut,
                       const struct cunei_trace_packet *packet)
{
    if (!cut->options->functions)
        return cunei_walk_packet(walk, packet->head, packet->words, packet->word_count);
    int rc = cunei_cut_packet(cut, packet->head, packet->words, packet->word_count);
    return rc < 0 ? rc
                  : cunei_walk_packet(walk, &cut->packet, cut->words, cut->word_count);
}

static int replay_stream(struct cunei_replay_line *replay,
                         const struct cunei_trace_stream *stream,
                         const struct cunei_cut_options *selection,
                         struct cunei_trace_error *error)
{
    struct cunei_cut cut = {.options = selection};
    struct cunei_walk *walk =
        cunei_walk_new(cunei_replay_step, replay, cunei_trace_kinds(replay->process));
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(replay->process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    uint32_t done_thread = 0;
    bool is_done = false;
    int rc = -ENOMEM;

    while (walk && reader && (rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        if (is_done && packet.head->thread == done_thread)
            continue;
        rc = walk_packet(walk, &cut, &packet);
        is_done = rc == CUNEI_REPLAY_DONE;
        done_thread = packet.head->thread;
        if (rc < 0)
            break;
    }
    if (rc == -EBADMSG)
        *error = *cunei_trace_reader_error(reader);
    if (rc == 0 || rc == -EBADMSG) {
        int end_rc = cunei_walk_end(walk);
        rc = end_rc < 0 ? end_rc : rc;
    }
    cunei_trace_reader_close(reader);
    cunei_walk_free(walk);
    cunei_cut_fini(&cut);
    return rc;
}

/* Damage is no error: it goes to `damage`. */
static int replay_process(struct cunei_replay_line *replay, bool *has_any,
                          struct cunei_trace_error *error, int *damage)
{
    const struct cunei_trace_process *process = replay->process;
    int rc = 0;
    uint8_t *functions = choose_functions(replay->options, process, has_any, &rc);
    const struct cunei_cut_options selection = {.functions = functions,
                                                .function_count =
                                                    process->function_count,
                                                .kinds = cunei_trace_kinds(process),
                                                .until = UINT64_MAX};

    for (size_t j = 0; rc == 0 && j < process->stream_count; j++) {
        if (process->streams[j].stream_class != CUNEI_STREAM_EVENTS)
            continue;
        rc = replay_stream(replay, &process->streams[j], &selection, error);
        if (rc == -EBADMSG) {
            *damage = rc;
            rc = 0;
        }
    }
    free(functions);
    return rc;
}

int cunei_replay_print(const struct cunei_trace *trace,
                       const struct cunei_replay_options *options, FILE *out,
                       struct cunei_trace_error *error)
{
    struct cunei_replay_line replay = {
        .options = options,
        .out = out,
        .origin_ns = cunei_trace_begin_ns(trace),
        .arguments = {.is_json = options->json},
    };
    const struct cunei_trace_error *first =
        cunei_trace_next_damage(trace, &options->processes, &(size_t){0});
    int rc = 0, damage = first ? -EBADMSG : 0;
    bool has_any = false;

    if (first)
        *error = *first;
    for (size_t i = 0; rc == 0 && i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        if (!cunei_trace_is_chosen(process, &options->processes))
            continue;
        replay.process = process;
        cunei_tasks_fini(&replay.tasks); /* task numbers belong to a process */
        rc = replay_process(&replay, &has_any, error, &damage);
    }
    cunei_replay_line_fini(&replay);
    if (rc == 0 && damage == 0 && !replay.is_found && options->thread)
        rc = -ESRCH;
    if (rc == 0 && damage == 0 && !has_any && options->patterns.count > 0)
        rc = -ENODATA;
    return rc < 0 ? rc : damage;
}
