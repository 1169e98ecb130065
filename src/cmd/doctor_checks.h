// SPDX-License-Identifier: MIT
/*
 * The checks of `cunei doctor`, and their findings, a row each.  Those of the Python
 * are here, those of the machine in doctor.c.
 */
#ifndef CUNEI_CMD_DOCTOR_CHECKS_H
#define CUNEI_CMD_DOCTOR_CHECKS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "cmd/record/interpreter.h"
#include "python/version_limits.h"

struct cunei_json;

enum cunei_finding_state {
    CUNEI_FINDING_OK,
    CUNEI_FINDING_NOTE,    /* works, with something to know */
    CUNEI_FINDING_MISSING, /* an optional part */
    CUNEI_FINDING_BAD,     /* nothing can be recorded */
};

/* A row: what was found, and what to do about it where there is something to do. */
struct cunei_finding {
    enum cunei_finding_state state;
    struct cunei_buffer text;
    struct cunei_buffer advice;
    bool lists_limits; /* of the Python, which follow */
};

struct cunei_doctor {
    const char *wanted; /* by --python, or NULL */
    struct cunei_interpreter python;
    int python_rc; /* of cunei_interpreter_ask; -ENOENT: no Python was found */
};

void cunei_finding_set(struct cunei_finding *finding, enum cunei_finding_state state,
                       const char *text);

void cunei_doctor_check_python(const struct cunei_doctor *doctor,
                               struct cunei_finding *finding);
void cunei_doctor_check_package(const struct cunei_doctor *doctor,
                                struct cunei_finding *finding);
void cunei_doctor_check_instrumenter(const struct cunei_doctor *doctor,
                                     struct cunei_finding *finding);
void cunei_doctor_check_version(const struct cunei_doctor *doctor,
                                struct cunei_finding *finding);

/* The next limit of the Python, as in python/version_limits.h. */
bool cunei_doctor_next_limit(const struct cunei_doctor *doctor,
                             struct cunei_version_limit *limit);

/* Put its instrumenters, the default and its limits, each as a member. */
void cunei_doctor_put_json(const struct cunei_doctor *doctor, struct cunei_json *json);

#endif
