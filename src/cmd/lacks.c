// SPDX-License-Identifier: MIT
#include "cmd/lacks.h"

#include <string.h>

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

static bool asks_for_c_calls(const struct cunei_recording_values *values)
{
    return values->c_calls;
}

static const struct {
    int first, last;  /* minor versions */
    is_asked *asked;  /* by options; NULL: by none */
    const char *text; /* after "on CPython 3.9 " */
} lacks[] = {
    {8, 11, NULL,
     "an exception that is raised and taken within one function is not seen"},
    {8, 10, asks_for_some,
     "functions that are left out are not free: a call of one takes × 1.04"},
    {11, 11, asks_for_some,
     "functions that are left out are not free: a call of one takes × 1.5"},
    {8, 10, asks_by_qualname,
     "a function that was made before the recording and that its module does not hold "
     "goes by its plain name"},
    {8, 11, asks_for_lines,
     "a loop that stands in one line counts as a hit each time it goes around"},
    {8, 8, asks_for_c_calls, "'with lock:' is no call of a C function"},
    {9, 9, NULL,
     "the stack that a recording finds ends at a generator into which an exception is "
     "thrown"},
};
#define LACK_COUNT (sizeof(lacks) / sizeof(lacks[0]))

static bool holds(size_t index, int minor)
{
    return minor >= lacks[index].first && minor <= lacks[index].last;
}

bool cunei_lacks_next(int minor, struct cunei_lack *lack)
{
    while (lack->place < LACK_COUNT && !holds(lack->place, minor))
        lack->place++;
    if (lack->place == LACK_COUNT)
        return false;
    lack->text = lacks[lack->place++].text;
    return true;
}

void cunei_lacks_of(int minor, const struct cunei_recording_values *values,
                    struct cunei_buffer *text)
{
    for (size_t i = 0; i < LACK_COUNT; i++) {
        if (holds(i, minor) && lacks[i].asked && lacks[i].asked(values))
            cunei_buffer_format(text, "%s%s", text->size ? "; " : "", lacks[i].text);
    }
}
