// SPDX-License-Identifier: MIT
/*
 * A buffer that grows: text is assembled here before it is written at once.
 *
 *     struct cunei_buffer text = {0};
 *     cunei_buffer_format(&text, "event %u", id);
 *     if (text.failed)
 *         return -ENOMEM;
 *     …
 *     cunei_buffer_fini(&text);
 *
 * A failed allocation is remembered, and later appends are ignored, so that a caller
 * checks once, at the end.  `data` is NUL-terminated after any append.
 */
#ifndef CUNEI_BASE_BUFFER_H
#define CUNEI_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_buffer {
    char *data; /* owned */
    size_t size;
    size_t capacity;
    bool failed;
};

void cunei_buffer_append(struct cunei_buffer *buffer, const void *bytes, size_t size);
void cunei_buffer_append_text(struct cunei_buffer *buffer, const char *text);
void cunei_buffer_format(struct cunei_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Room for `size` more bytes; NULL: there is no memory.  After writing into it, call
 * cunei_buffer_grow with the end of the written bytes.
 */
char *cunei_buffer_room(struct cunei_buffer *buffer, size_t size);
void cunei_buffer_grow(struct cunei_buffer *buffer, const char *end);

/* What is in it, as text: also of a buffer that never got memory. */
static inline const char *cunei_buffer_text(const struct cunei_buffer *buffer)
{
    return buffer->data ? buffer->data : "";
}

/* Shorten it and keep its memory; empty it. */
void cunei_buffer_cut(struct cunei_buffer *buffer, size_t size);
void cunei_buffer_clear(struct cunei_buffer *buffer);
void cunei_buffer_fini(struct cunei_buffer *buffer);

#endif
