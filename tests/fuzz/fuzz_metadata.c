// SPDX-License-Identifier: MIT
/* The metadata of a trace: any text, and any lines behind a preamble. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "fuzz.h"
#include "wire/metadata.h"

/* Whatever a line was parsed to is written and parsed back as the same. */
static void check_function(const struct cunei_function *function)
{
    struct cunei_buffer line = {0};
    struct cunei_function again;

    cunei_metadata_format_function(function, &line);
    FUZZ_CHECK(!line.failed);
    FUZZ_CHECK(cunei_metadata_parse_function(&again, line.data, line.size) == 0);
    FUZZ_CHECK(again.id == function->id && again.line == function->line);
    FUZZ_CHECK(strcmp(again.module, function->module) == 0);
    FUZZ_CHECK(strcmp(again.qualname, function->qualname) == 0);
    FUZZ_CHECK(strcmp(again.file, function->file) == 0);
    cunei_buffer_fini(&line);
}

static void check_lines(char *text, size_t size)
{
    while (size > 0) {
        struct cunei_function function;
        char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) + 1 : size;
        if (cunei_metadata_parse_function(&function, text, length) == 0)
            check_function(&function);
        text += length;
        size -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_metadata metadata;
    size_t preamble = 0, clock = 0;
    char *copy = fuzz_copy(data, size);

    if (cunei_metadata_parse(&metadata, copy, size, &preamble) == 0) {
        FUZZ_CHECK(preamble <= size);
        FUZZ_CHECK(strlen(metadata.host) < sizeof(metadata.host));
        (void)cunei_metadata_wall_ns(&metadata, UINT64_MAX >> 2);
    }
    if (cunei_metadata_find_clock(copy, size, &clock) == 0)
        FUZZ_CHECK(clock + CUNEI_METADATA_CLOCK_SIZE <= size);
    check_lines(copy + preamble, size - preamble);
    free(copy);
    return 0;
}
