// SPDX-License-Identifier: MIT
#include "cmd/suggest/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/pattern.h"
#include "cmd/suggest/module.h"
#include "cmd/suggest/suggestion.h"
#include "text/terminal_text.h"
#include "trace/directory/trace.h"

enum {
    PATTERNS_SHOWN = 4,
    PATTERN_WIDTH = 80,
};

/* A process of a recording whose patterns left everything out; NULL: they did not. */
static const struct cunei_process *find_empty(const struct cunei_trace *trace)
{
    const struct cunei_process *empty = NULL;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_process *process = &trace->processes[i].description;
        if (trace->processes[i].function_count > 0)
            return NULL;
        if (!empty && process->pattern_count > 0)
            empty = process;
    }
    return empty;
}

static bool has_includes_alone(const struct cunei_process *process)
{
    for (size_t i = 0; i < process->pattern_count; i++) {
        if (process->patterns[i][0] != '+')
            return false;
    }
    return true;
}

/* Whether the pattern is read as a module: it has no colon, slash or ending .py. */
static bool is_module(const char *pattern)
{
    const char *end = strrchr(pattern, '.');
    return !strpbrk(pattern, ":/") && !(end && strcmp(end, ".py") == 0);
}

/*
 * Append the place of a pattern that was not typed: "app.filter:3: ".  `*line` is 0 for
 * JSON files.
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

static void end_note(struct cunei_buffer *notes)
{
    cunei_buffer_append(notes, "", 1);
}

/* What may be meant. */
static void put_guess(const struct cunei_pattern_request *request, const char *pattern,
                      struct cunei_buffer *out)
{
    bool named = is_module(pattern);
    char *module =
        named ? cunei_suggest_module(request->folders, request->folder_count, pattern)
              : NULL;

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
static void note_unmatched(const struct cunei_pattern_request *request,
                           const char *pattern, const char *place, bool has_guess,
                           struct cunei_buffer *notes)
{
    size_t prefix = strlen(CUNEI_PATTERN_PROJECT);

