// SPDX-License-Identifier: MIT
/* Filter files: lines, and the JSON of PerfStubs. */
#include <errno.h>
#include <stdlib.h>

#include "base/filter_file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_patterns patterns = {0};
    struct cunei_syntax_error error;
    char *text = fuzz_copy(data, size); /* on the heap, so that its end is watched */

    if (size < 4096) {
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
