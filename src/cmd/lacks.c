// SPDX-License-Identifier: MIT
#include "cmd/lacks.h"

#include <limits.h>
#include <string.h>

#include "cmd/instrumenter.h"
#include "cmd/recording.h"

typedef bool is_asked(const struct cunei_recording_values *values);

static bool asks_for_some(const struct cunei_recording_values *values)
{
    return values->patterns.count > 0;
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

static bool asks_by_qualname(const struct cunei_recording_values *values)
{
    return has_qualname(&values->patterns) || has_qualname(&values->arguments) ||
           has_qualname(&values->results) || has_qualname(&values->lines);
}

static bool asks_for_lines(const struct cunei_recording_values *values)
{
    return values->lines.count > 0;
}

/* The hook itself is what it lacks with. */
static bool asks_for_trace(const struct cunei_recording_values *values)
{
    (void)values;
    return true;
}

static bool asks_for_c_calls(const struct cunei_recording_values *values)
{
    return values->c_calls;
}

#define HOOK(name) (1u << CUNEI_INSTRUMENTER_##name)
#define ANY_HOOK   UINT_MAX
#define ANY_LATER  INT_MAX

static const struct {
    int first, last;  /* minor versions */
    unsigned hooks;   /* with these: of HOOK */
    is_asked *asked;  /* by options; NULL: by none */
    const char *text; /* after "on CPython 3.9 " */
} lacks[] = {
    {8, 11, HOOK(FRAME), NULL,
     "an exception that is raised and taken within one function is not seen"},
    {8, 10, HOOK(FRAME), asks_for_some,
     "functions that are left out are not free: a call of one takes × 1.04"},
    {11, 11, HOOK(FRAME), asks_for_some,
     "functions that are left out are not free: a call of one takes × 1.5"},
    {8, ANY_LATER, HOOK(PROFILE) | HOOK(TRACE), asks_for_some,
     "functions that are left out are not free with this --instrumenter: the hook is "
     "called for them, too"},
    {12, ANY_LATER, HOOK(FRAME), asks_for_some,
     "functions that are left out are not free with this --instrumenter: the evaluator "
     "is called for them, too"},
    {8, 10, ANY_HOOK, asks_by_qualname,
     "a function that was made before the recording and that its module does not hold "
     "goes by its plain name"},
    {8, 11, HOOK(FRAME) | HOOK(TRACE), asks_for_lines,
     "a loop that stands in one line counts as a hit each time it goes around"},
    {12, ANY_LATER, HOOK(TRACE), asks_for_lines,
     "--instrumenter trace counts a loop that stands in one line each time it goes "
     "around"},
    {12, 13, HOOK(TRACE), asks_for_trace,
     "--instrumenter trace is slow in functions of thousands of lines: CPython looks "
     "for each line from the first one on"},
    {8, 8, HOOK(FRAME) | HOOK(PROFILE), asks_for_c_calls,
     "'with lock:' is no call of a C function"},
    {9, 9, HOOK(FRAME), NULL,
     "the stack that a recording finds ends at a generator into which an exception is "
     "thrown"},
};
#define LACK_COUNT (sizeof(lacks) / sizeof(lacks[0]))

static bool holds(size_t index, int minor, enum cunei_instrumenter hook)
{
    return minor >= lacks[index].first && minor <= lacks[index].last &&
           lacks[index].hooks & 1u << hook;
}

bool cunei_lacks_next(int minor, struct cunei_lack *lack)
{
    enum cunei_instrumenter hook = cunei_instrumenter_default(minor);

    while (lack->place < LACK_COUNT && !holds(lack->place, minor, hook))
        lack->place++;
    if (lack->place == LACK_COUNT)
        return false;
    lack->text = lacks[lack->place++].text;
    return true;
}

void cunei_lacks_of(int minor, const struct cunei_recording_values *values,
                    struct cunei_buffer *text)
{
    enum cunei_instrumenter hook = cunei_recording_instrumenter(values);

    if (hook == CUNEI_INSTRUMENTER_DEFAULT)
        hook = cunei_instrumenter_default(minor);
    if (hook == CUNEI_INSTRUMENTER_NONE)
        return;
    for (size_t i = 0; i < LACK_COUNT; i++) {
        if (holds(i, minor, hook) && lacks[i].asked && lacks[i].asked(values))
            cunei_buffer_format(text, "%s%s", text->size ? "; " : "", lacks[i].text);
    }
}
