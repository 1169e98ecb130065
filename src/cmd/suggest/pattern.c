// SPDX-License-Identifier: MIT
#include "cmd/suggest/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/pattern.h"
#include "cmd/cmd.h"
#include "cmd/record/record_options.h"
#include "cmd/record/recorded_run.h"
#include "cmd/suggest/module.h"
#include "cmd/suggest/nearest.h"
#include "python/instrumenter.h"
#include "text/width.h"
#include "trace/trace.h"

enum {
    PATTERNS_SHOWN = 4,
    PATTERN_WIDTH = 80,
};

/* A process of a recording whose patterns left everything out; NULL: they did not. */
static const struct cunei_process *find_empty(const struct cunei_trace *trace)
{
    const struct cunei_process *empty = NULL;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_process *told = &trace->processes[i].description;
        if (trace->processes[i].function_count > 0)
            return NULL;
        if (!empty && told->pattern_count > 0)
            empty = told;
    }
    return empty;
}

static bool has_includes_alone(const struct cunei_process *told)
{
    for (size_t i = 0; i < told->pattern_count; i++) {
        if (told->patterns[i][0] != '+')
            return false;
    }
    return true;
}

/* A class or a function by itself is a module to us: say how to name it. */
static bool is_module(const char *pattern)
{
    const char *end = strrchr(pattern, '.');
    return !strpbrk(pattern, ":/") && !(end && strcmp(end, ".py") == 0);
}

/*
 * "app.filter:3: " of a pattern that was not typed, which is "" then.  Lines are not
 * known of JSON.
 */
static void put_place(const struct cunei_patterns *patterns, const char *pattern,
                      struct cunei_buffer *out, size_t *line)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        const char *file = cunei_patterns_file(patterns, i, line);
        if (!file || strcmp(cunei_patterns_text(patterns, i, &include), pattern) != 0)
            continue;
        cunei_buffer_append_text(out, file);
        if (*line)
            cunei_buffer_format(out, ":%zu", *line);
        cunei_buffer_append_text(out, ": ");
        return;
    }
}

/* What may have been meant. */
static void put_guess(const struct cunei_recorded_run *recording, const char *pattern,
                      struct cunei_buffer *out)
{
    bool named = is_module(pattern);
    char *module = named ? cunei_suggest_module(&recording->program, pattern) : NULL;

    if (module)
        cunei_buffer_format(out,
                            "; did you mean the module '%s', or the function ':%s'?",
                            module, pattern);
    else
        cunei_buffer_format(out,
                            "; a pattern is a module, module:qualname, a file or "
                            "re:…%s%s%s",
                            named ? "; for a function or method write ':" : "",
                            named ? pattern : "", named ? "'" : "");
    free(module);
}

/* No function matched `pattern`, which stands at `place`; "": it was typed. */
static void say_wanted(const struct cunei_recorded_run *recording, const char *pattern,
                       const char *place, bool is_guessed)
{
    struct cunei_buffer shown = {0}, guess = {0};

    size_t prefix = strlen(CUNEI_PATTERN_PROJECT);
    if (strncmp(pattern, CUNEI_PATTERN_PROJECT, prefix) == 0) {
        cunei_cmd_note("no function of the project '%s' was called; --include names "
                       "others, a module or a file",
                       pattern + prefix);
        return;
    }
    cunei_format_text(&shown, pattern, PATTERN_WIDTH);
    if (is_guessed)
        put_guess(recording, pattern, &guess);
    cunei_cmd_note("%sno function matched %s'%s'%s", place, *place ? "" : "--include ",
                   shown.data ? shown.data : "", guess.data ? guess.data : "");
    cunei_buffer_fini(&shown);
    cunei_buffer_fini(&guess);
}