    if (strncmp(pattern, CUNEI_PATTERN_PROJECT, prefix) == 0) {
        cunei_buffer_format(notes,
                            "no function of the project '%s' was called; --include "
                            "selects others, by module or file",
                            pattern + prefix);
        end_note(notes);
        return;
    }
    cunei_buffer_format(notes, "%sno function matched %s'", place,
                        *place ? "" : "--include ");
    cunei_terminal_text(notes, pattern, PATTERN_WIDTH);
    cunei_buffer_append_text(notes, "'");
    if (has_guess)
        put_guess(request, pattern, notes);
    end_note(notes);
}

/* The patterns together excluded every function. */
static void note_all_excluded(const struct cunei_process *process, const char *place,
                              struct cunei_buffer *notes)
{
    cunei_buffer_format(notes, "%sno function was recorded: the filter", place);
    for (size_t i = 0; i < process->pattern_count && i < PATTERNS_SHOWN; i++) {
        cunei_buffer_format(notes, " %c", process->patterns[i][0]);
        cunei_terminal_text(notes, process->patterns[i] + 1, PATTERN_WIDTH);
    }
    if (process->pattern_count > PATTERNS_SHOWN)
        cunei_buffer_format(notes, " and %zu more",
                            process->pattern_count - PATTERNS_SHOWN);
    cunei_buffer_append_text(notes, " left out all that were called");
    end_note(notes);
}

static void note_empty(const struct cunei_pattern_request *request,
                       const struct cunei_trace *trace, struct cunei_buffer *notes)
{
    const struct cunei_process *process = find_empty(trace);
    struct cunei_buffer text = {0};
    size_t line = 0;

    if (!process || !request->calls)
        return;
    const char *first = process->patterns[0];
    put_place(request->selection, first + 1, &text, &line);
    const char *place = text.size ? text.data : "";
    if (has_includes_alone(process))
        note_unmatched(request, first + 1, place, true, notes);
    else if (process->pattern_count == 1 && first[1] == '!' && *place)
        /* Patterns of JSON files are expressions, for which there is no guess. */
        note_unmatched(request, first + 2, place, line > 0, notes);
    else
        note_all_excluded(process, process->pattern_count == 1 ? place : "", notes);
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

/* A user who selects a Python module may expect the C functions that it calls. */
static void note_c_calls(const struct cunei_pattern_request *request,
                         const struct cunei_trace *trace, struct cunei_buffer *notes)
{
    const char *first = "";
    bool selects = false;

    if (request->selection->count > 0)
        first = cunei_patterns_text(request->selection, 0, &selects);
    if (!request->c_calls || !selects || find_empty(trace) || has_c_function(trace))
        return;
    bool is_project =
        strncmp(first, CUNEI_PATTERN_PROJECT, strlen(CUNEI_PATTERN_PROJECT)) == 0;
    cunei_buffer_format(notes,
                        "%s; select them by their own module, for example --include "
                        "builtins",
                        is_project ? "C functions belong to no project"
                                   : "no C function matched the patterns");
    end_note(notes);
}

/* By what a pattern selects functions. */
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
    bool has_c_function; /* it matches one, which has neither values nor lines */
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
    /* A builtin exists even where no call of it was recorded. */
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

/* Offer module and name in the form of such a pattern. */
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

static void put_choice(const struct search *search, bool has_selection,
                       struct cunei_buffer *notes)
{
    bool is_named =
        search->function &&
        (!search->nearest.name || search->by_name.distance < search->nearest.distance);
    /* A module that was recorded may be two edits away from any short name. */
    bool is_function = is_named && search->by_name.distance <= 1;
    bool is_module = search->kind == KIND_MODULE;

    if (is_module && is_function)
        cunei_buffer_format(notes,
                            ", which is read as a module; for a function or method "
                            "write ':%s'",
                            search->function);
    else if (is_module && (is_named || !search->nearest.name))
        cunei_buffer_append_text(notes,
                                 ", which is read as a module; a pattern of functions "
                                 "or methods begins with ':'");
    else if (is_named)
        cunei_buffer_format(notes, "; did you mean ':%s'?", search->function);
    else
        cunei_suggestion_format(
            &search->nearest, "",
            has_selection ? "--include and --exclude are applied first" : NULL, notes);
}

static void note_value(const char *option, const struct search *search,
                       bool has_selection, struct cunei_buffer *notes)
{
    if (search->has_c_function)
        cunei_buffer_format(
            notes, "%s '%s' matches C functions, which have no %s to record", option,
            search->pattern, strcmp(option, "--lines") == 0 ? "lines" : "values");
    else {
        cunei_buffer_format(notes, "no recorded function matches %s '%s'", option,
                            search->pattern);
        put_choice(search, has_selection, notes);
    }
    end_note(notes);
}

static void note_values(const struct cunei_pattern_request *request, const char *option,
                        const struct cunei_patterns *patterns,
                        const struct cunei_trace *trace, struct cunei_buffer *notes)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        struct search search;
        begin_search(&search, cunei_patterns_text(patterns, i, &include));
        if (cunei_patterns_add(&search.patterns, true, search.pattern, NULL, 0) == 0) {
            for (size_t j = 0; j < trace->process_count; j++)
                search_process(&search, &trace->processes[j]);
            if (!search.matched)
                note_value(option, &search, request->selection->count > 0, notes);
        }
        cunei_patterns_fini(&search.patterns);
        free(search.suggestion);
    }
}

void cunei_suggest_patterns(const struct cunei_pattern_request *request,
                            const struct cunei_trace *trace, struct cunei_buffer *notes)
{
    note_empty(request, trace, notes);
    note_c_calls(request, trace, notes);
    note_values(request, "--args", request->arguments, trace, notes);
    note_values(request, "--return", request->results, trace, notes);
    note_values(request, "--lines", request->lines, trace, notes);
}
