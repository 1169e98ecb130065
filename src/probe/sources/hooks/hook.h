// SPDX-License-Identifier: MIT
/*
 * The C hooks that sys.setprofile and sys.settrace have, as sources of events: what the
 * two have in common.
 *
 * A hook is a thread's own.  It is put into all that there are, and newthread.h puts it
 * into those to come.  One that another tool has is never replaced: it is refused to
 * record.  If the program sets one later, in a thread of its, or takes ours away, that
 * thread is not heard any more, which is counted.
 *
 * The functions that set a hook are heard by audit hooks, and may be forbidden by them;
 * before 3.12 it is put in place past them.  sys.getprofile and sys.gettrace go on
 * saying None: ours has no object.
 * What they are told is for hookevent.h.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_HOOK_H
#define CUNEI_PROBE_SOURCES_HOOKS_HOOK_H

#include <Python.h>

#include <stdbool.h>

#include "probe/core/source.h"

enum cunei_hook_kind {
    CUNEI_HOOK_PROFILE,
    CUNEI_HOOK_TRACE,
};

/* A source that is one of them. */
struct cunei_hook {
    struct cunei_source source;
    enum cunei_hook_kind kind;
    Py_tracefunc function;
    bool (*main_begins)(void);
    bool awaits;        /* that __main__ begins */
    bool is_recording;  /* and not just on its way out */
    unsigned recording; /* its number */
};

struct cunei_source *cunei_hook_open(struct cunei_hook *hook,
                                     bool (*main_begins)(void));

/*
 * What it is told of a frame of this code, and nothing is recorded: whether there is a
 * recording after all, which begins with __main__.
 */
bool cunei_hook_is_heard(struct cunei_hook *hook, PyCodeObject *code);

#endif
