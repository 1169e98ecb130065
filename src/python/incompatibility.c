// SPDX-License-Identifier: MIT
#include "python/incompatibility.h"

#include <stddef.h>

enum {
    MINOR_FIRST = 8,
    MINOR_LAST = 15, /* what holds for it holds for later ones */
};

typedef bool gives(enum cunei_instrumenter instrumenter, int minor);

/* An option as people type it, and as an argument of cunei.start(). */
static const struct {
    const char *option, *argument;
} names[CUNEI_INCOMPATIBILITIES] = {
    [CUNEI_INCOMPATIBILITY_LACKING] = {"--instrumenter", "instrumenter"},
    [CUNEI_INCOMPATIBILITY_C_CALLS] = {"--c-calls", "c_calls"},
    [CUNEI_INCOMPATIBILITY_LINES] = {"--lines", "lines"},
    [CUNEI_INCOMPATIBILITY_ARGUMENTS] = {"--args", "args"},
    [CUNEI_INCOMPATIBILITY_RESULTS] = {"--return", "return_"},
    [CUNEI_INCOMPATIBILITY_INCLUDE] = {"--include", "include"},
    [CUNEI_INCOMPATIBILITY_EXCLUDE] = {"--exclude", "exclude"},
    [CUNEI_INCOMPATIBILITY_BUDGET] = {"--budget", "budget"},
};

static bool can(gives *ask, enum cunei_instrumenter instrumenter, int minor)
{
    if (minor)
        return cunei_instrumenter_exists(instrumenter, minor) &&
               ask(instrumenter, minor);
    for (int i = MINOR_FIRST; i <= MINOR_LAST; i++) {
        if (cunei_instrumenter_exists(instrumenter, i) && ask(instrumenter, i))
            return true;
    }
    return false;
}

/* C calls and lines are events of the functions that make them or have them. */
static bool has_budget(const struct cunei_request *request, int minor)
{
    enum cunei_instrumenter wanted = request->instrumenter;

    if (wanted == CUNEI_INSTRUMENTER_DEFAULT && minor)
        wanted = cunei_instrumenter_default(minor);
    return (wanted == CUNEI_INSTRUMENTER_DEFAULT ||
            wanted == CUNEI_INSTRUMENTER_MONITORING) &&
           !request->no_gil && !request->c_calls && !request->lines;
}

enum cunei_incompatibility cunei_incompatibility_with_budget(
    const struct cunei_request *request)
{
    return request->c_calls ? CUNEI_INCOMPATIBILITY_C_CALLS
           : request->lines ? CUNEI_INCOMPATIBILITY_LINES
                            : CUNEI_INCOMPATIBILITY_LACKING;
}

const char *cunei_incompatibility_option(enum cunei_incompatibility found)
{
    return names[found].option;
}

enum cunei_incompatibility cunei_incompatibility_find(
    const struct cunei_request *request, int minor)
{
    enum cunei_instrumenter wanted = request->instrumenter;

    if (request->budget && !has_budget(request, minor))
        return CUNEI_INCOMPATIBILITY_BUDGET;
    if (wanted == CUNEI_INSTRUMENTER_DEFAULT)
        return CUNEI_INCOMPATIBILITY_NONE;
    if (!can(cunei_instrumenter_exists, wanted, minor))
        return CUNEI_INCOMPATIBILITY_LACKING;
    if (request->c_calls && !can(cunei_instrumenter_has_c_calls, wanted, minor))
        return CUNEI_INCOMPATIBILITY_C_CALLS;
    if (request->lines && !can(cunei_instrumenter_has_lines, wanted, minor))
        return CUNEI_INCOMPATIBILITY_LINES;
    if (wanted != CUNEI_INSTRUMENTER_NONE)
        return CUNEI_INCOMPATIBILITY_NONE;
    return request->arguments ? CUNEI_INCOMPATIBILITY_ARGUMENTS
           : request->results ? CUNEI_INCOMPATIBILITY_RESULTS
           : request->include ? CUNEI_INCOMPATIBILITY_INCLUDE
           : request->exclude ? CUNEI_INCOMPATIBILITY_EXCLUDE
                              : CUNEI_INCOMPATIBILITY_NONE;
}

