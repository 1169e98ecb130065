// SPDX-License-Identifier: MIT
#include "trace/process/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int cunei_trace_fail(struct cunei_trace_error *error, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return rc;
}

int cunei_trace_fail_to_read(struct cunei_trace_error *error, int rc, const char *path)
{
    return cunei_trace_fail(error, rc,
                            rc == -EBADMSG
                                ? "'%s' is not a regular file (links are not followed)"
                                : "'%s' cannot be read",
                            path);
}
