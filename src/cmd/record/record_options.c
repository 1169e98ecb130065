// SPDX-License-Identifier: MIT
#include "cmd/record/record_options.h"

#include <stddef.h>
#include <string.h>

#include "cmd/common/message.h"

#define MAX_SIZE_MIN (UINT64_C(1) << 20)

static const char *const repr_names[] = {"safe", "full", NULL};

#define VALUE(field) .offset = offsetof(struct cunei_record_options, field)

const struct cunei_option cunei_record_option_rows[] = {
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
     .help = "do not record these functions; from 3.12 on they run\n"
             "at full speed",
     VALUE(patterns)},
    {.name = "filter",
     .kind = CUNEI_OPTION_FILTER,
     .value = "FILE",
     .help = "read patterns from a file: lines '+ PATTERN' and\n"
             "'- PATTERN', as 'cunei filter' writes, or a PerfStubs\n"
             "JSON file; may be repeated",
     VALUE(patterns)},
    {.name = "only-project",
     .kind = CUNEI_OPTION_PROJECT,
     .help = "record only the functions of the script's own project,\n"
             "not the standard library or site-packages",
     VALUE(patterns)},
    {.name = "c-calls",
     .kind = CUNEI_OPTION_FLAG,
     .help = "also record calls of C functions, for example\n"
             "builtins:len; --include and --exclude select them",
     VALUE(c_calls)},
    {.name = "args",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "record the arguments of these functions, for example\n"
             "'app:load' or ':Cache.get*'; may be repeated",
     VALUE(arguments)},
    {.name = "return",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "record the return values of these functions",
     VALUE(results)},
    {.name = "lines",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "record every line of these functions: how often it\n"
             "ran, and how long it took; may be repeated",
     VALUE(lines)},
    {.name = "no-config",
     .kind = CUNEI_OPTION_FLAG,
     .help = "ignore [tool.cunei] in pyproject.toml",
     VALUE(no_config)},
    {.name = "max-repr",
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "cut recorded values at N bytes (default 120)",
     VALUE(max_repr)},
    {.name = "repr",
     .kind = CUNEI_OPTION_CHOICE,
     .value = "HOW",
     .help = "how to record values: safe runs no code of the program\n"
             "and shows its objects as <app.Point at 0x…>, full\n"
             "calls their repr() (default safe)",
     .choices = repr_names,
     VALUE(repr)},
    {.name = "instrumenter",
     .kind = CUNEI_OPTION_CHOICE,
     .value = "HOOK",
     .help = "which CPython hook to use (default: monitoring, or\n"
             "frame before 3.12); none records no calls",
     .choices = cunei_instrumenter_names,
     VALUE(instrumenter)},
    {.name = "budget",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PCT",
     .help = "limit the cost of recording to about PCT of run time,\n"
             "for example 5%: very frequent tiny functions are\n"
             "sampled",
     VALUE(budget)},
    {.name = "max-size",
     .kind = CUNEI_OPTION_SIZE,
     .value = "SIZE",
     .help = "stop recording when the trace has this size, for\n"
             "example 500M; at least 1M",
     VALUE(max_bytes)},
    {.name = "keep",
     .kind = CUNEI_OPTION_TEXT,
     .value = "WHAT",
     .help = "keep only the last part, in a ring of constant size:\n"
             "30s (in 256M), 64M, or 30s,1G, per process; live\n"
             "buffers come on top, 512K per thread",
     VALUE(keep)},
    {.name = "control",
     .kind = CUNEI_OPTION_FLAG,
     .help = "take requests of 'cunei attach' meanwhile, for example\n"
             "to change the budget",
     VALUE(control)},
    {.name = "startup",
     .kind = CUNEI_OPTION_FLAG,
     .help = "start recording as early as Python can, not at the\n"
             "program's first line",
     VALUE(startup)},
    {.name = "no-children",
     .kind = CUNEI_OPTION_FLAG,
     .help = "record only the program's own process, not those that\n"
             "it starts or forks",
     VALUE(no_children)},
    {.name = "python",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PYTHON",
     .help = "the Python that runs the program: a name or a path",
     VALUE(python)},
    {.name = "force",
     .kind = CUNEI_OPTION_FLAG,
     .help = "overwrite an existing trace",
     VALUE(force)},
    {.name = "quiet",
     .letter = 'q',
     .kind = CUNEI_OPTION_FLAG,
     .help = "print no summary; 'run' prints only the report",
     VALUE(quiet)},
    {.kind = CUNEI_OPTION_TYPED, VALUE(typed)},
    {0},
};

