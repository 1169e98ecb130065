// SPDX-License-Identifier: MIT
/*
 * sys.monitoring as a source of events: tool ids, events and callbacks.
 *
 * Without a selection, global events on one tool id.  With one: discovery (global
 * PY_START and PY_RESUME, each switched off where it has been seen) on one id, local
 * events on another for what is selected.  If only one id is free, PY_START and
 * PY_RESUME on it discover as well.  Where only decorated functions are recorded, there
 * is no discovery: there are local events for them, and the events of exceptions.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_MONITORING_H
#define CUNEI_PROBE_SOURCES_MONITORING_MONITORING_H

#include "probe/core/source.h"

extern const struct cunei_source_kind cunei_source_monitoring;

#endif
