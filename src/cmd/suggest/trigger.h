// SPDX-License-Identifier: MIT
/* Triggers that never fired: some are mistyped. */
#ifndef CUNEI_CMD_SUGGEST_TRIGGER_H
#define CUNEI_CMD_SUGGEST_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;
struct cunei_trace;
struct cunei_trigger;

/* Names that a trigger was compared with: each once, and not more than some. */
struct cunei_trigger_names {
    char **items; /* owned, as each */
    size_t count;
};

void cunei_trigger_names_add(struct cunei_trigger_names *names, const char *name);
void cunei_trigger_names_fini(struct cunei_trigger_names *names);

/*
 * Append a sentence for a trigger that has nothing to look at in the trace at `path`:
 * no function of the `functions` that it chooses, or none of the names.  False: it has.
 */
bool cunei_suggest_trigger(const struct cunei_trigger *trigger, uint64_t functions,
                           const struct cunei_trigger_names *names,
                           const struct cunei_trace *trace, const char *path,
                           struct cunei_buffer *sentence);

#endif
