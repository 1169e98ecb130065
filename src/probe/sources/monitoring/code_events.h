// SPDX-License-Identifier: MIT
/*
 * Events of single code objects (sys.monitoring.set_local_events).  These are methods
 * of the source: see probe/core/source.h.  Errors are ignored.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_CODE_EVENTS_H
#define CUNEI_PROBE_SOURCES_MONITORING_CODE_EVENTS_H

#include <Python.h>

#include "probe/core/source.h"

void cunei_code_events_select(struct cunei_source *source, PyCodeObject *code);
void cunei_code_events_follow_exceptions(struct cunei_source *source,
                                         PyCodeObject *code);
void cunei_code_events_set_level(struct cunei_source *source, PyCodeObject *code,
                                 enum cunei_level level, bool counts_ends);
void cunei_code_events_watch_calls(struct cunei_source *source, PyCodeObject *code);
void cunei_code_events_unwatch_calls(struct cunei_source *source, PyCodeObject *code);
void cunei_code_events_add_lines(struct cunei_source *source, PyCodeObject *code);
void cunei_code_events_remove_lines(struct cunei_source *source, PyCodeObject *code);
void cunei_code_events_forget(struct cunei_source *source, PyCodeObject *code);
void cunei_code_events_enable(struct cunei_source *source, PyCodeObject *code);

#endif
