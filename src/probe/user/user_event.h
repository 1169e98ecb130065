// SPDX-License-Identifier: MIT
/*
 * Marks, parameters and metadata that a program records.
 *
 * Wrong arguments raise whether there is a recording or not, so that a recording
 * changes nothing; what fails because of recording is counted, and never raised.
 */
#ifndef CUNEI_PROBE_USER_USER_EVENT_H
#define CUNEI_PROBE_USER_USER_EVENT_H

#include <Python.h>

#include <stdbool.h>

/* Add the functions to the module; -1 with an exception. */
int cunei_user_event_add_functions(PyObject *module);

/* A mark that says what the program has done wrong. */
void cunei_user_event_write_error(const char *name, const char *sentence);

/* Write all metadata of the process again: another recording has begun. */
void cunei_user_event_write_metadata(bool top_is_open);

#endif
