// SPDX-License-Identifier: MIT
#include "python/instrumenter.h"

#include <stddef.h>
#include <string.h>

/* The first with sys.monitoring. */
#define MONITORING_MINOR 12

const char *const cunei_instrumenter_names[] = {
    "monitoring", "profile", "trace", "frame", "none", NULL,
};

const char *cunei_instrumenter_name(enum cunei_instrumenter instrumenter)
{
    return instrumenter > CUNEI_INSTRUMENTER_DEFAULT &&
                   instrumenter < CUNEI_INSTRUMENTERS
               ? cunei_instrumenter_names[instrumenter - CUNEI_INSTRUMENTER_MONITORING]
               : NULL;
}

enum cunei_instrumenter cunei_instrumenter_find(const char *name)
{
    for (size_t i = 0; cunei_instrumenter_names[i]; i++) {
        if (strcmp(cunei_instrumenter_names[i], name) == 0)
            return (enum cunei_instrumenter)(CUNEI_INSTRUMENTER_MONITORING + i);
    }
    return CUNEI_INSTRUMENTER_DEFAULT;
}

enum cunei_instrumenter cunei_instrumenter_default(int minor)
{
    return minor < MONITORING_MINOR ? CUNEI_INSTRUMENTER_FRAME
                                    : CUNEI_INSTRUMENTER_MONITORING;
}

static enum cunei_instrumenter settle(enum cunei_instrumenter instrumenter, int minor)
{
    return instrumenter == CUNEI_INSTRUMENTER_DEFAULT
               ? cunei_instrumenter_default(minor)
               : instrumenter;
}

bool cunei_instrumenter_exists(enum cunei_instrumenter instrumenter, int minor)
{
    switch (settle(instrumenter, minor)) {
    case CUNEI_INSTRUMENTER_MONITORING:
        return minor >= MONITORING_MINOR;
    case CUNEI_INSTRUMENTER_FRAME:
        return minor < MONITORING_MINOR;
    default:
        return true;
    }
}

/* What they record besides calls of Python functions. */
static const struct {
    bool c_calls, lines;
} records[CUNEI_INSTRUMENTERS] = {
    [CUNEI_INSTRUMENTER_MONITORING] = {.c_calls = true, .lines = true},
    [CUNEI_INSTRUMENTER_PROFILE] = {.c_calls = true},
    [CUNEI_INSTRUMENTER_TRACE] = {.lines = true},
    [CUNEI_INSTRUMENTER_FRAME] = {.c_calls = true, .lines = true},
};

bool cunei_instrumenter_has_c_calls(enum cunei_instrumenter instrumenter, int minor)
{
    return records[settle(instrumenter, minor)].c_calls;
}

bool cunei_instrumenter_has_lines(enum cunei_instrumenter instrumenter, int minor)
{
    return records[settle(instrumenter, minor)].lines;
}
