// SPDX-License-Identifier: MIT
#include "cmd/record/recorded_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/common/options.h"
#include "cmd/common/search_path.h"
#include "cmd/record/exit_status.h"
#include "cmd/record/option_conflict.h"
#include "cmd/record/project.h"
#include "cmd/record/record_options.h"
#include "cmd/record/trigger_follower.h"
#include "cmd/record/trigger_options.h"
#include "cmd/record/wait_children.h"
#include "python/version_limits.h"
#include "rt/clock.h"
#include "rt/refusal.h"
#include "rt/space.h"
#include "text/format.h"
#include "wire/record_env.h"

enum {
    CALIBRATION_US = 2000, /* good to 10 ppm; what a process writes corrects it */
    ENV_MAX = 120000       /* bytes; Linux allows 131 071 for one variable */
};

/* The defaults of the program's project. */
static int take_config(struct cunei_config *config,
                       struct cunei_record_options *options, int argc, char **argv)
{
    char *start = cunei_project_start(argc, argv);
    int status = CUNEI_OPTIONS_CONTINUE;

    /* A script that does not exist is reported when the program is looked for. */
    int rc = start ? cunei_config_read(config, start) : 0;
    if (rc == 0 && config->path)
        rc = cunei_config_apply(config, options);
    if (rc == -EINVAL)
        status = cunei_cmd_fail(0, "%s:%zu:%zu: %s (--no-config ignores [tool.cunei])",
                                config->path, config->error.line, config->error.column,
                                config->error.text);
    else if (rc < 0)
        status = cunei_cmd_fail(rc, "cannot read '%s'",
                                config->path ? config->path : "pyproject.toml");
    free(start);
    return status;
}

int cunei_recorded_run_configure(struct cunei_recorded_run *run,
                                 struct cunei_record_options *options, int argc,
                                 char **argv)
{
    int status = cunei_record_options_check(options);

    run->options = options;
    if (status == CUNEI_OPTIONS_CONTINUE && !options->no_config)
        status = take_config(&run->config, options, argc, argv);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    run->project = cunei_project_find(argc, argv);
    int rc = cunei_project_settle(&options->patterns, run->project);

    return rc < 0 ? cunei_cmd_fail(rc, "cannot find the project of '%s'", argv[0])
                  : CUNEI_OPTIONS_CONTINUE;
}

void cunei_recorded_run_note_limits(const struct cunei_recorded_run *run,
                                    const struct cunei_python_version *version)
{
    struct cunei_request request = cunei_record_options_request(run->options);
    struct cunei_buffer text = {0};

    cunei_version_limits_format(version, &request, &text);
    if (text.size && !run->options->quiet)
        cunei_cmd_note("on CPython 3.%d, %s", version->minor, text.data);
    cunei_buffer_fini(&text);
}

/* --no-config resolves a conflict between a typed option and the project's. */
static void check_options(const struct cunei_recorded_run *run,
                          const struct cunei_interpreter *python,
                          struct cunei_buffer *conflict)
{
    if (cunei_option_conflict_find(run->options, &run->config, python, conflict))
        cunei_buffer_append_text(conflict, ", or use --no-config");
}

/*
 * Ask the Python that will run the program.  What is wrong with it goes to `reason`,
 * and what it does not support of the options to `conflict`.
 */
static void check_python(struct cunei_recorded_run *run, struct cunei_buffer *reason,
                         struct cunei_buffer *conflict)
{
    const struct cunei_program *program = &run->program;
    struct cunei_interpreter *python = &run->python;

    int rc = cunei_interpreter_ask(python, program->python, program->flags, false);
    if (rc == -EPROTO)
        cunei_buffer_format(reason,
                            "'%s' is not a working Python%s%s%s; choose another with "
                            "--python",
                            program->python, *python->error ? " (" : "", python->error,
                            *python->error ? ")" : "");
    else if (rc < 0)
        cunei_buffer_format(reason, "cannot run the Python '%s': %s%s", program->python,
                            strerror(-rc),
                            rc == -EAGAIN ? "" : "; choose another with --python");
    else if (program->no_site && python->major == CUNEI_INTERPRETER_MAJOR &&
             python->minor >= CUNEI_INTERPRETER_MINOR)
        cunei_buffer_append_text(
            reason, "-S disables site-packages, so that Python cannot load "
                    "cunei; leave -S out");
    else if (cunei_interpreter_can_record(
                 python, cunei_record_options_instrumenter(run->options), reason)) {
        const struct cunei_python_version version = {
            .minor = python->minor,
            .patch = python->patch,
            .no_gil = strcmp(python->gil, "no") == 0,
        };
        check_options(run, python, conflict);
        if (!conflict->size)
            cunei_recorded_run_note_limits(run, &version);
    }
}