/* All of them together have left nothing. */
static void say_together(const struct cunei_process *told, const char *place)
{
    struct cunei_buffer list = {0};

    for (size_t i = 0; i < told->pattern_count && i < PATTERNS_SHOWN; i++) {
        cunei_buffer_format(&list, "%s%c", i ? " " : "", told->patterns[i][0]);
        cunei_format_text(&list, told->patterns[i] + 1, PATTERN_WIDTH);
    }
    if (told->pattern_count > PATTERNS_SHOWN)
        cunei_buffer_format(&list, " and %zu more",
                            told->pattern_count - PATTERNS_SHOWN);
    cunei_cmd_note("%sno function was recorded: the filter %s left out all that were "
                   "called",
                   place, list.data ? list.data : "");
    cunei_buffer_fini(&list);
}

static void say_empty(const struct cunei_recorded_run *recording,
                      const struct cunei_trace *trace)
{
    const struct cunei_process *told = find_empty(trace);
    struct cunei_buffer text = {0};
    size_t line = 0;

    if (!told || cunei_record_options_instrumenter(recording->options) ==
                     CUNEI_INSTRUMENTER_NONE)
        return;
    const char *first = told->patterns[0];
    put_place(&recording->options->patterns, first + 1, &text, &line);
    const char *place = text.size ? text.data : "";
    if (has_includes_alone(told))
        say_wanted(recording, first + 1, place, true);
    else if (told->pattern_count == 1 && first[1] == '!' && *place)
        say_wanted(recording, first + 2, place, line > 0); /* JSON has expressions */
    else
        say_together(told, told->pattern_count == 1 ? place : "");
    cunei_buffer_fini(&text);
}

/* A function of C has no file. */
static bool has_c_function(const struct cunei_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (uint32_t j = 0; j < process->function_count; j++) {
            if (process->functions[j].module && !process->functions[j].file[0])
                return true;
        }
    }
    return false;
}

/* Who selects a module of Python may expect what that calls. */
static void say_c_calls(const struct cunei_record_options *values,
                        const struct cunei_trace *trace)
{
    const char *first = "";
    bool selects = false;

    if (values->patterns.count > 0)
        first = cunei_patterns_text(&values->patterns, 0, &selects);
    if (!values->c_calls || !selects || find_empty(trace) || has_c_function(trace))
        return;
    bool is_project =
        strncmp(first, CUNEI_PATTERN_PROJECT, strlen(CUNEI_PATTERN_PROJECT)) == 0;
    cunei_cmd_note("%s; they are selected by their own module, as by --include "
                   "builtins",
                   is_project ? "no C function belongs to a project"
                              : "no C function matched the patterns");
}

/* What a pattern says of the functions that it means. */
enum kind {
    KIND_EXPRESSION,
    KIND_FUNCTION, /* module:qualname */
    KIND_FILE,
    KIND_MODULE,
};

/* A search for functions that a pattern of --args, --return or --lines matches. */
struct search {
    const char *pattern;
    enum kind kind;
    struct cunei_patterns patterns;  /* that one alone */
    struct cunei_suggestion nearest; /* to a pattern of the same kind */
    struct cunei_suggestion by_name; /* to the function's name alone */
    const char *function;            /* borrowed: whose name that is */
    char *suggestion; /* owned: what nearest.name is, where it was made */
    bool matched;
    bool has_c_function; /* it means one, of which neither is told */
};

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void begin_search(struct search *search, const char *pattern)
{
    const char *colon = strchr(pattern, ':');

    *search = (struct search){.pattern = pattern, .nearest = {.word = pattern}};
    /* There it is, even where no call of it was recorded. */
    search->has_c_function = strncmp(pattern, "builtins:", strlen("builtins:")) == 0;
    search->by_name.word = colon ? colon + 1 : pattern;
    if (strncmp(pattern, "re:", 3) == 0)
        search->kind = KIND_EXPRESSION;
    else if (colon)
        search->kind = KIND_FUNCTION;
    else if (is_module(pattern))
        search->kind = KIND_MODULE;
    else {
        search->kind = KIND_FILE;
        search->nearest.word = last_of(pattern);
    }
}

