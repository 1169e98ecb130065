// SPDX-License-Identifier: MIT
#include "cmd/suggest/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/suggest/suggestion.h"
#include "report/function_choice.h"
#include "report/report.h"
#include "trace/directory/trace.h"

#define NAMES_SHOWN 3u

/* What a name may mean. */
struct meaning {
    const struct cunei_report_missing *missing;
    char **sorted;        /* owned: the functions with lines; borrowed names */
    const char *name;     /* as typed */
    const char *word;     /* of that, what may be a qualified name */
    const char *qualname; /* of a function of that name; NULL: it is a pattern */
    bool is_c, is_python; /* a function in C, or in Python, has that name */
    /* The nearest with lines and the nearest without, and whose name the latter is. */
    struct cunei_suggestion lined, other;
    const char *other_qualname;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_lined(const struct meaning *meaning, const char *qualname)
{
    return bsearch(&qualname, meaning->sorted, meaning->missing->lined_count,
                   sizeof(*meaning->sorted), compare_names);
}

static void look_at(struct meaning *meaning, const struct cunei_function *function)
{
    if (!function->file[0]) {
        meaning->is_c |= cunei_function_choice_is_name(function, meaning->word);
        return;
    }
    meaning->is_python |= cunei_function_choice_is_name(function, meaning->word);
    if (!meaning->qualname && cunei_function_choice_is_name(function, meaning->name))
        meaning->qualname = function->qualname;
    if (is_lined(meaning, function->qualname))
        (void)cunei_suggestion_offer_function(&meaning->lined, function->qualname);
    else if (cunei_suggestion_offer_function(&meaning->other, function->qualname))
        meaning->other_qualname = function->qualname;
}

static void look_around(struct meaning *meaning, const struct cunei_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (uint32_t j = 0; j < process->function_count; j++) {
            if (process->functions[j].module)
                look_at(meaning, &process->functions[j]);
        }
    }
}

static void put_unrecorded(const struct meaning *meaning, const char *path,
                           struct cunei_buffer *out)
{
    /* A pattern must contain the whole qualified name. */
    cunei_buffer_format(out,
                        "the lines of '%s' were not recorded in '%s'; record them "
                        "with --lines '%s%s'",
                        meaning->name, path, meaning->qualname ? ":" : "",
                        meaning->qualname ? meaning->qualname : meaning->name);
}

/* The first functions that have lines. */
static void put_list(const struct cunei_report_missing *missing,
                     struct cunei_buffer *out)
{
    cunei_buffer_append_text(out, "; lines were recorded of ");
    for (size_t i = 0; i < missing->lined_count && i < NAMES_SHOWN; i++)
        cunei_buffer_format(out, "%s'%s'", i ? ", " : "", missing->lined[i]);
    if (missing->lined_count > NAMES_SHOWN)
        cunei_buffer_format(out, " and %zu more", missing->lined_count - NAMES_SHOWN);
}

static void put_unknown(const struct meaning *meaning, const char *path,
                        struct cunei_buffer *out)
{
    bool has_lines =
        meaning->lined.name &&
        (!meaning->other.name || meaning->lined.distance <= meaning->other.distance);

    cunei_buffer_format(out, "'%s' has no function like '%s'", path, meaning->name);
    if (has_lines)
        cunei_suggestion_format(&meaning->lined, "", NULL, out);
    else if (meaning->other.name) {
        cunei_suggestion_format(&meaning->other, "", NULL, out);
        cunei_buffer_format(out,
                            " Its lines were not recorded; record them with --lines "
                            "':%s'",
                            meaning->other_qualname);
    } else if (meaning->missing->lined_count > 0)
        put_list(meaning->missing, out);
}

void cunei_suggest_lines(const struct cunei_trace *trace, const char *path,
                         const struct cunei_report_missing *missing, bool was_called,
                         struct cunei_buffer *sentence)
{
    const char *colon = strchr(missing->name, ':');
    const char *word = colon ? colon + 1 : missing->name;
    struct meaning meaning = {.missing = missing,
                              .name = missing->name,
                              .word = word,
                              .lined = {.word = word},
                              .other = {.word = word}};

    meaning.sorted = malloc((missing->lined_count + 1) * sizeof(*meaning.sorted));
    if (!meaning.sorted) {
        cunei_buffer_format(sentence, "cannot look for '%s': %s", missing->name,
                            strerror(ENOMEM));
        return;
    }
    for (size_t i = 0; i < missing->lined_count; i++)
        meaning.sorted[i] = missing->lined[i];
    qsort(meaning.sorted, missing->lined_count, sizeof(*meaning.sorted), compare_names);
    look_around(&meaning, trace);
    free(meaning.sorted);
    if (meaning.is_c && !meaning.is_python)
        cunei_buffer_format(sentence, "'%s' is a C function, which has no lines",
                            meaning.name);
    else if (was_called)
        put_unrecorded(&meaning, path, sentence);
    else
        put_unknown(&meaning, path, sentence);
}
