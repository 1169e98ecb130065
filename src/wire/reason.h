// SPDX-License-Identifier: MIT
/*
 * Why a process could not record: an errno, or one of these.  The process leaves a
 * number, and who reads it makes a sentence of it.
 */
#ifndef CUNEI_WIRE_REASON_H
#define CUNEI_WIRE_REASON_H

#include <errno.h>

#include "base/buffer.h"
#include "wire/misfit.h"

enum cunei_reason {
    CUNEI_REASON_UNKNOWN = 0,
    CUNEI_REASON_MONITORING = EBUSY,
    CUNEI_REASON_PYDEVD = 4001, /* beyond every errno */
    CUNEI_REASON_TORCH,
    CUNEI_REASON_ABOVE,
    CUNEI_REASON_PROFILE,
    CUNEI_REASON_TRACE,
    CUNEI_REASON_FORBIDDEN,
    CUNEI_REASON_BUDGET,
    CUNEI_REASON_MISFIT = 10000, /* from here on: cunei_reason_of_misfit */
    CUNEI_REASON_MAX = 19999
};

/* That of what CPython 3.`minor` cannot give. */
int cunei_reason_of_misfit(enum cunei_misfit misfit,
                           enum cunei_instrumenter instrumenter, int minor);

/* A clause that can follow a colon; what to do about it, too, where that is known. */
const char *cunei_reason_text(int reason);

/* Append the same, with all that is known of a misfit. */
void cunei_reason_format(int reason, struct cunei_buffer *out);

#endif
