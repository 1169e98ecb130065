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
#define NO_GIL     (1u << CUNEI_INSTRUMENTERS) /* free-threaded builds only */

/* Versions as one number; SERIES: the last possible release of 3.`minor`. */
#define RELEASE(minor, patch) ((minor)*1000 + (patch))
#define SERIES(minor)         RELEASE(minor, 999)
#define FROM(minor)           RELEASE(minor, 0)
#define ANY_LATER             INT_MAX

/* Texts of several rows. */
static const char instance_method[] = "methods that a class makes of C functions, for "
                                      "example with pybind11, are not recorded as C "
                                      "calls",
                  closed_generator[] =
                      "closing a generator is not recorded if its yield is outside try",
                  excluded_cost[] =
                      "excluded functions still cost time with this --instrumenter, "
                      "which CPython calls for every function";

#define INSTEAD "; use 'cunei filter' instead, which proposes functions to exclude"

static const struct {
    int first, last;  /* as RELEASE makes them */
    unsigned hooks;   /* the instrumenters that it holds for, and NO_GIL */
    is_asked *asked;  /* whether the request is affected; NULL: doctor alone lists it */
    const char *text; /* after "on CPython 3.9, " */
} limits[] = {
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "an exception that is raised and caught in the same function is not recorded"},
    {FROM(8), SERIES(10), HOOK(FRAME), asks_for_selection,
     "excluded functions still cost time: a call takes × 1.04"},
    {FROM(11), SERIES(11), HOOK(FRAME), asks_for_selection,
     "excluded functions still cost time: a call takes × 1.5"},
    {FROM(8), ANY_LATER, HOOK(PROFILE) | HOOK(TRACE), asks_for_selection,
     excluded_cost},
    {FROM(8), SERIES(10), ANY_HOOK, asks_by_qualname,
     "a function that was created before the recording started, and that is not in its "
     "module, is known by its __name__ only, not by its __qualname__"},
    {FROM(8), SERIES(11), HOOK(FRAME) | HOOK(TRACE), asks_for_lines,
     "a loop on one line counts one hit per iteration"},
    {FROM(12), ANY_LATER, HOOK(TRACE), asks_for_lines,
     "--instrumenter trace counts one hit per iteration of a loop on one line"},
    {FROM(12), RELEASE(13, 2), HOOK(TRACE), asks_for_any,
     "--instrumenter trace is slow in functions of more than about 127 lines, like "
     "sys.settrace: CPython searches for each line from the first; a function of 300 "
     "lines takes 40 times as long"},
    {FROM(12), RELEASE(13, 2), HOOK(MONITORING), NULL,
     "--lines is slower for functions of more than 127 lines: about 0.2 µs more per "
     "line"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "lines are not recorded for the rest of a call that calls sys.settrace or switches "
     "greenlets"},
    {FROM(8), SERIES(8), HOOK(FRAME) | HOOK(PROFILE), asks_for_c_calls,
     "'with lock:' is not recorded as C calls"},
    {FROM(9), SERIES(13), HOOK(MONITORING) | HOOK(FRAME) | HOOK(PROFILE), NULL,
     "only the end of 'with lock:' is recorded as a C call"},
    {FROM(8), SERIES(10), HOOK(FRAME) | HOOK(PROFILE), NULL, instance_method},
    {FROM(12), SERIES(13), HOOK(MONITORING) | HOOK(PROFILE), NULL, instance_method},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "while the program has its own profile function, C calls are not recorded until "
     "the thread calls a Python function"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "exceptions of functions that were running when the recording started are not "
     "recorded; in greenlets that were suspended then, their returns are not either"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "closing a generator that has not started is recorded as a resume and a return"},
    {FROM(9), SERIES(9), HOOK(FRAME), NULL,
     "if a recording starts while an exception is thrown into a generator, the recorded "
     "stack ends at that generator"},
    {FROM(8), SERIES(10), HOOK(FRAME), NULL,
     "a C call in which a greenlet is killed is recorded until its caller ends"},
    {FROM(11), SERIES(11), HOOK(FRAME), NULL,
     "with greenlet loaded, recursion deeper than about 10 000 calls may overflow the C "
     "stack"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "where pydevd or torch.compile evaluates frames, only --instrumenter profile and "
     "trace can record"},
    {FROM(8), SERIES(11), HOOK(FRAME), NULL,
     "--budget is not available, because it needs sys.monitoring" INSTEAD},
    {RELEASE(12, 3), RELEASE(13, 11), HOOK(MONITORING), NULL, closed_generator},
    {FROM(14), RELEASE(14, 0), HOOK(MONITORING), NULL, closed_generator},
    {FROM(13), SERIES(13), HOOK(MONITORING), NULL,
     "pdb.set_trace() in a recorded function stops one line later"},
    {FROM(13), SERIES(13), HOOK(MONITORING) | NO_GIL, NULL,
     "when several threads call a function for the first time at once, some of these "
     "calls are not recorded"},
    {FROM(13), ANY_LATER, HOOK(MONITORING) | NO_GIL, asks_for_selection,
     "excluded functions still cost time without a GIL"},
    {FROM(13), ANY_LATER, HOOK(MONITORING) | NO_GIL, NULL,
     "--budget is not available, because without a GIL each switch of events stops all "
     "threads" INSTEAD},
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