uint64_t cunei_recorded_run_frequency(const struct cunei_clock_pair *first)
{
    struct cunei_clock_pair now = cunei_clock_pair();
    uint64_t passed_us = (now.monotonic_ns - first->monotonic_ns) / 1000;

    if (passed_us >= CALIBRATION_US)
        return cunei_clock_frequency(first, &now);
    unsigned rest_us = CALIBRATION_US - (unsigned)passed_us;
    (void)cunei_clock_calibrate(rest_us);
    now = cunei_clock_pair();
    return cunei_clock_frequency(first, &now);
}

/* Cunei is not a Python program, and what it starts would be recorded twice. */
static bool is_cunei(const char *word)
{
    struct stat ours, theirs;
    char *path = cunei_search_path_find(word);

    bool same = path && stat("/proc/self/exe", &ours) == 0 &&
                stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
                ours.st_ino == theirs.st_ino;
    free(path);
    return same;
}

/*
 * The directory of the recording that we run inside of, owned by the caller; NULL:
 * there is none, or it does not record us.
 */
static char *find_outer(void)
{
    const char *text = getenv(CUNEI_RECORD_ENV_VARIABLE);
    struct cunei_record_env outer;
    char *directory = NULL;

    if (!text || cunei_record_env_parse(&outer, text) < 0)
        return NULL;
    if (!outer.only_pid && outer.directory && access(outer.directory, F_OK) == 0) {
        directory = outer.directory; /* moved */
        outer.directory = NULL;
    }
    cunei_record_env_fini(&outer);
    return directory;
}

/* Two recordings of one process would use the same hooks: 0, or the exit status. */
static int check_outer(void)
{
    char *directory = find_outer();
    if (!directory)
        return EXIT_SUCCESS;
    int status = cunei_cmd_usage(
        "this program is already being recorded to '%s'; run it without the inner "
        "cunei, or record the outer program with --no-children",
        directory);
    free(directory);
    return status;
}

int cunei_recorded_run_prepare(struct cunei_recorded_run *run, int argc, char **argv)
{
    struct cunei_buffer reason = {0}, conflict = {0};

    int status = check_outer();
    if (status != EXIT_SUCCESS)
        return status;
    if (is_cunei(argv[0]))
        return cunei_cmd_usage("cunei cannot record itself; leave out the inner 'cunei "
                               "%s', and name the program",
                               argc > 1 ? argv[1] : "");
    /* The Python is asked while the clock is measured: both take about as long. */
    struct cunei_clock_pair first = cunei_clock_pair();
    if (cunei_program_find(&run->program, argc, argv, run->options->python, &reason) &&
        run->program.python)
        check_python(run, &reason, &conflict);
    else if (!reason.size)
        check_options(run, NULL, &conflict);
    if (!reason.size && !conflict.size)
        run->frequency = cunei_recorded_run_frequency(&first);
    if (reason.size)
        status = cunei_cmd_fail(0, "%s", reason.data);
    else if (conflict.size)
        status = cunei_cmd_usage("%s", conflict.data);
    cunei_buffer_fini(&reason);
    cunei_buffer_fini(&conflict);
    return status;
}

struct cunei_record_env cunei_recorded_run_env(const struct cunei_recorded_run *run)
{
    const struct cunei_record_options *options = run->options;
    uint64_t budget = 0;

