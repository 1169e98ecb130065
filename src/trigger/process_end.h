// SPDX-License-Identifier: MIT
/* How processes ended: private to trigger/watch.c. */
#ifndef CUNEI_TRIGGER_PROCESS_END_H
#define CUNEI_TRIGGER_PROCESS_END_H

#include <stdbool.h>

struct cunei_trace_process;
struct cunei_trigger_listener;
struct cunei_triggers;

/* Whether its end is described. */
bool cunei_process_end_is_known(const struct cunei_trace_process *process);

/* Call `look` for each process of the trace at `path` that does not run.  A trace that
 * is gone has none; -ENOMEM, or what `look` returned. */
int cunei_process_ends_read(const char *path,
                            int (*look)(void *context,
                                        const struct cunei_trace_process *process),
                            void *context);

/* Let the triggers look at the end of a process. */
int cunei_process_end_look(const struct cunei_trace_process *process,
                           const struct cunei_triggers *triggers,
                           const struct cunei_trigger_listener *listener);

#endif
