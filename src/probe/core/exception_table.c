// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/exception_table.h"

#include <stdbool.h>

#define UNIT 2 /* bytes of an instruction, or of a part of one */

/*
 * A number of the exception table: six bits a byte, the most significant first.  The
 * program may have created the code object, so that the table may end anywhere.
 */
static const unsigned char *read_number(const unsigned char *byte,
                                        const unsigned char *end, unsigned *number)
{
    bool goes_on = true;

    for (*number = 0; goes_on && byte < end; byte++) {
        *number = *number << 6 | (*byte & 63);
        goes_on = *byte & 64;
    }
    return goes_on ? NULL : byte;
}

/* Entries are sorted, and count instructions. */
int cunei_exception_table_find(PyCodeObject *code, int offset)
{
    PyObject *table = code->co_exceptiontable;
    const unsigned char *byte = (const unsigned char *)PyBytes_AS_STRING(table);
    const unsigned char *end = byte + PyBytes_GET_SIZE(table);
    unsigned at = (unsigned)(offset / UNIT), entry[4]; /* start, size, handler, depth */

    while (byte && byte < end) {
        for (int i = 0; i < 4 && byte; i++)
            byte = read_number(byte, end, &entry[i]);
        if (!byte || entry[0] > at)
            break;
        if (at - entry[0] < entry[1])
            return (int)(UNIT * entry[2]);
    }
    return -1;
}
