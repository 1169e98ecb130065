// SPDX-License-Identifier: MIT
/* Where a kind of trigger looks, and how it says that it has found something. */
#ifndef CUNEI_TRIGGER_PLACE_H
#define CUNEI_TRIGGER_PLACE_H

#include <stdint.h>

struct cunei_buffer;
struct cunei_function;
struct cunei_trigger;

/* What has fired. */
struct cunei_trigger_finding {
    uint64_t value;
    const char *what;  /* in words */
    uint32_t function; /* its id; 0: not known */
    uint32_t line;
};

struct cunei_trigger_place {
    /* What the watch (trigger/watch.c) does with a finding. */
    void (*fire)(struct cunei_trigger_place *place, const struct cunei_trigger *trigger,
                 const struct cunei_trigger_finding *finding);
    /* A name that a trigger compared, and that may be meant by it. */
    void (*offer)(struct cunei_trigger_place *place,
                  const struct cunei_trigger *trigger, const char *name);
    /* A function by id; NULL: it is not known. */
    const struct cunei_function *(*find)(const struct cunei_trigger_place *place,
                                         uint32_t id);
    uint32_t function; /* the innermost one that is open; 0: none is known */
};

/* Fire with the text, which is released. */
void cunei_trigger_fire(struct cunei_trigger_place *place,
                        const struct cunei_trigger *trigger,
                        struct cunei_trigger_finding finding,
                        struct cunei_buffer *what);

#endif
