// SPDX-License-Identifier: MIT
#include "cmd/record/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/search_path.h"
#include "cmd/record/exit_status.h"
#include "cmd/record/instrumenter_option.h"
#include "cmd/record/interpreter.h"
#include "cmd/record/project.h"
#include "cmd/record/version_limits.h"
#include "cmd/record/wait_children.h"
#include "rt/clock.h"
#include "rt/refusal.h"

enum {
    CALIBRATION_US = 10000, /* good to 2 ppm */
    SESSION_MAX = 120000    /* bytes; the system takes a text of 131 071 */
};

#define MAX_SIZE_MIN (UINT64_C(1) << 20)

static const char *const repr_names[] = {"safe", "full", NULL};

#define VALUE(field) .offset = offsetof(struct cunei_recording_values, field)

const struct cunei_option cunei_recording_options[] = {
    {.name = "include",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "record these functions: a module, module:qualname,\n"
             "a file, or re:…; the last --include or --exclude\n"
             "that matches decides",
     VALUE(patterns)},
    {.name = "exclude",
     .kind = CUNEI_OPTION_EXCLUDE,
     .value = "PATTERN",
     .help = "leave these functions out: from 3.12 on they cost\nnothing",
     VALUE(patterns)},
    {.name = "filter",
     .kind = CUNEI_OPTION_FILTER,
     .value = "FILE",
     .help = "the same from a file: lines '+ PATTERN' and\n"
             "'- PATTERN', as 'cunei filter' writes, or JSON of\n"
             "PerfStubs; may be repeated",
     VALUE(patterns)},
    {.name = "only-project",
     .kind = CUNEI_OPTION_PROJECT,
     .help = "record the functions of the script's own project, and\n"
             "nothing of the standard library or site-packages",
     VALUE(patterns)},
    {.name = "c-calls",
     .kind = CUNEI_OPTION_FLAG,
     .help = "record calls of C functions, too, as builtins:len;\n"
             "include and exclude match them like others",
     VALUE(c_calls)},
    {.name = "args",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "record what these functions are called with, as\n"
             "'app:load' or ':Cache.get*'; may be repeated",
     VALUE(arguments)},
    {.name = "return",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "record what these functions return",
     VALUE(results)},
    {.name = "lines",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "record every line of these functions: how often it\n"
             "ran, and how long that took; may be repeated",
     VALUE(lines)},
    {.name = "no-config",
     .kind = CUNEI_OPTION_FLAG,
     .help = "leave [tool.cunei] of pyproject.toml alone, which else\n"
             "gives the defaults for these options",
     VALUE(no_config)},
    {.name = "max-repr",
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "cut each of these values at N bytes; else at 120",
     VALUE(max_repr)},
    {.name = "repr",
     .kind = CUNEI_OPTION_CHOICE,
     .value = "HOW",
     .help = "how values are written: safe runs none of the\n"
             "program's code and shows objects of its classes as\n"
             "<app.Point at 0x…>, full calls their repr()",
     .choices = repr_names,
     VALUE(repr)},
    {.name = "instrumenter",
     .kind = CUNEI_OPTION_CHOICE,
     .value = "HOOK",
     .help = "what tells of calls: monitoring (from 3.12 on), frame\n"
             "(not on 3.13), profile, trace, or none, which records\n"
             "no calls; else monitoring, or where it is not, frame",
     .choices = cunei_instrumenter_names,
     VALUE(instrumenter)},
    {.name = "budget",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PCT",
     .help = "let recording cost about this much, as 5%: tiny hot\n"
             "functions are demoted, and estimated from bursts",
     VALUE(budget)},
    {.name = "max-size",
     .kind = CUNEI_OPTION_SIZE,
     .value = "SIZE",
     .help = "stop when this much is written, as 500M; at least 1M",
     VALUE(max_bytes)},
    {.name = "startup",
     .kind = CUNEI_OPTION_FLAG,
     .help = "begin as early as Python can, not at the program's\n"
             "first line",
     VALUE(startup)},
    {.name = "no-children",
     .kind = CUNEI_OPTION_FLAG,
     .help = "record the program's own process, and none that it\n"
             "starts or forks",
     VALUE(no_children)},
    {.name = "python",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PYTHON",
     .help = "the Python that runs the program, by name or path",
     VALUE(python)},
    {.name = "force",
     .kind = CUNEI_OPTION_FLAG,
     .help = "overwrite a trace that is there",
     VALUE(force)},
    {.name = "quiet",
     .letter = 'q',
     .kind = CUNEI_OPTION_FLAG,
     .help = "say nothing at the end; of run, only the report",
     VALUE(quiet)},
    {0},
};

