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
    bool awaits;        /* that __main__ begins */
    bool is_exiting;    /* the process is: audit hooks must not be notified */
    bool is_recording;  /* and not just on its way out */
    unsigned recording; /* its number */
};

extern const struct cunei_source_methods cunei_hook_methods;

/* Prepare what both hooks use, as the module is loaded. */
void cunei_hook_init(const struct cunei_source_setup *setup);

/*
 * The hook of sys.setprofile: functions, and calls of C functions where they are
 * recorded.  It shows that an exception has ended a function, and not which.
 */
extern const struct cunei_source_kind cunei_source_profile;

/*
 * The hook of sys.settrace: functions, exceptions, and lines of the functions whose
 * lines are recorded.  The interpreter looks for the lines of all functions meanwhile.
 */
extern const struct cunei_source_kind cunei_source_trace;

/*
 * What it is told of a frame of this code, and nothing is recorded: whether there is a
 * recording after all, which begins with __main__.
 */
bool cunei_hook_check_main(struct cunei_hook *hook, PyCodeObject *code);

#endif
