// SPDX-License-Identifier: MIT
/*
 * The hook of sys.setprofile as a source of events (see hook.h): functions, and calls
 * of C functions where they are recorded.  Of an exception it tells no more than that
 * it has ended a frame.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_PROFILE_HOOK_H
#define CUNEI_PROBE_SOURCES_HOOKS_PROFILE_HOOK_H

#include <stdbool.h>

#include "probe/core/source.h"

/* `main_begins` is to be called in the first frame of __main__. */
struct cunei_source *cunei_profile_hook_open(bool (*main_begins)(void));

#endif
