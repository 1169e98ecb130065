// SPDX-License-Identifier: MIT
/*
 * A kind of trigger: a file of its own, which ends with its descriptor, and a line in
 * kinds.c.
 *
 * A kind looks at events of one class, at the ends of the functions that it chooses, at
 * the times in which an event loop was busy, or at the ends of processes; it calls
 * cunei_trigger_fire when it has found what it looks for.
 */
#ifndef CUNEI_TRIGGER_KIND_H
#define CUNEI_TRIGGER_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;
struct cunei_function;
struct cunei_trace_process;
struct cunei_trigger;
struct cunei_trigger_place;

/* What a function was doing, or an event loop. */
struct cunei_trigger_span {
    uint64_t ns;
    uint32_t function; /* its id; 0: not known */
    bool is_open;      /* it has not ended */
};

struct cunei_trigger_kind {
    const char *name;    /* before ':', '>' and '!' */
    const char *form;    /* how it is written: "exception:TYPE" */
    const char *example; /* "exception:ValueError" */
    const char *help;    /* "an exception of this type is raised" */
    const char *names;   /* what it compares, if it has `event`: "exception raised" */
    const char *unit;    /* of the value: "ns", "status", "signal"; NULL: it has none */

    /* The text behind the name.  -EINVAL with a sentence, or -ENOMEM. */
    int (*parse)(struct cunei_trigger *trigger, const char *rest,
                 struct cunei_buffer *reason);

    uint32_t event_class; /* of the events it looks at, if it has `event` */
    void (*event)(struct cunei_trigger_place *place,
                  const struct cunei_trigger *trigger, const uint64_t *event);

    /* Whether it looks at the calls of a function; and one of them, which took so
     * long.  The result of this and the next is whether it has fired. */
    bool (*matches)(const struct cunei_trigger *trigger,
                    const struct cunei_function *function);
    bool (*call)(struct cunei_trigger_place *place, const struct cunei_trigger *trigger,
                 const struct cunei_trigger_span *span);

    /* A time in which an event loop was busy without a break. */
    bool (*busy)(struct cunei_trigger_place *place, const struct cunei_trigger *trigger,
                 const struct cunei_trigger_span *span);

    /* A process has ended. */
    void (*end)(struct cunei_trigger_place *place, const struct cunei_trigger *trigger,
                const struct cunei_trace_process *process);
};

/* All of them; ends with NULL. */
extern const struct cunei_trigger_kind *const cunei_trigger_kinds[];

extern const struct cunei_trigger_kind cunei_trigger_kind_exception;
extern const struct cunei_trigger_kind cunei_trigger_kind_slow;
extern const struct cunei_trigger_kind cunei_trigger_kind_lag;
extern const struct cunei_trigger_kind cunei_trigger_kind_mark;
extern const struct cunei_trigger_kind cunei_trigger_kind_exit;
extern const struct cunei_trigger_kind cunei_trigger_kind_crash;

#endif
