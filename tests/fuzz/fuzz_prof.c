// SPDX-License-Identifier: MIT
/* What cProfile wrote, read and compared with itself. */
#include <stdbool.h>

#include "analysis/comparison.h"
#include "fuzz.h"
#include "trace/directory/cprofile_file.h"

static void compare(const struct cunei_cprofile *prof)
{
    struct cunei_comparison comparison = {.by_label = true};

    for (unsigned side = 0; side < 2; side++)
        FUZZ_CHECK(cunei_comparison_add_prof(&comparison, side, prof) == 0);
    cunei_comparison_finish(&comparison);
    FUZZ_CHECK(comparison.count <= prof->count);
    for (uint32_t i = 0; i < comparison.count; i++) {
        const struct cunei_comparison_side *sides = comparison.items[i].sides;
        FUZZ_CHECK(sides[0].calls == sides[1].calls);
        FUZZ_CHECK(sides[0].self_ns.mean == sides[1].self_ns.mean);
        FUZZ_CHECK(sides[0].runs == 1 && sides[1].runs == 1);
    }
    FUZZ_CHECK(cunei_comparison_growth(&comparison) == 0);
    cunei_comparison_fini(&comparison);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_cprofile prof;
    /* Not a byte more than there is, so that reading behind it is seen. */
    char *bytes = malloc(size > 0 ? size : 1);

    FUZZ_CHECK(bytes);
    if (size > 0)
        memcpy(bytes, data, size);
    if (cunei_cprofile_parse(&prof, bytes, size) == 0) {
        for (size_t i = 0; i < prof.count; i++) {
            const struct cunei_cprofile_function *function = &prof.functions[i];
            FUZZ_CHECK(function->file >= bytes && function->name >= bytes);
            FUZZ_CHECK(function->file + strlen(function->file) < bytes + size);
            FUZZ_CHECK(function->name + strlen(function->name) < bytes + size);
        }
        compare(&prof);
        free(prof.functions);
    }
    free(bytes);
    return 0;
}
