// SPDX-License-Identifier: MIT
/*
 * An error in a text that a person wrote, with its position: the readers of filter
 * files, JSON and TOML report it.
 */
#ifndef CUNEI_BASE_SYNTAX_ERROR_H
#define CUNEI_BASE_SYNTAX_ERROR_H

#include <stddef.h>

struct cunei_syntax_error {
    size_t line, column; /* from 1, in characters; 0: of the whole file */
    char text[400];      /* what is wrong, without a full stop */
};

/* A place in a text that is read from front to back. */
struct cunei_syntax {
    const char *text; /* borrowed */
    size_t size;
    size_t place;
    struct cunei_syntax_error *error; /* the first one is kept */
};

/* The byte at the place, or -1 at the end; the one `ahead` of it. */
int cunei_syntax_peek(const struct cunei_syntax *syntax);
int cunei_syntax_ahead(const struct cunei_syntax *syntax, size_t ahead);

/* Report an error at `place`; returns -EINVAL. */
int cunei_syntax_fail(struct cunei_syntax *syntax, size_t place, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

/* "expected …, not 'x'", at the place; -EINVAL. */
int cunei_syntax_expected(struct cunei_syntax *syntax, const char *wanted);

#endif
