// SPDX-License-Identifier: MIT
/* Writes a buffer to the file from time to time, to bound its memory. */
#ifndef CUNEI_EXPORT_WRITE_BUFFER_H
#define CUNEI_EXPORT_WRITE_BUFFER_H

#include <errno.h>
#include <stdio.h>

#include "base/buffer.h"

#define CUNEI_WRITE_BUFFER_BYTES ((size_t)1 << 16)

/* Write the buffer and clear it; -ENOMEM: the buffer is incomplete. */
static inline int cunei_write_buffer(struct cunei_buffer *buffer, FILE *out)
{
    if (buffer->failed)
        return -ENOMEM;
    if (buffer->size > 0 && fwrite(buffer->data, 1, buffer->size, out) != buffer->size)
        return errno ? -errno : -EIO;
    cunei_buffer_clear(buffer);
    return 0;
}

/* The same if the buffer is large. */
static inline int cunei_write_buffer_if_full(struct cunei_buffer *buffer, FILE *out)
{
    return buffer->failed || buffer->size >= CUNEI_WRITE_BUFFER_BYTES
               ? cunei_write_buffer(buffer, out)
               : 0;
}

#endif
