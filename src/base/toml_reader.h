// SPDX-License-Identifier: MIT
/*
 * A reader for TOML: the values of one table, and the syntax of everything else, so
 * that text in a string or an array is never taken for a table.
 *
 *     rc = cunei_toml_parse(text, size, "tool.cunei", visit, context, &error);
 *
 * No distribution has a maintained TOML library for C, and one for C++ would be the
 * largest part of the build.
 */
#ifndef CUNEI_BASE_TOML_READER_H
#define CUNEI_BASE_TOML_READER_H

#include <stdbool.h>

#include "base/syntax_error.h"

enum cunei_toml_kind {
    CUNEI_TOML_TEXT,
    CUNEI_TOML_FLAG,  /* "true" or "false" */
    CUNEI_TOML_WORD,  /* a number, a date: as it is written */
    CUNEI_TOML_ARRAY, /* it begins; its elements follow, `in_array` */
    CUNEI_TOML_TABLE, /* a table; its content is not reported */
};

struct cunei_toml_value {
    /* Within the table; borrowed during the visit, as `text` is.  NULL: the table
     * itself begins, or another value in its place. */
    const char *key;
    size_t key_place;
    enum cunei_toml_kind kind;
    bool in_array;
    const char *text; /* without quotes; NULL of an array or a table */
    size_t place;
};

/* Called in the order of the file; a negative errno ends the reading. */
typedef int cunei_toml_visitor(void *context, struct cunei_syntax *syntax,
                               const struct cunei_toml_value *value);

/* -EINVAL: `error` says where and why. */
int cunei_toml_parse(const char *text, size_t size, const char *table,
                     cunei_toml_visitor *visit, void *context,
                     struct cunei_syntax_error *error);

#endif