void cunei_recording_values_fini(struct cunei_recording_values *values)
{
    cunei_patterns_fini(&values->patterns);
    cunei_patterns_fini(&values->arguments);
    cunei_patterns_fini(&values->results);
    cunei_patterns_fini(&values->lines);
    cunei_config_fini(&values->config);
}

int cunei_recording_check(const struct cunei_recording_values *values)
{
    uint64_t budget = 0;

    if (values->budget && cunei_budget_parse(values->budget, &budget) < 0)
        return cunei_cmd_usage("--budget wants a percentage from 0.1 to 100, as 5%%, "
                               "not '%s'",
                               values->budget);
    if (values->max_bytes && values->max_bytes < MAX_SIZE_MIN)
        return cunei_cmd_usage("--max-size wants at least 1M");
    if (values->max_repr < CUNEI_RECORD_ENV_MAX_REPR_LEAST ||
        values->max_repr > CUNEI_RECORD_ENV_MAX_REPR_LIMIT)
        return cunei_cmd_usage("--max-repr wants a number from %u to %u",
                               CUNEI_RECORD_ENV_MAX_REPR_LEAST,
                               CUNEI_RECORD_ENV_MAX_REPR_LIMIT);
    return CUNEI_OPTIONS_GO_ON;
}

/* The defaults of the program's project. */
static int take_config(struct cunei_recording_values *values, int argc, char **argv)
{
    char *start = cunei_project_start(argc, argv);
    struct cunei_config *config = &values->config;
    int status = CUNEI_OPTIONS_GO_ON;

    /* Of a script that is not there the launcher tells soon. */
    int rc = start ? cunei_config_read(config, start) : 0;
    if (rc == 0 && config->path)
        rc = cunei_config_apply(config, values);
    if (rc == -EINVAL)
        status = cunei_cmd_fail(0, "%s:%zu:%zu: %s; --no-config leaves it out",
                                config->path, config->error.line, config->error.column,
                                config->error.text);
    else if (rc < 0)
        status = cunei_cmd_fail(rc, "cannot read '%s'",
                                config->path ? config->path : "pyproject.toml");
    free(start);
    return status;
}

int cunei_recording_settle(struct cunei_recording_values *values, int argc, char **argv)
{
    int status = cunei_recording_check(values);

    if (status == CUNEI_OPTIONS_GO_ON && !values->no_config)
        status = take_config(values, argc, argv);
    if (status != CUNEI_OPTIONS_GO_ON)
        return status;
    int rc = cunei_project_settle(&values->patterns, argc, argv);

    return rc < 0 ? cunei_cmd_fail(rc, "cannot find the project of '%s'", argv[0])
                  : CUNEI_OPTIONS_GO_ON;
}

void cunei_recording_say_lacks(const struct cunei_recording_values *values,
                               const struct cunei_version_limits_version *version)
{
    struct cunei_buffer text = {0};

    cunei_version_limits_of(version, values, &text);
    if (text.size && !values->quiet)
        cunei_cmd_note("on CPython 3.%d, %s", version->minor, text.data);
    cunei_buffer_fini(&text);
}

/* What was typed may not go with what the project says, which can be done without. */
static void check_instrumenter(const struct cunei_recording_values *values,
                               const struct cunei_interpreter *python,
                               struct cunei_buffer *misfit)
{
    if (cunei_recording_check_instrumenter(values, python, misfit))
        cunei_buffer_append_text(misfit, ", or say --no-config");
}

/*
 * Ask the Python that will run the program.  What is wrong with it goes to `reason`, or
 * where it does not have what was typed, to `misfit`.
 */
static void check_python(struct cunei_recording *recording,
                         const struct cunei_recording_values *values,
                         struct cunei_buffer *reason, struct cunei_buffer *misfit)
{
    const struct cunei_program *program = &recording->program;
    struct cunei_interpreter python = {0};

    int rc = cunei_interpreter_ask(&python, program->python, program->flags);
    if (rc == -EPROTO)
        cunei_buffer_format(reason,
                            "'%s' does not answer as a Python does%s%s%s; name one "
                            "with --python",
                            program->python, *python.error ? " (" : "", python.error,
                            *python.error ? ")" : "");
    else if (rc < 0)
        cunei_buffer_format(reason, "cannot run the Python '%s': %s%s", program->python,
                            strerror(-rc),
                            rc == -EAGAIN ? "" : "; name another with --python");
    else if (program->no_site && python.major == CUNEI_INTERPRETER_MAJOR &&
             python.minor >= CUNEI_INTERPRETER_MINOR)
        cunei_buffer_append_text(reason,
                                 "with -S Python does not look into site-packages, "
                                 "where what records is installed; leave -S out");
    else if (cunei_interpreter_can_record(&python, cunei_recording_instrumenter(values),
                                          reason)) {
        const struct cunei_version_limits_version version = {
            .minor = python.minor,
            .patch = python.patch,
            .no_gil = strcmp(python.gil, "no") == 0,
        };
        check_instrumenter(values, &python, misfit);
        if (!misfit->size)
            cunei_recording_say_lacks(values, &version);
        recording->told_minor = python.minor;
    }
    cunei_interpreter_fini(&python);
}

