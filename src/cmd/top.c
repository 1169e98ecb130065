// SPDX-License-Identifier: MIT
/* `cunei top`: what a program is doing right now. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/common/options.h"
#include "cmd/record/launch.h"
#include "cmd/record/recorded_run.h"
#include "cmd/record/temporary_trace.h"
#include "cmd/record/trace_directory.h"
#include "cmd/top/attach_targets.h"
#include "cmd/top/batch.h"
#include "cmd/top/choose.h"
#include "cmd/top/post_mortem.h"
#include "cmd/top/program.h"
#include "cmd/top/session.h"
#include "cmd/top/targets.h"
#include "cmd/top/top_options.h"
#include "top/terminal/terminal.h"
#include "top/view/view.h"

/* What is kept of a program that top runs: enough for a snapshot of the last seconds.
 */
#define KEPT "30s,256M"

static int watch(const struct cunei_top_targets *targets,
                 const struct cunei_top_options *options,
                 const struct cunei_top_view *view, struct cunei_top_program *program)
{
    return options->batch > 0 ? cunei_top_batch(targets, options, view, program)
                              : cunei_top_session_run(targets, options, view, program);
}

/* The trace is made in a temporary directory, and removed in the end. */
static int watch_run(struct cunei_recorded_run *run,
                     const struct cunei_top_options *options,
                     const struct cunei_top_view *view)
{
    struct cunei_top_program program = {.run = run, .output = -1};
    struct cunei_top_targets targets = {0};
    struct cunei_buffer reason = {0};

    run->directory = cunei_trace_directory_make_temporary(&run->directory_id, &reason);
    if (!run->directory) {
        int status = cunei_cmd_fail(0, "%s", cunei_buffer_text(&reason));
        cunei_buffer_fini(&reason);
        return status;
    }
    run->shown = strdup(run->directory);
    int status = cunei_top_targets_add(&targets, run->directory, NULL) < 0
                     ? EXIT_FAILURE
                     : watch(&targets, options, view, &program);
    cunei_top_targets_fini(&targets);
    cunei_temporary_trace_remove(run);
    return status == EXIT_SUCCESS && program.has_ended
               ? cunei_launch_leave(program.wait_status)
               : status;
}

/* A screen that cannot be shown is refused before anything is started. */
static int check_terminal(const struct cunei_top_options *options)
{
    struct cunei_buffer reason = {0};

    if (options->batch > 0 || options->post_mortem ||
        cunei_top_terminal_is_possible(&reason))
        return EXIT_SUCCESS;
    int status = cunei_cmd_fail(0, "%s", cunei_buffer_text(&reason));
    cunei_buffer_fini(&reason);
    return status;
}

