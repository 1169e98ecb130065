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
    bool has_more = true;

    for (*number = 0; has_more && byte < end; byte++) {
        *number = *number << 6 | (*byte & 63);
        has_more = *byte & 64;
    }
    return has_more ? NULL : byte;
}

const unsigned char *cunei_exception_table_read(const unsigned char *byte,
                                                const unsigned char *end,
                                                struct cunei_exception_entry *entry)
{
    unsigned depth, *const numbers[] = {&entry->start, &entry->size, &entry->handler,
                                        &depth};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && byte; i++)
        byte = read_number(byte, end, numbers[i]);
    return byte;
}

int cunei_exception_table_find(PyCodeObject *code, int offset)
{
    PyObject *table = code->co_exceptiontable;
    const unsigned char *byte = (const unsigned char *)PyBytes_AS_STRING(table);
    const unsigned char *end = byte + PyBytes_GET_SIZE(table);
    unsigned at = (unsigned)(offset / UNIT);
    struct cunei_exception_entry entry;

    while (byte && byte < end) {
        byte = cunei_exception_table_read(byte, end, &entry);
        if (!byte || entry.start > at)
            break;
        if (at - entry.start < entry.size)
            return (int)(UNIT * entry.handler);
    }
    return -1;
}
