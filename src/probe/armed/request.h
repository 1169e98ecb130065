// SPDX-License-Identifier: MIT
/*
 * Requests of controllers: parsed and answered by the thread that takes them, carried
 * out by the worker.
 *
 * What a controller has started is a session.  There is one at a time.  A forked child
 * has its parent's, until its controller has not connected to it for
 * CUNEI_REQUEST_PATIENCE_NS.
 */
#ifndef CUNEI_PROBE_ARMED_REQUEST_H
#define CUNEI_PROBE_ARMED_REQUEST_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"

struct cunei_controller;
struct cunei_probe;
struct cunei_request_worker;

/* A session without its controller ends after so long, unless it was asked to stay. */
#define CUNEI_REQUEST_PATIENCE_NS (2 * CUNEI_NS_PER_S)

/* What armed this process, and how. */
struct cunei_request_context {
    struct cunei_probe *state;           /* borrowed */
    const char *armed_by;                /* borrowed: shown by controllers */
    struct cunei_request_worker *worker; /* borrowed */
};

enum cunei_request_result {
    CUNEI_REQUEST_ANSWERED,
    CUNEI_REQUEST_STARTED, /* a recording */
    CUNEI_REQUEST_DISARM   /* this was the last one */
};

/* Do what the line asks for, and put the answer into the controller's buffer. */
enum cunei_request_result cunei_request_handle(
    const struct cunei_request_context *context, struct cunei_controller *controller,
    size_t size, bool has_other_controller);

/* The session that ends without a controller; 0: there is none, or the program has
 * ended its recording. */
uint64_t cunei_request_session(void);

/* With the GIL, when no thread takes requests: end the recording of a controller. */
void cunei_request_end_session(struct cunei_probe *state);

/* Its controller has not come back: end it. */
void cunei_request_abandon(const struct cunei_request_context *context);

#endif
