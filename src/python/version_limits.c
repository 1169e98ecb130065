// SPDX-License-Identifier: MIT
#include "python/version_limits.h"

#include <limits.h>

#include "python/incompatibility.h"

typedef bool is_asked(const struct cunei_request *request);

static bool asks_for_selection(const struct cunei_request *request)
{
    return request->include || request->exclude;
}

static bool asks_by_qualname(const struct cunei_request *request)
{
    return request->qualnames;
}

static bool asks_for_lines(const struct cunei_request *request)
{
    return request->lines;
}

static bool asks_for_c_calls(const struct cunei_request *request)
{
    return request->c_calls;
}

/* The limit is that of the instrumenter itself. */
static bool asks_for_any(const struct cunei_request *request)
{
    (void)request;
    return true;
}

#define HOOK(name) (1u << CUNEI_INSTRUMENTER_##name)
#define ANY_HOOK   (NO_GIL - 1)
#define NO_GIL     (1u << CUNEI_INSTRUMENTERS) /* only where there is none */

/* Versions as one number; SERIES: the last that 3.`minor` can have. */
#define RELEASE(minor, patch) ((minor)*1000 + (patch))
#define SERIES(minor)         RELEASE(minor, 999)
#define FROM(minor)           RELEASE(minor, 0)
#define ANY_LATER             INT_MAX

/* What holds for several spans of them. */
static const char instance_method[] = "a method that a class makes of a C function, as "
                                      "pybind11 does, is no call of a C function",
                  closed_generator[] =
                      "that a generator is closed whose yield is in no try is not told";

/* A budget is refused there: cunei_incompatibility_find. */
#define INSTEAD "; 'cunei filter' proposes what to leave out instead"

static const struct {
    int first, last;  /* of RELEASE */
    unsigned hooks;   /* with these: of HOOK, and NO_GIL */
    is_asked *asked;  /* by options; NULL: by none */
    const char *text; /* after "on CPython 3.9 " */
} limits[] = {
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "an exception that is raised and taken within one function is not seen"},
    {FROM(8), SERIES(10), HOOK(FRAME), asks_for_selection,
     "functions that are left out are not free: a call of one takes × 1.04"},
    {FROM(11), SERIES(11), HOOK(FRAME), asks_for_selection,
     "functions that are left out are not free: a call of one takes × 1.5"},
    {FROM(8), ANY_LATER, HOOK(PROFILE) | HOOK(TRACE), asks_for_selection,
     "functions that are left out are not free with this --instrumenter: the hook is "
     "called for them, too"},
    {FROM(8), SERIES(10), ANY_HOOK, asks_by_qualname,
     "a function that was made before the recording and that its module does not hold "
     "goes by its plain name"},
    {FROM(8), SERIES(11), HOOK(FRAME) | HOOK(TRACE), asks_for_lines,
     "a loop that stands in one line counts as a hit each time it goes around"},
    {FROM(12), ANY_LATER, HOOK(TRACE), asks_for_lines,
     "--instrumenter trace counts a loop that stands in one line each time it goes "
     "around"},
    {FROM(12), RELEASE(13, 2), HOOK(TRACE), asks_for_any,
     "--instrumenter trace is slow in functions of more than about 127 lines, as "
     "sys.settrace is: CPython looks for each line from the first one on; one of 300 "
     "takes 40 times as long"},
    {FROM(12), RELEASE(13, 2), HOOK(MONITORING), NULL,
     "of a function of more than 127 lines --lines tells by instructions: a line of it "
     "takes some 0.2 µs more"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "lines of a function are not told to the end of a call that itself calls "
     "sys.settrace, or in which greenlets are switched"},
    {FROM(8), SERIES(8), HOOK(FRAME) | HOOK(PROFILE), asks_for_c_calls,
     "'with lock:' is no call of a C function"},
    {FROM(9), SERIES(13), HOOK(MONITORING) | HOOK(FRAME) | HOOK(PROFILE), NULL,
     "of 'with lock:' only the end is a call of a C function"},
    {FROM(8), SERIES(10), HOOK(FRAME) | HOOK(PROFILE), NULL, instance_method},
    {FROM(12), SERIES(13), HOOK(MONITORING) | HOOK(PROFILE), NULL, instance_method},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "C calls are not told while the program has a profile function of its own and the "
     "thread enters no function"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "of functions that were open when a recording began, neither an exception that "
     "they raise is told, nor, in greenlets that slept then, their end"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "a generator that is closed before it has begun is told to go on, and to end"},
    {FROM(9), SERIES(9), HOOK(FRAME), NULL,
     "the stack that a recording finds ends at a generator into which an exception is "
     "thrown"},
    {FROM(8), SERIES(10), HOOK(FRAME), NULL,
     "the C call in which a greenlet is killed ends with its function"},
    {FROM(11), SERIES(11), HOOK(FRAME), NULL,
     "with greenlet loaded, recursion of more than some 10 000 functions may overflow "
     "the C stack"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "there can be no recording where pydevd or torch.compile evaluates frames, unless "
     "by --instrumenter profile or trace"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "there is no --budget, which takes sys.monitoring" INSTEAD},
    {RELEASE(12, 3), RELEASE(13, 11), HOOK(MONITORING), NULL, closed_generator},
    {FROM(14), RELEASE(14, 0), HOOK(MONITORING), NULL, closed_generator},
    {FROM(13), SERIES(13), HOOK(MONITORING), NULL,
     "pdb.set_trace() in a recorded function stops a line later"},
    {FROM(13), SERIES(13), HOOK(MONITORING) | NO_GIL, NULL,
     "some starts of a function that threads race to call first are not told"},
    {FROM(13), ANY_LATER, HOOK(MONITORING) | NO_GIL, asks_for_selection,
     "functions that are left out are not free without a GIL"},
    {FROM(13), ANY_LATER, HOOK(MONITORING) | NO_GIL, NULL,
     "there is no --budget, for without a GIL each switch of events stops the "
     "world" INSTEAD},
};
#define LIMIT_COUNT (sizeof(limits) / sizeof(limits[0]))

static bool holds(size_t row, const struct cunei_python_version *version,
                  enum cunei_instrumenter hook)
{
    int release = RELEASE(version->minor, version->patch);

    return release >= limits[row].first && release <= limits[row].last &&
           limits[row].hooks & 1u << hook &&
           (version->no_gil || !(limits[row].hooks & NO_GIL));
}

bool cunei_version_limits_next(const struct cunei_python_version *version,
                               struct cunei_version_limit *limit)
{
    enum cunei_instrumenter hook = cunei_instrumenter_default(version->minor);

    while (limit->next_row < LIMIT_COUNT && !holds(limit->next_row, version, hook))
        limit->next_row++;
    if (limit->next_row == LIMIT_COUNT)
        return false;
    limit->text = limits[limit->next_row++].text;
    return true;
}

void cunei_version_limits_format(const struct cunei_python_version *version,
                                 const struct cunei_request *request,
                                 struct cunei_buffer *text)
{
    enum cunei_instrumenter hook = request->instrumenter;

    if (hook == CUNEI_INSTRUMENTER_DEFAULT)
        hook = cunei_instrumenter_default(version->minor);
    if (hook == CUNEI_INSTRUMENTER_NONE)
        return;
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        if (holds(i, version, hook) && limits[i].asked && limits[i].asked(request))
            cunei_buffer_format(text, "%s%s", text->size ? "; " : "", limits[i].text);
    }
}
