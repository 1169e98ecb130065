// SPDX-License-Identifier: MIT
/*
 * Why a process could not record: an errno, or one of these.  The process leaves a
 * number, and who reads it makes a sentence of it.
 */
#ifndef CUNEI_WIRE_REASON_H
#define CUNEI_WIRE_REASON_H

#include <errno.h>

enum cunei_reason {
    CUNEI_REASON_UNKNOWN = 0,
    CUNEI_REASON_MONITORING = EBUSY,
    CUNEI_REASON_PYDEVD = 4001, /* beyond every errno */
    CUNEI_REASON_TORCH,
    CUNEI_REASON_ABOVE,
    CUNEI_REASON_PROFILE,
    CUNEI_REASON_TRACE,
    CUNEI_REASON_LACKING, /* the instrumenter, or what it was to tell of */
    CUNEI_REASON_MAX = CUNEI_REASON_LACKING
};

/* A clause that can follow a colon; what to do about it, too, where that is known. */
const char *cunei_reason_text(int reason);

#endif
