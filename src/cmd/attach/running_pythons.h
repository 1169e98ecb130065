// SPDX-License-Identifier: MIT
/* The Python processes of this machine, and whether `cunei attach` can record them. */
#ifndef CUNEI_CMD_ATTACH_RUNNING_PYTHONS_H
#define CUNEI_CMD_ATTACH_RUNNING_PYTHONS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buffer.h"

enum cunei_python_state {
    CUNEI_PYTHON_ARMED,
    CUNEI_PYTHON_ATTACHABLE,
    CUNEI_PYTHON_CLOSED, /* `reason` says why it cannot be attached */
};

struct cunei_running_python {
    pid_t pid;
    enum cunei_python_state state;
    char version[16];            /* "3.13.0"; "": not known */
    struct cunei_buffer program; /* owned; raw: may hold hostile bytes */
    struct cunei_buffer reason;  /* owned: why it is closed */
};

struct cunei_running_pythons {
    struct cunei_running_python *items; /* owned, by pid */
    size_t count;
};

/* All but those that are being recorded, which are found by their live files. */
int cunei_running_pythons_read(struct cunei_running_pythons *pythons);
void cunei_running_pythons_fini(struct cunei_running_pythons *pythons);

/* "armed", "attachable", "closed". */
const char *cunei_python_state_name(enum cunei_python_state state);

#endif