/* Of the launcher alone. */
static bool is_of_launcher(const char *name)
{
    static const char *const names[] = {"control", "startup", "python", "no-config"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

const struct cunei_option *cunei_record_option_rows_of_running(void)
{
    static struct cunei_option
        rows[sizeof(cunei_record_option_rows) / sizeof(cunei_record_option_rows[0])];
    size_t count = 0;

    for (const struct cunei_option *o = cunei_record_option_rows; o->name; o++) {
        if (!is_of_launcher(o->name))
            rows[count++] = *o;
    }
    return rows;
}

void cunei_record_options_fini(struct cunei_record_options *options)
{
    cunei_patterns_fini(&options->patterns);
    cunei_patterns_fini(&options->arguments);
    cunei_patterns_fini(&options->results);
    cunei_patterns_fini(&options->lines);
}

int cunei_record_options_check(const struct cunei_record_options *options)
{
    struct cunei_keep keep;
    uint64_t budget = 0;

    if (options->budget && cunei_budget_parse(options->budget, &budget) < 0)
        return cunei_cmd_usage(
            "--budget needs a percentage from 0.1 to 100, for example "
            "5%%, not '%s'",
            options->budget);
    if (options->max_bytes && options->max_bytes < MAX_SIZE_MIN)
        return cunei_cmd_usage("--max-size must be at least 1M");
    if (options->keep && cunei_keep_parse(&keep, options->keep) < 0)
        return cunei_cmd_usage("--keep needs a time, a size from 1M to 64G, or both, "
                               "for example 30s,256M, and 'memory' for a ring in "
                               "/dev/shm, not '%s'",
                               options->keep);
    if (options->keep && options->max_bytes)
        return cunei_cmd_usage("--keep cannot be used with --max-size: a ring has one "
                               "size and drops what is oldest; use only one of them");
    if (options->max_repr < CUNEI_RECORD_ENV_MAX_REPR_LEAST ||
        options->max_repr > CUNEI_RECORD_ENV_MAX_REPR_LIMIT)
        return cunei_cmd_usage("--max-repr needs a number from %u to %u",
                               CUNEI_RECORD_ENV_MAX_REPR_LEAST,
                               CUNEI_RECORD_ENV_MAX_REPR_LIMIT);
    return CUNEI_OPTIONS_CONTINUE;
}

struct cunei_keep cunei_record_options_keep(const struct cunei_record_options *options)
{
    struct cunei_keep keep = {0};

    if (options->keep)
        (void)cunei_keep_parse(&keep, options->keep); /* it was checked */
    return keep;
}

enum cunei_instrumenter cunei_record_options_instrumenter(
    const struct cunei_record_options *options)
{
    return options->instrumenter < 0
               ? CUNEI_INSTRUMENTER_DEFAULT
               : (enum cunei_instrumenter)(CUNEI_INSTRUMENTER_MONITORING +
                                           options->instrumenter);
}

/* Whether a pattern names a function by more than its plain name. */
static bool has_qualname(const struct cunei_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        const char *text = cunei_patterns_text(patterns, i, &include);
        const char *colon = strchr(text, ':');
        if (colon && strchr(colon, '.'))
            return true;
    }
    return false;
}

struct cunei_request cunei_record_options_request(
    const struct cunei_record_options *options)
{
    struct cunei_request request = {
        .instrumenter = cunei_record_options_instrumenter(options),
        .c_calls = options->c_calls,
        .budget = options->budget != NULL,
        .lines = options->lines.count > 0,
        .arguments = options->arguments.count > 0,
        .results = options->results.count > 0,
        .qualnames = has_qualname(&options->patterns) ||
                     has_qualname(&options->arguments) ||
                     has_qualname(&options->results) || has_qualname(&options->lines),
    };

    for (size_t i = 0; i < options->patterns.count; i++) {
        bool include;
        (void)cunei_patterns_text(&options->patterns, i, &include);
        request.include |= include;
        request.exclude |= !include;
    }
    return request;
}
