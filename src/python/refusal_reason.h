// SPDX-License-Identifier: MIT
/*
 * Why a process could not record: an errno, or one of these.  The process leaves the
 * number in the trace directory; the launcher makes a sentence of it.
 */
#ifndef CUNEI_PYTHON_REFUSAL_REASON_H
#define CUNEI_PYTHON_REFUSAL_REASON_H

#include <errno.h>

#include "base/buffer.h"
#include "python/incompatibility.h"

enum cunei_refusal_reason {
    CUNEI_REFUSAL_UNKNOWN = 0,
    CUNEI_REFUSAL_MONITORING = EBUSY,
    CUNEI_REFUSAL_REPLACED = EXDEV,
    CUNEI_REFUSAL_MOVED = ESTALE,
    CUNEI_REFUSAL_PYDEVD = 4001, /* beyond every errno */
    CUNEI_REFUSAL_TORCH,
    CUNEI_REFUSAL_ABOVE,
    CUNEI_REFUSAL_PROFILE,
    CUNEI_REFUSAL_TRACE,
    CUNEI_REFUSAL_FORBIDDEN,
    CUNEI_REFUSAL_BUDGET,
    CUNEI_REFUSAL_NO_SITE,
    CUNEI_REFUSAL_NO_VARIABLE,
    CUNEI_REFUSAL_RING,
    CUNEI_REFUSAL_UNSEEN, /* its parent says so; it may have given a reason itself */
    CUNEI_REFUSAL_MEMORY,
    CUNEI_REFUSAL_INCOMPATIBLE =
        10000, /* from here on: cunei_refusal_reason_of_incompatibility */
    CUNEI_REFUSAL_MAX = 19999
};

/* The number for a request that CPython 3.`minor` cannot fulfil. */
int cunei_refusal_reason_of_incompatibility(enum cunei_incompatibility found,
                                            enum cunei_instrumenter instrumenter,
                                            int minor);

/* A clause that can follow a colon: the reason, and what to do, where that is known. */
const char *cunei_refusal_reason_text(int reason);

/* Append the same; of an incompatible request, with all details. */
void cunei_refusal_reason_format(int reason, struct cunei_buffer *out);

/* Such a clause for the errno of a write to the trace that failed. */
const char *cunei_write_failure_text(int error);

#endif