static int run_program(struct cunei_top_options *options,
                       const struct cunei_top_view *view, int argc, char **argv)
{
    struct cunei_recorded_run run = {0};

    if (!options->recording.keep && !options->recording.max_bytes)
        options->recording.keep = KEPT;
    int status = cunei_recorded_run_configure(&run, &options->recording, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_recorded_run_prepare(&run, argc, argv);
    if (status == EXIT_SUCCESS)
        status = check_terminal(options);
    if (status == EXIT_SUCCESS)
        status = watch_run(&run, options, view);
    cunei_recorded_run_fini(&run);
    return status;
}

/* The words as targets; processes that are not recorded are attached. */
static int find_targets(struct cunei_top_targets *targets,
                        struct cunei_top_attached *attached,
                        struct cunei_top_options *options, int argc, char **argv)
{
    int status = EXIT_SUCCESS;

    if (!options->recording.keep && !options->recording.max_bytes)
        options->recording.keep = KEPT;
    for (int i = 0; status == EXIT_SUCCESS && i < argc; i++) {
        bool must_attach =
            !options->post_mortem && !options->replay && cunei_top_must_attach(argv[i]);
        if (must_attach)
            status = check_terminal(options);
        if (status == EXIT_SUCCESS)
            status = must_attach ? cunei_top_attach(attached, argv[i], options, targets)
                                 : cunei_top_targets_find(targets, argv[i]);
    }
    return status == EXIT_SUCCESS ? check_terminal(options) : status;
}

static int choose(struct cunei_top_targets *targets,
                  struct cunei_top_attached *attached,
                  const struct cunei_top_options *options, bool *has_left)
{
    char *pid = NULL;

    int status =
        cunei_top_choose(targets, options->batch == 0, options->ascii, has_left, &pid);
    if (status == EXIT_SUCCESS && pid)
        status = cunei_top_attach(attached, pid, options, targets);
    free(pid);
    return status;
}

static int watch_words(struct cunei_top_options *options,
                       const struct cunei_top_view *view, int argc, char **argv)
{
    struct cunei_top_targets targets = {0};
    struct cunei_top_attached attached = {0};
    bool has_left = false;

    int status = find_targets(&targets, &attached, options, argc, argv);
    if (status == EXIT_SUCCESS && argc == 0)
        status = choose(&targets, &attached, options, &has_left);
    if (has_left || status != EXIT_SUCCESS)
        ; /* there is nothing to watch */
    else if (options->post_mortem)
        status = cunei_top_post_mortem(&targets, options, view);
    else
        status = watch(&targets, options, view, NULL);
    cunei_top_targets_fini(&targets);
    cunei_top_detach(&attached);
    return status;
}

/* Options may stand behind the words, unless these are a program's. */
static int parse_rest(struct cunei_top_options *options, int *argc, char **argv)
{
    struct cunei_cmd plain = cunei_cmd_top;

    plain.takes_program = false;
    return cunei_options_parse(&plain, argc, argv, options);
}

static int run_top(int argc, char **argv)
{
    struct cunei_top_options options = {.interval_ns = CUNEI_NS_PER_S,
                                        .batch = CUNEI_TOP_NO_BATCH,
                                        .limit = 25,
                                        .recording = CUNEI_RECORD_OPTIONS_DEFAULTS};
    struct cunei_top_view view;
    bool is_program = false;

    cunei_top_view_init(&view);
    int status = cunei_options_parse(&cunei_cmd_top, &argc, argv, &options);
    if (status == CUNEI_OPTIONS_CONTINUE && argc > 1)
        is_program = cunei_top_targets_is_program(argv[1]);
    if (status == CUNEI_OPTIONS_CONTINUE && !is_program)
        status = parse_rest(&options, &argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_top_options_settle(&options, &view);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = is_program ? run_program(&options, &view, argc - 1, argv + 1)
                            : watch_words(&options, &view, argc - 1, argv + 1);
    cunei_record_options_fini(&options.recording);
    return status;
}

const struct cunei_cmd cunei_cmd_top = {
    .name = "top",
    .args = "[options] [PID … | NAME | DIR … | PROGRAM …]",
    .summary = "show live which functions take the time",
    .help =
        "Shows what a program is doing right now: the functions that take the time,\n"
        "with exact counts, and threads, tasks, exceptions, open stacks, the call tree.\n"
        "\n"
        "  cunei top app.py --port 8000     run it, and watch it\n"
        "  cunei top 4711                   watch a process; one that is not recorded is\n"
        "                                   recorded while it is shown\n"
        "  cunei top app.py                 the same by name, if no such file is here\n"
        "  cunei top DIR                    follow a recording, or show a finished one\n"
        "  cunei top                        choose from what is being recorded\n"
        "  cunei top --once --sort calls/s DIR\n"
        "  cunei top --batch 10 --json 4711 > samples.json\n"
        "\n"
        "In the screen, ? lists the keys. Columns: shares (self%, total%), rates\n"
        "(calls/s) and own%, below% are of the last interval; calls, self, total, mean,\n"
        "p99 and max are since the start, as in 'cunei report'. Numbers with ~ are\n"
        "estimates for functions that --budget sampled.\n"
        "\n"
        "While top runs a program, its last 30 seconds (at most 256 MB) are kept in a\n"
        "temporary directory; the key s saves them. The exit status is the program's.\n"
        "The key o shows what the program prints, which is printed again at the end;\n"
        "with --once, --batch and --json it goes to stderr.",
    .options = cunei_top_option_rows,
    .takes_program = true,
    .run = run_top,
};
