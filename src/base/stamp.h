// SPDX-License-Identifier: MIT
/*
 * Whether a file is still the one that it was: its size and the time of its last change
 * as one number.
 */
#ifndef CUNEI_BASE_STAMP_H
#define CUNEI_BASE_STAMP_H

#include <stdint.h>

/* It was several, one after the other: no file has this one. */
#define CUNEI_STAMP_MIXED UINT64_MAX

/* Of a regular file; 0: there is none. */
uint64_t cunei_stamp_read(const char *path);

#endif
