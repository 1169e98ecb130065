// SPDX-License-Identifier: MIT
/*
 * What a controller and an armed process say to each other: one JSON object a line.
 *
 *     {"cunei":1,"do":"start","session":17,"stay":false,"record":"v=1 dir=/tmp/trace"}
 *     {"cunei":1,"pid":4711,"version":"0.9","python":"3.13.0","armed_by":"cunei arm",
 *      "directory":"/tmp/trace","session":17,"stay":false,"has_controller":true}
 *
 * `cunei` is the version of this layout.  A request has one answer; one with "error"
 * says in a sentence why nothing was done.  Members that are not known are skipped.
 * Both sides check everything: either may be hostile.
 */
#ifndef CUNEI_WIRE_CONTROL_MESSAGE_H
#define CUNEI_WIRE_CONTROL_MESSAGE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;
struct cunei_syntax_error;

#define CUNEI_CONTROL_VERSION 1

/* Of a line, without the line break. */
#define CUNEI_CONTROL_LINE_MAX 200000u

/*
 * The socket of an armed process in its user's runtime folder: its pid, and the number
 * of the pid namespace (the inode of /proc/PID/ns/pid).  The containers of a Kubernetes
 * pod share /dev/shm, and in each of them the program is process 1.
 */
#define CUNEI_CONTROL_SOCKET     "%d-%" PRIu64 CUNEI_CONTROL_SOCKET_END
#define CUNEI_CONTROL_SOCKET_END ".control"

/* "/path" of a socket on which a controller waits; with ",suspend" the program waits
 * for it. */
#define CUNEI_PORT_VARIABLE "CUNEI_PORT"
#define CUNEI_PORT_SUSPEND  ",suspend"

enum cunei_control_action {
    CUNEI_CONTROL_STATUS, /* only answer */
    CUNEI_CONTROL_START,  /* begin to record, for this controller */
    CUNEI_CONTROL_RESUME, /* this is the session's controller again */
    CUNEI_CONTROL_STOP,   /* end the recording of a session */
    CUNEI_CONTROL_CHANGE, /* what is recorded: add patterns, set the budget */
    CUNEI_CONTROL_DISARM, /* take no further requests */
    CUNEI_CONTROL_ACTIONS
};

const char *cunei_control_action_name(enum cunei_control_action action);

struct cunei_control_request {
    enum cunei_control_action action;
    uint64_t session; /* its number, drawn by the controller; 0: any */
    bool stay;        /* START: record also without a controller */
    char *record;     /* owned: START, CHANGE: wire/record_env.h */
};

struct cunei_control_answer {
    char *error; /* owned, as all texts: a sentence without its full stop; or NULL */
    uint64_t pid;
    char *version;   /* of cunei there */
    char *python;    /* "3.13.0" */
    char *armed_by;  /* "cunei arm" */
    char *directory; /* it records into; NULL: it does not record */
    uint64_t session;
    bool stay;
    bool has_controller;
};

void cunei_control_request_format(const struct cunei_control_request *request,
                                  struct cunei_buffer *out);
void cunei_control_answer_format(const struct cunei_control_answer *answer,
                                 struct cunei_buffer *out);

/* -EINVAL: `error` says why; -EPROTO: it is of another version. */
int cunei_control_request_parse(struct cunei_control_request *request, const char *line,
                                size_t size, struct cunei_syntax_error *error);
int cunei_control_answer_parse(struct cunei_control_answer *answer, const char *line,
                               size_t size, struct cunei_syntax_error *error);

void cunei_control_request_fini(struct cunei_control_request *request);
void cunei_control_answer_fini(struct cunei_control_answer *answer);

#endif
