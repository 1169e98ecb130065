// SPDX-License-Identifier: MIT
#define Py_BUILD_CORE 1
#include <Python.h>

#include "probe/budget/eval_breaker_312.h"

#include <internal/pycore_interp.h>

void cunei_eval_breaker_set(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Main();

    _Py_atomic_store_relaxed(&interpreter->ceval.eval_breaker, 1);
}
