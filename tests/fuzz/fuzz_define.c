// SPDX-License-Identifier: MIT
/* `define` events, one after the other, as in a packet of the definitions stream. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "fuzz.h"
#include "wire/metadata.h"

static void check_function(const struct cunei_function *function)
{
    struct cunei_buffer event = {0};
    struct cunei_function again;

    cunei_metadata_format_define(function, 0, &event);
    FUZZ_CHECK(!event.failed && event.size % 8 == 0);
    FUZZ_CHECK(cunei_metadata_parse_define(&again, event.data, event.size) ==
               (int)event.size);
    FUZZ_CHECK(again.id == function->id && again.line == function->line);
    FUZZ_CHECK(strcmp(again.module, function->module) == 0);
    FUZZ_CHECK(strcmp(again.qualname, function->qualname) == 0);
    FUZZ_CHECK(strcmp(again.file, function->file) == 0);
    cunei_buffer_fini(&event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_function function;
    char *copy = fuzz_copy(data, size);

    for (size_t at = 0; at < size;) {
        int length = cunei_metadata_parse_define(&function, copy + at, size - at);
        if (length < 0)
            break;
        FUZZ_CHECK(length > 0 && (size_t)length <= size - at && length % 8 == 0);
        check_function(&function);
        at += (size_t)length;
    }
    free(copy);
    return 0;
}