    if (options->budget)
        (void)cunei_budget_parse(options->budget, &budget); /* it was checked */
    return (struct cunei_record_env){.budget = budget,
                                     .directory = run->directory,
                                     .directory_id = run->directory_id,
                                     .project = run->project,
                                     .frequency = run->frequency,
                                     .max_bytes = options->max_bytes,
                                     .keep = cunei_record_options_keep(options),
                                     .startup = options->startup,
                                     .arm = options->control,
                                     .c_calls = options->c_calls,
                                     .full_repr = options->repr == CUNEI_REPR_FULL,
                                     .max_repr = options->max_repr,
                                     .instrumenter =
                                         cunei_record_options_instrumenter(options),
                                     .patterns = options->patterns,
                                     .arguments = options->arguments,
                                     .results = options->results,
                                     .lines = options->lines};
}

/* Listen for processes that cannot record.  The text of CUNEI_RECORD goes to `text`. */
static void listen_and_format(struct cunei_recorded_run *run, struct cunei_buffer *text)
{
    struct cunei_record_env env = cunei_recorded_run_env(run);

    run->listener = cunei_refusal_listen(&env.launcher);
    run->secret = env.launcher.secret;
    cunei_record_env_format(&env, text);
}

/* The program runs without its triggers rather than not at all. */
static void follow(void *context)
{
    struct cunei_recorded_run *run = context;
    const struct cunei_keep keep = cunei_record_options_keep(run->options);

    int rc = cunei_trigger_follower_start(&run->follower, run->triggers, run->directory,
                                          run->shown, keep.size);
    if (rc < 0)
        (void)cunei_cmd_fail(rc, "cannot follow '%s' for triggers", run->shown);
}

static int launch(struct cunei_recorded_run *run, const char *env)
{
    const struct cunei_launch_started started = {follow, run};
    bool has_triggers = run->triggers && run->triggers->triggers.count > 0;

    int rc = cunei_launch(&run->program, env, run->options->no_children,
                          has_triggers ? &started : NULL, &run->ended);
    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot run '%s'", run->program.path);
    cunei_exit_status_add(run->directory, &run->directory_id, &run->ended);
    cunei_wait_children(run->directory);
    cunei_trigger_follower_finish(run->follower);
    return EXIT_SUCCESS;
}

int cunei_recorded_run_check_ring(const struct cunei_recorded_run *run)
{
    const struct cunei_keep keep = cunei_record_options_keep(run->options);
    struct cunei_buffer size = {0};
    int rc = keep.size == 0   ? 0
             : keep.in_memory ? cunei_space_check_memory(keep.size)
                              : cunei_space_check_directory(run->directory, keep.size);

    if (rc == 0)
        return EXIT_SUCCESS;
    cunei_format_size(&size, keep.size);
    int status =
        keep.in_memory
            ? cunei_cmd_fail(
                  0,
                  "cannot keep %s in memory: a ring may take at most half of the free "
                  "memory and all that is free in /dev/shm; choose a smaller --keep",
                  cunei_buffer_text(&size))
            : cunei_cmd_fail(0,
                             "cannot keep %s in '%s': 1 GiB or 5 %% of the file system "
                             "must stay free; choose a smaller --keep, or another "
                             "directory",
                             cunei_buffer_text(&size), run->shown);
    cunei_buffer_fini(&size);
    return status;
}

int cunei_recorded_run_execute(struct cunei_recorded_run *run)
{
    struct cunei_buffer text = {0};

    int status = cunei_recorded_run_check_ring(run);
    if (status != EXIT_SUCCESS)
        return status;

    listen_and_format(run, &text);
    if (text.size > ENV_MAX)
        status = cunei_cmd_fail(0,
                                "the patterns take %zu bytes, but an environment "
                                "variable holds at most %d; replace several patterns "
                                "by one, for example by the name of their module",
                                text.size, ENV_MAX);
    else if (text.failed)
        status = cunei_cmd_fail(-ENOMEM, "cannot run '%s'", run->program.path);
    else
        status = launch(run, text.data);
    cunei_buffer_fini(&text);
    return status;
}

void cunei_recorded_run_fini(struct cunei_recorded_run *run)
{
    cunei_config_fini(&run->config);
    cunei_program_fini(&run->program);
    cunei_interpreter_fini(&run->python);
    cunei_trigger_follower_free(run->follower);
    free(run->project);
    free(run->directory);
    free(run->shown);
    if (run->listener > 0)
        close(run->listener);
    *run = (struct cunei_recorded_run){0};
}
