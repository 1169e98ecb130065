// SPDX-License-Identifier: MIT
/* The hidden description of a process. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "fuzz.h"
#include "wire/process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_process process, again;
    char *copy = fuzz_copy(data, size);

    if (cunei_process_parse(&process, copy, size) == 0) {
        struct cunei_buffer text = {0};
        cunei_process_format(&process, &text);
        FUZZ_CHECK(!text.failed);
        FUZZ_CHECK(cunei_process_parse(&again, text.data, text.size) == 0);
        FUZZ_CHECK(again.pid == process.pid && again.lost == process.lost);
        FUZZ_CHECK(again.argument_count == process.argument_count);
        for (size_t i = 0; i < again.argument_count; i++)
            FUZZ_CHECK(strcmp(again.arguments[i], process.arguments[i]) == 0);
        cunei_process_fini(&again);
        cunei_process_fini(&process);
        cunei_buffer_fini(&text);
    }
    free(copy);
    return 0;
}
