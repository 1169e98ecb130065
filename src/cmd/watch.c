// SPDX-License-Identifier: MIT
/* `cunei watch`: make snapshots of a recording in progress when triggers fire. */
#include "trigger/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/common/follow_wait.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "cmd/common/recording_target.h"
#include "cmd/record/trigger_options.h"
#include "cmd/record/trigger_snapshots.h"
#include "cmd/suggest/trigger.h"
#include "rt/clock.h"
#include "text/format.h"
#include "trace/directory/trace.h"
#include "trace/process/error.h"
#include "trigger/firing.h"
#include "trigger/kind.h"
#include "wire/keep.h"

#define INTERVAL_NS (100 * CUNEI_NS_PER_MS)
/* After the last process has ended, so many polls for what others say of its end. */
#define PATIENCE 10u

struct values {
    struct cunei_trigger_options triggers;
    uint64_t last_ns;
};

static void print_sentence(void *context, const char *sentence)
{
    struct cunei_buffer line = {0};

    (void)context;
    cunei_text_show(&line, sentence, strlen(sentence));
    (void)printf("%s\n", cunei_buffer_text(&line));
    (void)fflush(stdout);
    cunei_buffer_fini(&line);
}

/* Until the recording ends, or a signal comes. */
static int follow(struct cunei_trigger_watch *watch,
                  struct cunei_trigger_snapshots *snapshots)
{
    unsigned quiet = 0;
    int rc = 1;

    while (rc >= 0 && quiet < PATIENCE) {
        rc = cunei_trigger_watch_poll(watch);
        if (rc >= 0)
            cunei_trigger_watch_look(watch, cunei_clock_ns(CLOCK_REALTIME));
        cunei_trigger_snapshots_make(snapshots, false);
        if (rc == 0 && !cunei_trigger_watch_is_waiting(watch))
            break;
        quiet = rc == 0 ? quiet + 1 : 0;
        if (cunei_follow_wait(rc == 2 ? 0 : INTERVAL_NS, STDOUT_FILENO) !=
            CUNEI_FOLLOW_ON)
            break;
    }
    return rc < 0 ? rc : cunei_trigger_watch_finish(watch);
}

static void note_end(const struct cunei_trigger_watch *watch, const char *trace,
                     const struct cunei_trigger_options *options)
{
    const struct cunei_trigger_names none = {0};
    uint64_t missed = cunei_trigger_watch_missed(watch);
    struct cunei_buffer text = {0};

    cunei_format_several(&text, missed, "packet");
    if (missed > 0)
        cunei_cmd_note("%s were overwritten before they were read",
                       cunei_buffer_text(&text));
    for (size_t i = 0; i < options->triggers.count; i++) {
        cunei_buffer_clear(&text);
        if (options->triggers.items[i].kind->matches &&
            cunei_suggest_trigger(&options->triggers.items[i],
                                  cunei_trigger_watch_functions(watch, i), &none,
                                  cunei_trigger_watch_trace(watch), trace, &text))
            cunei_cmd_note("%s", cunei_buffer_text(&text));
    }
    cunei_buffer_fini(&text);
}

static int watch_trace(const struct values *values, const char *trace)
{
    struct cunei_trigger_snapshots snapshots = {.options = &values->triggers,
                                                .trace = trace,
                                                .shown = trace,
                                                .last_ns = values->last_ns,
                                                .ring_bytes = CUNEI_KEEP_SIZE,
                                                .say = print_sentence};
    const struct cunei_trigger_listener listener = {cunei_trigger_snapshots_fired, NULL,
                                                    &snapshots};
    struct cunei_trigger_watch *watch = NULL;
    struct cunei_trace_error error;

    int rc = cunei_trigger_watch_open(&watch, trace, &values->triggers.triggers,
                                      &listener, &error);
    if (rc == 0)
        rc = cunei_trigger_watch_skip(watch, cunei_clock_ns(CLOCK_REALTIME));
    if (rc < 0 && !watch)
        return cunei_cmd_fail_to_open(rc, trace, &error);
    cunei_cmd_allow_descriptors();
    cunei_follow_wait_begin();
    if (rc >= 0)
        rc = follow(watch, &snapshots);
    cunei_trigger_snapshots_make(&snapshots, true);
    cunei_trigger_snapshots_finish(&snapshots);
    note_end(watch, trace, &values->triggers);
    int status =
        rc < 0 ? cunei_cmd_fail(rc, "cannot follow '%s'", trace) : EXIT_SUCCESS;
    cunei_trigger_snapshots_fini(&snapshots);
    cunei_trigger_watch_close(watch);
    return status;
}

/* Whether one of its processes is being recorded: 0, or the exit status. */
static int check_running(const char *trace)
{
    unsigned running = 0;
    struct cunei_trace opened;

    int status = cunei_cmd_open_trace(trace, &opened);
    if (status != EXIT_SUCCESS)
        return status;
    for (size_t i = 0; i < opened.process_count; i++)
        running += opened.processes[i].state == CUNEI_TRACE_RUNNING;
    cunei_trace_close(&opened);
    return running ? EXIT_SUCCESS
                   : cunei_cmd_fail(0,
                                    "the recording in '%s' has ended; 'cunei "
                                    "try-trigger' shows when triggers would have fired",
                                    trace);
}

static int run_watch(int argc, char **argv)
{
    struct values values = {.triggers = CUNEI_TRIGGER_OPTIONS_DEFAULTS};
    char *trace = NULL;

    int status = cunei_options_parse(&cunei_cmd_watch, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE && argc != 2)
        status =
            cunei_cmd_usage(argc < 2 ? "missing pid or directory: cunei watch PID "
                                       "--trigger crash"
                                     : "unexpected argument '%s'; one recording is "
                                       "watched at a time",
                            argv[argc < 2 ? 0 : 2]);
    if (status == CUNEI_OPTIONS_CONTINUE && values.triggers.texts.count == 0)
        status = cunei_cmd_usage("missing trigger: cunei watch %s --trigger "
                                 "exception:ValueError",
                                 argv[1]);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_trigger_options_check(&values.triggers);
    if (status == CUNEI_OPTIONS_CONTINUE) {
        trace = cunei_recording_target_find(argv[1]);
        status = trace ? check_running(trace) : EXIT_FAILURE;
        if (status == EXIT_SUCCESS)
            status = cunei_trigger_options_prepare(&values.triggers);
        if (status == EXIT_SUCCESS)
            status = watch_trace(&values, trace);
    }
    free(trace);
    cunei_trigger_options_fini(&values.triggers);
    return status;
}

static const struct cunei_option options[] = {
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_trigger_option_rows,
     .offset = offsetof(struct values, triggers)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_trigger_option_limits,
     .offset = offsetof(struct values, triggers)},
    {.name = "last",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "copy only the last part, for example 10s",
     .offset = offsetof(struct values, last_ns)},
    {0},
};

const struct cunei_cmd cunei_cmd_watch = {
    .name = "watch",
    .args = "PID|DIR --trigger WHEN [options]",
    .summary = "make snapshots of a recording when something happens",
    .help =
        "Follows a recording in progress, and makes a snapshot when a trigger fires.\n"
        "The programs do not notice. It ends with the recording, or on Ctrl-C. 'cunei\n"
        "record --trigger' does the same from the start; this is for a recording that\n"
        "runs already. PID is any process of it; 'cunei list' shows them.\n"
        "\n"
        "  cunei watch 4711 --trigger exception:ValueError\n"
        "  cunei watch DIR --trigger 'slow:app:handle>50ms' --trigger crash",
    .options = options,
    .run = run_watch,
};
