// SPDX-License-Identifier: MIT
/*
 * The C hooks that sys.setprofile and sys.settrace have, as sources of events: what the
 * two have in common.
 *
 * Each thread has its own hook.  We set it in all existing threads, and
 * thread_start_end.h sets it in new ones.  The hook of another tool is never replaced:
 * we refuse to record. If the program sets a hook later, or removes ours, that thread
 * is no longer recorded, which is counted.
 *
 * The functions that set a hook notify audit hooks, which may forbid it; before 3.12 we
 * write the thread's state instead.  sys.getprofile and sys.gettrace still return None:
 * our hook has no object.  hook_event.h records what the hooks are called for.
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
 * The hook is called for a frame of this code, and nothing is recorded: start the
 * recording if __main__ begins.  Returns whether one is on now.
 */
bool cunei_hook_check_main(struct cunei_hook *hook, PyCodeObject *code);

#endif