/* Ticks per second since `first`, over as much more time as that takes. */
static uint64_t frequency_since(const struct cunei_clock_pair *first)
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

/* It is no Python program, and what it starts would be recorded twice. */
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
 * The directory that a recording around us writes to, owned; NULL: there is none, or it
 * leaves us out.
 */
static char *find_outer(void)
{
    const char *text = getenv(CUNEI_RECORD_ENV_VARIABLE);
    struct cunei_record_env outer;
    char *directory = NULL;

    if (!text || cunei_record_env_parse(&outer, text) < 0)
        return NULL;
    if (!outer.only_pid && access(outer.directory, F_OK) == 0) {
        directory = outer.directory; /* moved */
        outer.directory = NULL;
    }
    cunei_record_env_fini(&outer);
    return directory;
}

/* One recording within another would find its events taken: 0, or the exit status. */
static int check_outer(void)
{
    char *directory = find_outer();
    if (!directory)
        return EXIT_SUCCESS;
    int status = cunei_cmd_usage(
        "this runs inside a recording into '%s', which sees it already; leave the "
        "inner cunei out, or record the outer program with --no-children",
        directory);
    free(directory);
    return status;
}

int cunei_recording_prepare(struct cunei_recording *recording,
                            const struct cunei_recording_values *values, int argc,
                            char **argv)
{
    struct cunei_buffer reason = {0}, misfit = {0};

    int status = check_outer();
    if (status != EXIT_SUCCESS)
        return status;
    if (is_cunei(argv[0]))
        return cunei_cmd_usage("cunei cannot record itself; leave the inner 'cunei %s' "
                               "out, and name the program",
                               argc > 1 ? argv[1] : "");
    /* The Python is asked while the clock is measured: both take about as long. */
    struct cunei_clock_pair first = cunei_clock_pair();
    if (cunei_program_find(&recording->program, argc, argv, values->python, &reason) &&
        recording->program.python)
        check_python(recording, values, &reason, &misfit);
    else if (!reason.size)
        check_instrumenter(values, NULL, &misfit);
    if (!reason.size && !misfit.size)
        recording->frequency = frequency_since(&first);
    recording->values = values;
    recording->only_it = values->no_children;
    if (reason.size)
        status = cunei_cmd_fail(0, "%s", reason.data);
    else if (misfit.size)
        status = cunei_cmd_usage("%s", misfit.data);
    cunei_buffer_fini(&reason);
    cunei_buffer_fini(&misfit);
    return status;
}

int cunei_recording_run(struct cunei_recording *recording,
                        const struct cunei_recording_values *values)
{
    struct cunei_buffer text = {0};
    int status = EXIT_SUCCESS;
    uint64_t budget = 0;

    if (values->budget)
        (void)cunei_budget_parse(values->budget, &budget); /* it was checked */
    struct cunei_record_env session = {
        .budget = budget,
        .directory = recording->directory,
        .frequency = recording->frequency,
        .max_bytes = values->max_bytes,
        .startup = values->startup,
        .c_calls = values->c_calls,
        .full_repr = values->repr == CUNEI_RECORDING_REPR_FULL,
        .max_repr = values->max_repr,
        .instrumenter = cunei_recording_instrumenter(values),
        .patterns = values->patterns,
        .arguments = values->arguments,
        .results = values->results,
        .lines = values->lines};
    cunei_record_env_format(&session, &text);
    if (text.size > SESSION_MAX) {
        status = cunei_cmd_fail(0,
                                "the patterns take %zu bytes, and a program's "
                                "environment has room for %d; put several into one, as "
                                "a module's name is one for all its functions",
                                text.size, SESSION_MAX);
        cunei_buffer_fini(&text);
        return status;
    }
    recording->listener = cunei_refusal_listen(recording->directory);
    int rc = text.failed ? -ENOMEM
                         : cunei_launch(&recording->program, text.data,
                                        recording->only_it, &recording->ended);
    if (rc < 0)
        status = cunei_cmd_fail(rc, "cannot run '%s'", recording->program.path);
    else {
        cunei_exit_status_add(recording->directory, &recording->ended);
        cunei_wait_children(recording->directory);
    }
    cunei_buffer_fini(&text);
    return status;
}

void cunei_recording_fini(struct cunei_recording *recording)
{
    cunei_program_fini(&recording->program);
    free(recording->directory);
    free(recording->shown);
    if (recording->listener > 0)
        close(recording->listener);
    *recording = (struct cunei_recording){0};
}
