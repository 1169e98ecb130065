// SPDX-License-Identifier: MIT
/*
 * CPython 3.12 looks for pending calls when something makes it look.  Adding one from a
 * thread that could not do it itself does not: the call would wait for the next one
 * that wants the GIL.
 */
#ifndef CUNEI_PROBE_BUDGET_EVAL_BREAKER_312_H
#define CUNEI_PROBE_BUDGET_EVAL_BREAKER_312_H

#include <Python.h>

#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
/* Let the main interpreter look, between two instructions.  Needs no GIL. */
void cunei_eval_breaker_set(void);
#else
static inline void cunei_eval_breaker_set(void)
{
}
#endif

#endif
