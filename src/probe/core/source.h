// SPDX-License-Identifier: MIT
/*
 * Where the events come from: sys.monitoring (probe/sources/monitoring/monitoring.h),
 * an evaluator of frames (probe/sources/evaluator/evaluator.h), the hooks of
 * sys.setprofile and sys.settrace (probe/sources/hooks/hook.h), or nowhere
 * (probe/sources/none.h).  Which of them a recording has is chosen when it begins.
 *
 *     take        what it needs of the interpreter, or refuse
 *     await_main  events until __main__ begins, then …
 *     prepare     … for what is recorded: this may fail
 *     record      let the events come, once there is a recording
 *     pause       no more of them, but keep what was taken
 *     release     all off, everything given back
 *
 * `selective`: not all functions are recorded.  A source says it with the first member
 * of a struct of its own.
 */
#ifndef CUNEI_PROBE_CORE_SOURCE_H
#define CUNEI_PROBE_CORE_SOURCE_H

#include <Python.h>

#include <stdbool.h>

#include "wire/event.h"

struct cunei_source;

/* Those from `tell_losses` on may be NULL: there is nothing to do. */
struct cunei_source_methods {
    /* 0, or -1 with an exception set. */
    int (*take)(struct cunei_source *source, bool selective);
    int (*await_main)(struct cunei_source *source);
    int (*prepare)(struct cunei_source *source, bool selective);
    int (*record)(struct cunei_source *source, bool selective);

    /* What fails is left as it is, without an exception. */
    void (*pause)(struct cunei_source *source);
    void (*release)(struct cunei_source *source);

    /*
     * The same where the events of single code objects stay set: nobody shall hear of
     * them until `prepare`.  NULL: pausing is all it takes.
     */
    void (*hush)(struct cunei_source *source);

    /* How many tools use the same besides us; -1 with an exception set. */
    int (*count_others)(struct cunei_source *source);

    /* The recording is about to end: tell the recorder what was not heard of. */
    void (*tell_losses)(struct cunei_source *source);

    /* Switch the events of a selected code object on; errors are swallowed. */
    void (*select)(struct cunei_source *source, PyCodeObject *code);

    /*
     * The same for what it does with exceptions, where it may not be selected: one that
     * is told of comes to it.  NULL: that is heard of anyway.
     */
    void (*follow)(struct cunei_source *source, PyCodeObject *code);

    /*
     * The program has decorated a function, and is to be heard of its calls though of
     * no other's; errors are swallowed.  NULL: it is found like any other.
     */
    void (*tag)(struct cunei_source *source, PyCodeObject *code);

    /* Have less of its events, or all of them again. */
    void (*level)(struct cunei_source *source, PyCodeObject *code,
                  enum cunei_level level);

    /*
     * Hear of the calls that a code object makes, besides what it has, and no more;
     * errors are swallowed.
     */
    void (*watch)(struct cunei_source *source, PyCodeObject *code);
    void (*unwatch)(struct cunei_source *source, PyCodeObject *code);

    /* The same for the lines of a code object: NULL where they cannot be had. */
    void (*line)(struct cunei_source *source, PyCodeObject *code);
    void (*unline)(struct cunei_source *source, PyCodeObject *code);

    /*
     * Leave nothing behind on a code object that was seen, selected or not: another
     * recording must be able to discover it.  Only while the events are off.
     */
    void (*forget)(struct cunei_source *source, PyCodeObject *code);

    /*
     * Have the events again that were switched off at places of a code object, or of
     * all of them, which is done at once, but only where no other tool would notice.
     * Only while the events are off.
     */
    void (*unmute)(struct cunei_source *source, PyCodeObject *code);
    bool (*unmute_all)(struct cunei_source *source);
};

struct cunei_source {
    const struct cunei_source_methods *methods;
    bool is_taken;
    bool is_silent; /* it tells of no function but those the program has decorated */
    bool is_narrow; /* nothing is discovered, only `select` brings events; before `take`
                     */
    bool ends;     /* the process does: audit hooks shall hear nothing of the release */
    bool c_calls;  /* calls of C functions are recorded, too; set before `take` */
    bool lines;    /* lines of some functions are; the same */
    bool chooses;  /* some functions may be left out; the same, and when that changes */
    bool switches; /* a budget switches events of functions; the same */
    bool twice;    /* what is counted is heard of at its ends, too, from `level` on */
    int refusal;   /* where a method set an exception: why, see python/refusal_reason.h;
                      or 0 */
};

#endif
