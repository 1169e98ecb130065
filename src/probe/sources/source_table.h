// SPDX-License-Identifier: MIT
/*
 * The sources of events that this Python has, one for each instrumenter.
 *
 *     cunei_source_table_open(module, &setup, sources);     once, for the module
 *     sources[CUNEI_INSTRUMENTER_PROFILE]->methods->take(…)
 *     cunei_source_table_traverse, _clear, _free            as the module is
 */
#ifndef CUNEI_PROBE_SOURCES_SOURCE_TABLE_H
#define CUNEI_PROBE_SOURCES_SOURCE_TABLE_H

#include <Python.h>

#include "probe/core/source.h"

/* Where this Python has no such source: NULL. */
typedef struct cunei_source *cunei_source_table[CUNEI_INSTRUMENTERS];

/* -1 with an exception set. */
int cunei_source_table_open(PyObject *module, const struct cunei_source_setup *setup,
                            cunei_source_table sources);

int cunei_source_table_traverse(cunei_source_table sources, visitproc visit, void *arg);
void cunei_source_table_clear(cunei_source_table sources);
void cunei_source_table_free(cunei_source_table sources);

#endif
