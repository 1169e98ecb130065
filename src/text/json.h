// SPDX-License-Identifier: MIT
/*
 * JSON, written as it comes.
 *
 *     struct cunei_json json = {.out = stdout};
 *     cunei_json_open(&json, NULL, '{');
 *     cunei_json_number(&json, "version", 1);
 *     cunei_json_open(&json, "functions", '[');
 *     …
 *     cunei_json_close(&json, ']');
 *     cunei_json_close(&json, '}');
 *     cunei_json_end(&json);
 *
 * A key is NULL in an array.
 */
#ifndef CUNEI_TEXT_JSON_H
#define CUNEI_TEXT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

struct cunei_json {
    FILE *out;
    bool is_line;             /* without line breaks, but for the one at the end */
    struct cunei_buffer text; /* private, as all that follows */
    bool begun;               /* the next value needs a comma */
    unsigned depth;
    bool failed;
};

void cunei_json_open(struct cunei_json *json, const char *key, char bracket);
void cunei_json_close(struct cunei_json *json, char bracket);
void cunei_json_number(struct cunei_json *json, const char *key, uint64_t value);
/* null where the number is not known. */
void cunei_json_number_or_null(struct cunei_json *json, const char *key, bool is_known,
                               uint64_t value);
void cunei_json_real(struct cunei_json *json, const char *key, double value);
/* A count, or the mean of counts, which may have a fraction. */
void cunei_json_count(struct cunei_json *json, const char *key, double value);
void cunei_json_flag(struct cunei_json *json, const char *key, bool value);
void cunei_json_text(struct cunei_json *json, const char *key, const char *value);
void cunei_json_texts(struct cunei_json *json, const char *key, char *const *values,
                      size_t count);

/* A value that is JSON already. */
void cunei_json_raw(struct cunei_json *json, const char *key, const char *value);

/* End the line.  -ENOMEM: something was left out. */
int cunei_json_end(struct cunei_json *json);

#endif
