// SPDX-License-Identifier: MIT
/*
 * A trace whose one stream of events is an input, for targets of what reads traces.
 *
 *     if (recorded_open(&trace, data, size)) {
 *         …
 *         recorded_close(&trace);
 *     }
 */
#ifndef CUNEI_TESTS_FUZZ_RECORDED_H
#define CUNEI_TESTS_FUZZ_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/directory/trace.h"

/* Whether it can be opened and is not of the kind that takes for ever. */
bool recorded_open(struct cunei_trace *trace, const uint8_t *data, size_t size);
void recorded_close(struct cunei_trace *trace);

/* The directory of the trace. */
const char *recorded_directory(void);

#endif
