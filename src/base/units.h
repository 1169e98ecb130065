// SPDX-License-Identifier: MIT
/* Units of time and size, as integers; multiply by 1.0 for a double. */
#ifndef CUNEI_BASE_UNITS_H
#define CUNEI_BASE_UNITS_H

#include <stdint.h>

#define CUNEI_NS_PER_MS UINT64_C(1000000)
#define CUNEI_NS_PER_S  UINT64_C(1000000000)

/* Ticks of a clock as nanoseconds, rounded down. */
static inline uint64_t cunei_ticks_ns(unsigned __int128 ticks, uint64_t frequency)
{
    return (uint64_t)(ticks * CUNEI_NS_PER_S / frequency);
}

#define CUNEI_KIB UINT64_C(1024)
#define CUNEI_MIB (1024 * CUNEI_KIB)

#endif
