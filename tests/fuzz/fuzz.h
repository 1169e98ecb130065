// SPDX-License-Identifier: MIT
/*
 * A fuzz target is one file that defines LLVMFuzzerTestOneInput.  Linked with libFuzzer
 * it looks for inputs that break it; linked with replay.c, with any compiler, it is a
 * test that takes the inputs found so far from corpus/.
 */
#ifndef CUNEI_TESTS_FUZZ_H
#define CUNEI_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // NOLINT

/* What must hold whatever the input. */
#define FUZZ_CHECK(good)                                                             \
    do {                                                                             \
        if (!(good)) {                                                               \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #good); \
            abort();                                                                 \
        }                                                                            \
    } while (0)

/* A copy on the heap, with a NUL behind it; the caller frees it. */
static inline char *fuzz_copy(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);

    FUZZ_CHECK(copy);
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

#endif
