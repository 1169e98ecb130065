// SPDX-License-Identifier: MIT
/*
 * Triggers: what must happen in a recorded program so that a snapshot is made.
 *
 *     struct cunei_triggers triggers = {0};
 *     struct cunei_buffer reason = {0};
 *     if (cunei_triggers_add(&triggers, "exception:ValueError", &reason) < 0)
 *         … `reason` is a sentence …
 *     …
 *     cunei_triggers_fini(&triggers);
 *
 * A trigger is `NAME`, then what its kind (trigger/kind.h) wants.
 */
#ifndef CUNEI_TRIGGER_TRIGGERS_H
#define CUNEI_TRIGGER_TRIGGERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/pattern.h"

struct cunei_buffer;
struct cunei_trigger_kind;

/* A set of them is 32 bits. */
#define CUNEI_TRIGGERS_MAX 32u

struct cunei_trigger {
    const struct cunei_trigger_kind *kind;
    char *text;     /* owned: as the user wrote it */
    char *argument; /* owned: what the kind compares names with; or NULL */
    struct cunei_patterns patterns; /* of functions */
    uint64_t limit_ns;
};

struct cunei_triggers {
    struct cunei_trigger *items; /* owned */
    size_t count;
};

/* -EINVAL: it is none, and `reason` has the sentence why; -ENOMEM. */
int cunei_triggers_add(struct cunei_triggers *triggers, const char *text,
                       struct cunei_buffer *reason);
void cunei_triggers_fini(struct cunei_triggers *triggers);

/* Append the forms of all kinds: "exception:TYPE, slow:PATTERN>50ms, …". */
void cunei_triggers_format_forms(struct cunei_buffer *out);

#endif
