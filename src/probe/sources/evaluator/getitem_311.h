// SPDX-License-Identifier: MIT
/*
 * CPython 3.11.0 to 3.11.3 call no frame evaluator where a subscript is specialized to
 * a
 * `__getitem__` that is written in Python (gh-104405; later releases do not specialize
 * it while there is an evaluator).
 *
 * Such an instruction keeps its function's version in 16 bits; a function whose version
 * is larger is not specialized.  So we use up all versions of 16 bits, once in a
 * process, and reset those of existing functions, as CPython does when a function is
 * changed: specialized instructions no longer match, and no others are specialized.
 * Calls are specialized by versions of 32 bits, as before.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_GETITEM_311_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_GETITEM_311_H

#include <Python.h>

/*
 * From now on evaluators are called for every `__getitem__`, in all threads.  0, or -1
 * with an exception set: that of a signal handler, or no memory.
 */
#if PY_VERSION_HEX >= 0x030b0000
int cunei_getitem_311_record_all(void);
#else
static inline int cunei_getitem_311_record_all(void)
{
    return 0;
}
#endif

#endif
