// SPDX-License-Identifier: MIT
/*
 * Arguments and return values of selected functions, as `argument` events.
 *
 * Arguments are recorded after the first entry: for a generator or coroutine that is
 * when it starts to run.  The return value is recorded before the leave; yielded values
 * are not recorded, and a call that ends with an exception has none.
 */
#ifndef CUNEI_PROBE_EVENTS_ARGUMENT_H
#define CUNEI_PROBE_EVENTS_ARGUMENT_H

#include <Python.h>

#include <stdint.h>

struct cunei_function;
struct cunei_record_env;

/*
 * The functions whose values are recorded from now on, and how; `session` is borrowed.
 */
void cunei_argument_choose(const struct cunei_record_env *session);

/* The flags that the function needs: CUNEI_CODE_ARGUMENTS, CUNEI_CODE_RESULT. */
uint32_t cunei_argument_flags(const struct cunei_function *function);

/*
 * Write the arguments of the running frame, or its return value.  `tag` is that of its
 * code object, and has changed afterwards if the program's code ran and ended the
 * recording.
 */
void cunei_argument_write(PyCodeObject *code, uint64_t tag);
void cunei_argument_write_result(PyCodeObject *code, uint64_t tag, PyObject *value);

#endif
