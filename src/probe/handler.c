// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/handler.h"

#define UNIT 2 /* bytes of an instruction, or of a part of one */

/* A number of the exception table: six bits a byte, the largest first. */
static const unsigned char *read_number(const unsigned char *byte, int *number)
{
    *number = *byte & 63;
    while (*byte++ & 64)
        *number = *number << 6 | (*byte & 63);
    return byte;
}

/* Its entries are sorted, and in instructions. */
int cunei_handler_find(PyCodeObject *code, int offset)
{
    PyObject *table = code->co_exceptiontable;
    const unsigned char *byte = (const unsigned char *)PyBytes_AS_STRING(table);
    const unsigned char *end = byte + PyBytes_GET_SIZE(table);
    int at = offset / UNIT, start, size, handler, depth;

    while (byte < end) {
        byte = read_number(byte, &start);
        byte = read_number(byte, &size);
        byte = read_number(byte, &handler);
        byte = read_number(byte, &depth);
        if (start > at)
            break;
        if (at < start + size)
            return UNIT * handler;
    }
    return -1;
}
