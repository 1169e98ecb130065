// SPDX-License-Identifier: MIT
/* The environment variable that arms a Python. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "fuzz.h"
#include "wire/record_env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_record_env session, again;
    char *text = fuzz_copy(data, size);

    if (cunei_record_env_parse(&session, text) == 0) {
        struct cunei_buffer formatted = {0};
        FUZZ_CHECK(session.directory && session.directory[0] == '/');
        cunei_record_env_format(&session, &formatted);
        FUZZ_CHECK(!formatted.failed);
        FUZZ_CHECK(cunei_record_env_parse(&again, formatted.data) == 0);
        FUZZ_CHECK(strcmp(again.directory, session.directory) == 0);
        FUZZ_CHECK(again.patterns.count == session.patterns.count);
        (void)cunei_patterns_include(&session.patterns, "a.b", "f", "/x/a.py");
        cunei_record_env_fini(&again);
        cunei_record_env_fini(&session);
        cunei_buffer_fini(&formatted);
    }
    free(text);
    return 0;
}
