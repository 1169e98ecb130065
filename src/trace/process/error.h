// SPDX-License-Identifier: MIT
/* What is wrong with a trace, in words. */
#ifndef CUNEI_TRACE_PROCESS_ERROR_H
#define CUNEI_TRACE_PROCESS_ERROR_H

/* A clause that a command completes: "'x/s0' is cut short at …". */
struct cunei_trace_error {
    char text[512];
};

/* Format the clause, cut to its size.  Returns `rc`. */
int cunei_trace_fail(struct cunei_trace_error *error, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a file that cannot be opened or read: -EBADMSG, it is not regular. */
int cunei_trace_fail_to_read(struct cunei_trace_error *error, int rc, const char *path);

#endif
