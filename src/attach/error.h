// SPDX-License-Identifier: MIT
/* Why something cannot be done with a process, in words. */
#ifndef CUNEI_ATTACH_ERROR_H
#define CUNEI_ATTACH_ERROR_H

/* Whole sentences: what is in the way, on what, why, and what to do next. */
struct cunei_attach_error {
    char text[768];
};

/* Format the sentences, cut to their size.  Returns `rc`. */
int cunei_attach_fail(struct cunei_attach_error *error, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
