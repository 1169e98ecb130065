// SPDX-License-Identifier: MIT
/* When a trace begins. */
#ifndef CUNEI_TRACE_DIRECTORY_TRACE_BEGIN_H
#define CUNEI_TRACE_DIRECTORY_TRACE_BEGIN_H

#include <stdint.h>

struct cunei_trace;

/* The wall clock where the first packet of all begins, in ns; UINT64_MAX: there is
 * none. */
uint64_t cunei_trace_begin_ns(const struct cunei_trace *trace);

#endif
