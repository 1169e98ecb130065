// SPDX-License-Identifier: MIT
/*
 * The hook of sys.settrace as a source of events (see hook.h): functions, exceptions,
 * and lines of those functions whose lines are recorded.  The interpreter looks for the
 * lines of all functions meanwhile, and calls of C functions are not told.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_TRACE_HOOK_H
#define CUNEI_PROBE_SOURCES_HOOKS_TRACE_HOOK_H

#include <stdbool.h>

#include "probe/core/source.h"

/* `main_begins` is to be called in the first frame of __main__. */
struct cunei_source *cunei_trace_hook_open(bool (*main_begins)(void));

#endif
