// SPDX-License-Identifier: MIT
/*
 * A text for each function of a process, made once, because a format writes it at each
 * call.
 */
#ifndef CUNEI_EXPORT_FUNCTION_LABELS_H
#define CUNEI_EXPORT_FUNCTION_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct cunei_export;
struct cunei_function;
struct cunei_trace_process;

struct cunei_function_labels {
    struct cunei_buffer text;
    size_t *offsets; /* owned: where the text of each function begins, and one more */
    uint32_t count;
};

/* `render` appends the text of a function; an unknown one has the names ?. */
struct cunei_function_labels *cunei_function_labels_make(
    const struct cunei_export *export, const struct cunei_trace_process *process,
    void (*render)(struct cunei_buffer *out, const struct cunei_function *function));
void cunei_function_labels_free(void *labels);

/* The text of a function and its size. */
const char *cunei_function_labels_find(const struct cunei_function_labels *labels,
                                       uint32_t function, size_t *size);

#endif
