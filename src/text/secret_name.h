// SPDX-License-Identifier: MIT
/* Names whose values are secrets: password, api_key, X-Auth-Token, dbPassword … */
#ifndef CUNEI_TEXT_SECRET_NAME_H
#define CUNEI_TEXT_SECRET_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A name is taken apart into words, at characters that are no letters and digits and
 * where a capital letter follows a small one.  One of the words, or two of them in a
 * row, must be in a table: `token` is, `tokenizer` is not.
 */
bool cunei_is_secret_name(const char *name, size_t size);

#endif
