// SPDX-License-Identifier: MIT
#include <Python.h>

#if PY_VERSION_HEX < 0x03090000
#define Py_BUILD_CORE 1
#include <internal/pycore_pystate.h>
#undef _PyInterpreterState_Get
#endif

#include "probe/older.h"

cunei_older_evaluator cunei_older_get_evaluator(void)
{
#if PY_VERSION_HEX >= 0x03090000
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main());
#else
    return PyInterpreterState_Main()->eval_frame;
#endif
}

void cunei_older_set_evaluator(cunei_older_evaluator evaluator)
{
#if PY_VERSION_HEX >= 0x03090000
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Main(), evaluator);
#else
    PyInterpreterState_Main()->eval_frame = evaluator;
#endif
}
