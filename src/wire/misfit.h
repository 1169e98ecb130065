// SPDX-License-Identifier: MIT
/*
 * Whether what a recording asks for goes with its instrumenter, and with the Python; if
 * not, why not, in a sentence.  The launcher, the package and the probe all say it in
 * these words.
 *
 *     struct cunei_wish wish = {.instrumenter = …, .lines = true};
 *     enum cunei_misfit misfit = cunei_misfit_find(&wish, 13);
 *     if (misfit)
 *         cunei_misfit_format(misfit, &wish, 13, &told, &sentence);
 */
#ifndef CUNEI_WIRE_MISFIT_H
#define CUNEI_WIRE_MISFIT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "wire/instrumenter.h"

struct cunei_wish {
    enum cunei_instrumenter instrumenter;
    bool c_calls, lines;
    bool arguments, results; /* their values */
    bool include, exclude;   /* a selection of functions */
    bool budget;             /* a limit to what it costs */
    bool no_gil;             /* the Python has none */
};

enum cunei_misfit {
    CUNEI_MISFIT_NONE, /* all of it can be had */
    CUNEI_MISFIT_LACKING,
    CUNEI_MISFIT_GIL, /* there is none */
    CUNEI_MISFIT_C_CALLS,
    CUNEI_MISFIT_LINES,
    CUNEI_MISFIT_ARGUMENTS,
    CUNEI_MISFIT_RESULTS,
    CUNEI_MISFIT_INCLUDE,
    CUNEI_MISFIT_EXCLUDE,
    CUNEI_MISFIT_BUDGET, /* events of functions cannot be switched */
    CUNEI_MISFITS,
};

/* How it is told. */
struct cunei_misfit_telling {
    bool inside;         /* to who called cunei.start(), not to who typed options */
    const char *subject; /* which Python it is, as "this is CPython 3.13"; borrowed */
};

/* With CPython 3.`minor`; 0: what cannot be had with any. */
enum cunei_misfit cunei_misfit_find(const struct cunei_wish *wish, int minor);

/* What keeps a budget from being had: C calls or lines, else LACKING. */
enum cunei_misfit cunei_misfit_beside_budget(const struct cunei_wish *wish);

/* The option that it is about, as people type it: "--lines". */
const char *cunei_misfit_option(enum cunei_misfit misfit);

/* Append the sentence, without a full stop. */
void cunei_misfit_format(enum cunei_misfit misfit, const struct cunei_wish *wish,
                         int minor, const struct cunei_misfit_telling *telling,
                         struct cunei_buffer *out);

/* Append the instrumenters that CPython 3.`minor` has: "profile, trace and none". */
void cunei_misfit_list(int minor, struct cunei_buffer *out);

#endif
