// SPDX-License-Identifier: MIT
/*
 * Whether an instrumenter and a Python can record what is requested; if not, a sentence
 * that says why.  The launcher, the package and the probe print the same sentence.
 *
 *     struct cunei_request request = {.instrumenter = …, .lines = true};
 *     enum cunei_incompatibility found = cunei_incompatibility_find(&request, 13);
 *     if (found)
 *         cunei_incompatibility_format(found, &request, 13, &context, &sentence);
 */
#ifndef CUNEI_PYTHON_INCOMPATIBILITY_H
#define CUNEI_PYTHON_INCOMPATIBILITY_H

#include <stdbool.h>

#include "base/buffer.h"
#include "python/instrumenter.h"

struct cunei_request {
    enum cunei_instrumenter instrumenter;
    bool c_calls, lines;
    bool arguments, results; /* their values */
    bool include, exclude;   /* a selection of functions */
    bool qualnames;          /* a pattern names a function by its qualified name */
    bool budget;             /* a limit to what it costs */
    bool no_gil;             /* the Python has none */
};

enum cunei_incompatibility {
    CUNEI_INCOMPATIBILITY_NONE, /* all of it can be recorded */
    CUNEI_INCOMPATIBILITY_LACKING,
    CUNEI_INCOMPATIBILITY_C_CALLS,
    CUNEI_INCOMPATIBILITY_LINES,
    CUNEI_INCOMPATIBILITY_ARGUMENTS,
    CUNEI_INCOMPATIBILITY_RESULTS,
    CUNEI_INCOMPATIBILITY_INCLUDE,
    CUNEI_INCOMPATIBILITY_EXCLUDE,
    CUNEI_INCOMPATIBILITY_BUDGET, /* events of functions cannot be switched */
    CUNEI_INCOMPATIBILITIES,
};

/* How to word the sentence. */
struct cunei_incompatibility_context {
    bool inside;         /* for a caller of cunei.start(), not for the command line */
    const char *subject; /* which Python it is, as "this is CPython 3.13"; borrowed */
};

/* With CPython 3.`minor`; 0: what no version supports. */
enum cunei_incompatibility cunei_incompatibility_find(
    const struct cunei_request *request, int minor);

/* What excludes a budget: C calls or lines, otherwise LACKING. */
enum cunei_incompatibility cunei_incompatibility_with_budget(
    const struct cunei_request *request);

/* The option that it is about, as people type it: "--lines". */
const char *cunei_incompatibility_option(enum cunei_incompatibility found);

/* Append the sentence, without a full stop. */
void cunei_incompatibility_format(enum cunei_incompatibility found,
                                  const struct cunei_request *request, int minor,
                                  const struct cunei_incompatibility_context *context,
                                  struct cunei_buffer *out);

/* Append the instrumenters that CPython 3.`minor` has: "profile, trace and none". */
void cunei_incompatibility_list(int minor, struct cunei_buffer *out);

#endif
