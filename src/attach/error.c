// SPDX-License-Identifier: MIT
#include "attach/error.h"

#include <stdarg.h>
#include <stdio.h>

int cunei_attach_fail(struct cunei_attach_error *error, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return rc;
}
