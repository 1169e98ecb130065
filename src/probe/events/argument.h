// SPDX-License-Identifier: MIT
/*
 * Arguments and results of chosen functions, as `argument` events.
 *
 * What a function is called with is told after its first entry: for a generator or a
 * coroutine that is when it begins to run.  What it returns is told before its leave;
 * what it yields is no result, and what leaves by an exception has none.
 */
#ifndef CUNEI_PROBE_EVENTS_ARGUMENT_H
#define CUNEI_PROBE_EVENTS_ARGUMENT_H

#include <Python.h>

#include <stdint.h>

struct cunei_function;
struct cunei_record_env;

/* Whose values are recorded from now on, and how; `session` is borrowed. */
void cunei_argument_choose(const struct cunei_record_env *session);

/* Of CUNEI_CODE_ARGUMENTS and CUNEI_CODE_RESULT, those that the function needs. */
uint32_t cunei_argument_flags(const struct cunei_function *function);

/*
 * Write the arguments of the frame that runs, or what it returns.  `word` is that of
 * its code object, and is another one afterwards if the program's code was run and has
 * ended the recording.
 */
void cunei_argument_write(PyCodeObject *code, uint64_t tag);
void cunei_argument_write_result(PyCodeObject *code, uint64_t tag, PyObject *value);

#endif
