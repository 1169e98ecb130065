// SPDX-License-Identifier: MIT
/* A connection to a controller: lines in, lines out; neither blocks. */
#ifndef CUNEI_PROBE_ARMED_CONTROLLER_H
#define CUNEI_PROBE_ARMED_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct cunei_controller {
    int fd;           /* -1: there is none */
    uint64_t session; /* whose controller it is; 0: of none */
    bool is_finished; /* it has sent its last request */
    struct cunei_buffer in, out;
};

void cunei_controller_open(struct cunei_controller *controller, int fd);
void cunei_controller_close(struct cunei_controller *controller);

/* Read what has come.  False: close it. */
bool cunei_controller_read(struct cunei_controller *controller);

/*
 * The length of the first whole line of `in`, without its break; SIZE_MAX: there is
 * none yet.  A line that is too long is given as it is.
 */
size_t cunei_controller_line(const struct cunei_controller *controller);

/* Forget the first line. */
void cunei_controller_drop_line(struct cunei_controller *controller, size_t size);

/* Write what waits in `out`, as much as can be written.  False: close it. */
bool cunei_controller_write(struct cunei_controller *controller);

/* Whether the other end has closed the connection, and does not want the answer. */
bool cunei_controller_has_left(const struct cunei_controller *controller);

#endif
