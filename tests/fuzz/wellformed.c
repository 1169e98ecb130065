// SPDX-License-Identifier: MIT
#include "wellformed.h"

#include "base/json_reader.h"
#include "fuzz.h"

/* The reader refuses NUL, and what bytes become that are no UTF-8. */
static void replace_refused(char *text)
{
    while ((text = strchr(text, '\\'))) {
        if (strncmp(text, "\\udc", 4) == 0 || strncmp(text, "\\u0000", 6) == 0)
            memcpy(text, "\\u0020", 6);
        text += 2;
    }
}

void wellformed_check(char *text, size_t size, bool is_one)
{
    struct cunei_syntax_error error = {0};
    struct cunei_syntax syntax = {text, size, 0, &error};
    size_t count = 0;

    FUZZ_CHECK(strlen(text) == size);
    replace_refused(text);
    cunei_json_reader_space(&syntax);
    for (; syntax.place < size; count++) {
        if (cunei_json_reader_skip(&syntax) < 0)
            (void)fprintf(stderr, "%zu:%zu: %s\n%s\n", error.line, error.column,
                          error.text, text);
        FUZZ_CHECK(error.line == 0);
        cunei_json_reader_space(&syntax);
    }
    FUZZ_CHECK(!is_one || count == 1);
}
