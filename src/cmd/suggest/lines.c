// SPDX-License-Identifier: MIT
#include "cmd/suggest/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/suggest/nearest.h"
#include "report/function_choice.h"
#include "report/report.h"
#include "trace/trace.h"

#define NAMES_SHOWN 3u

/* What a name may mean. */
struct meaning {
    const struct cunei_report_missing *missing;
    char **sorted;        /* owned: those of it that have lines; borrowed names */
    const char *name;     /* as typed */
    const char *word;     /* of that, what may be a qualified name */
    const char *qualname; /* of a function of that name; NULL: it is a pattern */
    bool is_c, is_python; /* one of C, or of Python, has that word for a name */
    /* Those near it, with lines and without, and what that is the name of. */
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

/* A name is no pattern: that has all of the qualified name. */
static int fail_unrecorded(const struct meaning *meaning, const char *path)
{
    return cunei_cmd_fail(0,
                          "the lines of '%s' were not recorded in '%s'; record them "
                          "with --lines '%s%s'",
                          meaning->name, path, meaning->qualname ? ":" : "",
                          meaning->qualname ? meaning->qualname : meaning->name);
}

/* The first of those that have lines. */
static int fail_with_list(const struct meaning *meaning, const char *path)
{
    const struct cunei_report_missing *missing = meaning->missing;
    struct cunei_buffer list = {0};

    for (size_t i = 0; i < missing->lined_count && i < NAMES_SHOWN; i++)
        cunei_buffer_format(&list, "%s'%s'", i ? ", " : "", missing->lined[i]);
    if (missing->lined_count > NAMES_SHOWN)
        cunei_buffer_format(&list, " and %zu more", missing->lined_count - NAMES_SHOWN);
    int status =
        cunei_cmd_fail(0, "'%s' holds no function like '%s'; lines were recorded of %s",
                       path, meaning->name, list.data ? list.data : "others");
    cunei_buffer_fini(&list);
    return status;
}

static int fail_unknown(const struct meaning *meaning, const char *path)
{
    const char *name = meaning->name;
    bool is_lined =
        meaning->lined.name &&
        (!meaning->other.name || meaning->lined.distance <= meaning->other.distance);

    if (is_lined)
        return cunei_cmd_fail(0, "'%s' holds no function like '%s'; did you mean '%s'?",
                              path, name, meaning->lined.name);
    if (meaning->other.name)
        return cunei_cmd_fail(
            0,
            "'%s' holds no function like '%s'; did you mean '%s'? Its "
            "lines were not recorded; record them with --lines ':%s'",
            path, name, meaning->other.name, meaning->other_qualname);
    if (meaning->missing->lined_count > 0)
        return fail_with_list(meaning, path);
    return cunei_cmd_fail(0, "'%s' holds no function like '%s'", path, name);
}

int cunei_suggest_lines(const struct cunei_trace *trace, const char *path,
                        const struct cunei_report_missing *missing, bool is_there)
{
    const char *colon = strchr(missing->name, ':');
    const char *word = colon ? colon + 1 : missing->name;
    struct meaning meaning = {.missing = missing,
                              .name = missing->name,
                              .word = word,
                              .lined = {.word = word},
                              .other = {.word = word}};

    meaning.sorted = malloc((missing->lined_count + 1) * sizeof(*meaning.sorted));
    if (!meaning.sorted)
        return cunei_cmd_fail(-ENOMEM, "cannot look for '%s'", missing->name);
    for (size_t i = 0; i < missing->lined_count; i++)
        meaning.sorted[i] = missing->lined[i];
    qsort(meaning.sorted, missing->lined_count, sizeof(*meaning.sorted), compare_names);
    look_around(&meaning, trace);
    free(meaning.sorted);
    if (meaning.is_c && !meaning.is_python)
        return cunei_cmd_fail(0, "'%s' is a C function, and those have no lines",
                              meaning.name);
    return is_there ? fail_unrecorded(&meaning, path) : fail_unknown(&meaning, path);
}