/* Module and name, as such a pattern would have them. */
static void offer_whole(struct search *search, const struct cunei_function *function)
{
    bool has_module = search->pattern[0] != ':';
    char *name = NULL;

    if (asprintf(&name, "%s:%s", has_module ? function->module : "",
                 function->qualname) < 0)
        return;
    cunei_suggestion_offer(&search->nearest, name);
    if (search->nearest.name == name) {
        free(search->suggestion);
        search->suggestion = name;
    } else
        free(name);
}

static void offer(struct search *search, const struct cunei_function *function)
{
    if (search->kind == KIND_EXPRESSION)
        return;
    if (search->kind == KIND_FILE) {
        cunei_suggestion_offer(&search->nearest, last_of(function->file));
        return;
    }
    if (search->kind == KIND_MODULE)
        cunei_suggestion_offer(&search->nearest, function->module);
    else
        offer_whole(search, function);
    if (cunei_suggestion_offer_function(&search->by_name, function->qualname))
        search->function = function->qualname;
}

static void search_process(struct search *search,
                           const struct cunei_trace_process *process)
{
    for (uint32_t i = 0; i < process->function_count && !search->matched; i++) {
        const struct cunei_function *function = &process->functions[i];
        if (!function->module)
            continue;
        bool is_meant = cunei_patterns_include(&search->patterns, function->module,
                                               function->qualname, function->file);
        /* A function of C has no file. */
        if (!function->file[0])
            search->has_c_function |= is_meant;
        else {
            search->matched = is_meant;
            offer(search, function);
        }
    }
}

static void say_value(const char *option, const struct search *search, bool selects)
{
    const char *pattern = search->pattern;
    bool is_named =
        search->function &&
        (!search->nearest.name || search->by_name.distance < search->nearest.distance);
    /* A module that is there may be two slips from any short name. */
    bool is_function = is_named && search->by_name.distance <= 1;

    if (search->has_c_function)
        cunei_cmd_note("%s '%s' means C functions, and those have no %s that could be "
                       "recorded",
                       option, pattern,
                       strcmp(option, "--lines") == 0 ? "lines" : "values");
    else if (search->kind == KIND_MODULE && is_function)
        cunei_cmd_note("no function that was recorded matches %s '%s', which is read "
                       "as a module; for a function or method write ':%s'",
                       option, pattern, search->function);
    else if (search->kind == KIND_MODULE && (is_named || !search->nearest.name))
        cunei_cmd_note("no function that was recorded matches %s '%s', which is read "
                       "as a module; a pattern of functions or methods begins with "
                       "':'",
                       option, pattern);
    else if (is_named || search->nearest.name)
        cunei_cmd_note("no function that was recorded matches %s '%s'; did you mean "
                       "'%s%s'?",
                       option, pattern, is_named ? ":" : "",
                       is_named ? search->function : search->nearest.name);
    else
        cunei_cmd_note("no function that was recorded matches %s '%s'%s", option,
                       pattern,
                       selects ? "; --include and --exclude decide first" : "");
}

static void say_values(const struct cunei_recorded_run *recording, const char *option,
                       const struct cunei_patterns *patterns,
                       const struct cunei_trace *trace)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        struct search search;
        begin_search(&search, cunei_patterns_text(patterns, i, &include));
        if (cunei_patterns_add(&search.patterns, true, search.pattern, NULL, 0) == 0) {
            for (size_t j = 0; j < trace->process_count; j++)
                search_process(&search, &trace->processes[j]);
            if (!search.matched)
                say_value(option, &search, recording->options->patterns.count > 0);
        }
        cunei_patterns_fini(&search.patterns);
        free(search.suggestion);
    }
}

void cunei_suggest_patterns(const struct cunei_recorded_run *recording,
                            const struct cunei_trace *trace)
{
    say_empty(recording, trace);
    say_c_calls(recording->options, trace);
    say_values(recording, "--args", &recording->options->arguments, trace);
    say_values(recording, "--return", &recording->options->results, trace);
    say_values(recording, "--lines", &recording->options->lines, trace);
}
