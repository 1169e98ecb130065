// SPDX-License-Identifier: MIT
/*
 * Values of secrets (text/secret_name.h) taken out of what people pass on, such as a
 * page: CUNEI_REDACTED stands in their place.
 *
 * Values whose names are unknown stay: `login('me', 'hunter2')` is written as it is.
 */
#ifndef CUNEI_TEXT_REDACT_H
#define CUNEI_TEXT_REDACT_H

#include <stddef.h>

struct cunei_buffer;

#define CUNEI_REDACTED "•••"

/* Append a value, or CUNEI_REDACTED if its name is that of a secret.  None, True, False
 * and the empty text are no secrets. */
void cunei_redact_value(struct cunei_buffer *out, const char *name, size_t name_size,
                        const char *text, size_t size);

/*
 * Append a text, such as a repr() or a part of a command line, without values that have
 * names in it: `password='…'`, `{'token': '…'}`, `--api-key …`, `Authorization: Bearer
 * …`, `https://me:…@host`, `('password', '…')`, and private keys.
 */
void cunei_redact_text(struct cunei_buffer *out, const char *text, size_t size);

/* Append lines of Python source without the texts of string literals that are assigned
 * to such names.  Every line stays in its place. */
void cunei_redact_source(struct cunei_buffer *out, const char *text, size_t size);

#endif
