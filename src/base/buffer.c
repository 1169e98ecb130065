// SPDX-License-Identifier: MIT
#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make room for `size` more bytes and a NUL. */
static bool reserve(struct cunei_buffer *buffer, size_t size)
{
    if (buffer->failed)
        return false;
    if (buffer->capacity - buffer->size > size)
        return true;

    size_t capacity = buffer->capacity ? buffer->capacity : 128;
    while (capacity - buffer->size <= size && capacity < SIZE_MAX / 2)
        capacity *= 2;
    char *data =
        capacity - buffer->size > size ? realloc(buffer->data, capacity) : NULL;
    if (!data) {
        buffer->failed = true;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void cunei_buffer_append(struct cunei_buffer *buffer, const void *bytes, size_t size)
{
    if (!reserve(buffer, size))
        return;
    if (size > 0)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void cunei_buffer_append_text(struct cunei_buffer *buffer, const char *text)
{
    cunei_buffer_append(buffer, text, strlen(text));
}

void cunei_buffer_format(struct cunei_buffer *buffer, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        buffer->failed = true;
    else if (reserve(buffer, (size_t)length)) {
        (void)vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }
    va_end(again);
}

char *cunei_buffer_room(struct cunei_buffer *buffer, size_t size)
{
    return reserve(buffer, size) ? buffer->data + buffer->size : NULL;
}

void cunei_buffer_grow(struct cunei_buffer *buffer, const char *end)
{
    buffer->size = (size_t)(end - buffer->data);
    buffer->data[buffer->size] = '\0';
}

void cunei_buffer_cut(struct cunei_buffer *buffer, size_t size)
{
    buffer->size = size;
    if (buffer->data)
        buffer->data[size] = '\0';
}

void cunei_buffer_clear(struct cunei_buffer *buffer)
{
    buffer->size = 0;
    buffer->failed = false;
}

void cunei_buffer_fini(struct cunei_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct cunei_buffer){0};
}
