// SPDX-License-Identifier: MIT
/* Why something cannot be done with a process, in words. */
#ifndef CUNEI_ATTACH_ERROR_H
#define CUNEI_ATTACH_ERROR_H

/* A sentence without its full stop: what is in the way, on what, why; what to do next.
 */
struct cunei_attach_error {
    char text[768];
};

/* Format it, cut to its size.  Returns `rc`. */
int cunei_attach_fail(struct cunei_attach_error *error, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
