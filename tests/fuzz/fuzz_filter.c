// SPDX-License-Identifier: MIT
/* Filter files: lines, and the JSON of PerfStubs. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter_file.h"
#include "fuzz.h"

/*
 * Nested repetitions cost the C library memory without bound (see fuzz_session.c).  The
 * user who writes the file runs the program.
 */
static bool is_costly(const uint8_t *data, size_t size)
{
    unsigned repetitions = 0;

    for (size_t i = 0; i < size; i++)
        repetitions += data[i] == '{' || data[i] == '*' || data[i] == '+' ||
                       data[i] == '?' || data[i] == '\\';
    return memchr(data, '(', size) && repetitions > 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_patterns patterns = {0};
    struct cunei_syntax_error error;
    char *text = fuzz_copy(data, size); /* on the heap, so that its end is watched */

    if (size < 4096 && !is_costly(data, size)) {
        int rc = cunei_filter_file_parse(&patterns, text, size, &error);
        FUZZ_CHECK(rc <= 0);
        FUZZ_CHECK((rc == -EINVAL) == (error.line > 0));
        FUZZ_CHECK((rc == -EINVAL) == (error.text[0] != '\0'));
        (void)cunei_patterns_include(&patterns, "a.b", "C.f", "/x/a.py");
        cunei_patterns_fini(&patterns);
    }
    free(text);
    return 0;
}
