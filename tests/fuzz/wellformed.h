// SPDX-License-Identifier: MIT
/* Whether what calls itself JSON is JSON. */
#ifndef CUNEI_TESTS_FUZZ_WELLFORMED_H
#define CUNEI_TESTS_FUZZ_WELLFORMED_H

#include <stdbool.h>
#include <stddef.h>

/* One value, or any number of them; what stands for NUL or no UTF-8 is overwritten. */
void wellformed_check(char *text, size_t size, bool is_one);

#endif
