// SPDX-License-Identifier: MIT
/* A trigger that fires, and what is notified of it. */
#ifndef CUNEI_TRIGGER_FIRING_H
#define CUNEI_TRIGGER_FIRING_H

#include <stddef.h>

#include "wire/cause.h"

struct cunei_trace_process;

struct cunei_trigger_firing {
    size_t trigger; /* index */
    const struct cunei_trace_process *process;
    const struct cunei_cause *cause; /* borrowed for the call */
};

struct cunei_trigger_listener {
    void (*fired)(void *context, const struct cunei_trigger_firing *firing);
    /* A name that the trigger was compared with in vain; NULL: not wanted. */
    void (*offered)(void *context, size_t trigger, const char *name);
    void *context;
};

#endif