/* "a, b or c": those for which `ask` says yes. */
static void list(gives *ask, int minor, const char *last, struct cunei_buffer *out)
{
    enum cunei_instrumenter found[CUNEI_INSTRUMENTERS];
    size_t count = 0;

    for (int i = CUNEI_INSTRUMENTER_MONITORING; i < CUNEI_INSTRUMENTERS; i++) {
        if (can(ask, (enum cunei_instrumenter)i, minor))
            found[count++] = (enum cunei_instrumenter)i;
    }
    for (size_t i = 0; i < count; i++)
        cunei_buffer_format(out, "%s%s",
                            i == 0           ? ""
                            : i == count - 1 ? last
                                             : ", ",
                            cunei_instrumenter_name(found[i]));
}

void cunei_incompatibility_list(int minor, struct cunei_buffer *out)
{
    list(cunei_instrumenter_exists, minor, " and ", out);
}

/* "3.12 or newer": the Pythons that have an instrumenter which others lack. */
static void put_versions(enum cunei_instrumenter instrumenter, struct cunei_buffer *out)
{
    int minor = MINOR_FIRST;
    bool is_old = cunei_instrumenter_exists(instrumenter, minor);

    while (minor <= MINOR_LAST &&
           cunei_instrumenter_exists(instrumenter, minor) == is_old)
        minor++;
    if (is_old)
        cunei_buffer_format(out, "3.%d or older", minor - 1);
    else
        cunei_buffer_format(out, "3.%d or newer", minor);
}

static void put_instrumenter(const struct cunei_request *request, bool inside,
                             struct cunei_buffer *out)
{
    cunei_buffer_format(out, inside ? "instrumenter '%s'" : "--instrumenter %s",
                        cunei_instrumenter_name(request->instrumenter));
}

/*
 * Which of its conditions does not hold: events of single functions are switched, which
 * takes sys.monitoring and a GIL, and C calls and lines are events of other kinds.
 */
static void put_budget(const struct cunei_request *request, int minor,
                       const struct cunei_incompatibility_context *context,
                       struct cunei_buffer *out)
{
    static const char instead[] =
        "; instead, exclude the functions that 'cunei filter' suggests";
    enum cunei_instrumenter usual =
        minor ? cunei_instrumenter_default(minor) : CUNEI_INSTRUMENTER_MONITORING;
    enum cunei_instrumenter wanted = request->instrumenter == CUNEI_INSTRUMENTER_DEFAULT
                                         ? usual
                                         : request->instrumenter;
    enum cunei_incompatibility other = cunei_incompatibility_with_budget(request);

    cunei_buffer_append_text(out, context->inside ? "budget" : "--budget");
    if (other == CUNEI_INCOMPATIBILITY_C_CALLS || other == CUNEI_INCOMPATIBILITY_LINES)
        cunei_buffer_format(out, " cannot be used with %s; use only one of them",
                            context->inside ? names[other].argument
                                            : names[other].option);
    else if (wanted == CUNEI_INSTRUMENTER_MONITORING)
        cunei_buffer_format(out, " needs a GIL, and %s without one%s", context->subject,
                            instead);
    else if (wanted == usual)
        cunei_buffer_format(out, " needs CPython 3.12 or newer, and %s%s",
                            context->subject, instead);
    else {
        cunei_buffer_append_text(out, " cannot be used with ");
        put_instrumenter(request, context->inside, out);
        cunei_buffer_append_text(out, "; use monitoring (CPython 3.12 or newer)");
    }
}

void cunei_incompatibility_format(enum cunei_incompatibility found,
                                  const struct cunei_request *request, int minor,
                                  const struct cunei_incompatibility_context *context,
                                  struct cunei_buffer *out)
{
    bool inside = context->inside;

    if (found == CUNEI_INCOMPATIBILITY_LACKING) {
        put_instrumenter(request, inside, out);
        cunei_buffer_append_text(out, " needs CPython ");
        put_versions(request->instrumenter, out);
        cunei_buffer_format(out, ", and %s; use ", context->subject);
        list(cunei_instrumenter_exists, minor, " or ", out);
        return;
    }
    if (found == CUNEI_INCOMPATIBILITY_BUDGET) {
        put_budget(request, minor, context, out);
        return;
    }
    cunei_buffer_format(out, "%s cannot be used with ",
                        inside ? names[found].argument : names[found].option);
    put_instrumenter(request, inside, out);
    if (found == CUNEI_INCOMPATIBILITY_C_CALLS ||
        found == CUNEI_INCOMPATIBILITY_LINES) {
        cunei_buffer_append_text(out, "; use ");
        list(found == CUNEI_INCOMPATIBILITY_LINES ? cunei_instrumenter_has_lines
                                                  : cunei_instrumenter_has_c_calls,
             minor, " or ", out);
    } else
        cunei_buffer_append_text(out, ", which records no calls; use only one "
                                      "of them");
}
