// SPDX-License-Identifier: MIT
/*
 * CPython 3.12 runs pending calls only when its eval breaker is set.  Py_AddPendingCall
 * does not set it when another thread than the main one calls it: the pending call
 * would wait until some thread requests the GIL.
 */
#ifndef CUNEI_PROBE_BUDGET_EVAL_BREAKER_312_H
#define CUNEI_PROBE_BUDGET_EVAL_BREAKER_312_H

#include <Python.h>

#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
/* Make the main interpreter look for pending calls between two instructions.  Needs no
 * GIL. */
void cunei_eval_breaker_set(void);
#else
static inline void cunei_eval_breaker_set(void)
{
}
#endif

#endif
