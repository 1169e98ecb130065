// SPDX-License-Identifier: MIT
/* Puts numbers and texts into reserved room, much faster than printf. */
#ifndef CUNEI_EXPORT_FAST_PUT_H
#define CUNEI_EXPORT_FAST_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The most bytes that a number takes. */
#define CUNEI_PUT_NUMBER 20u

static inline char *cunei_put(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

/* A literal. */
#define CUNEI_PUT(at, text) cunei_put(at, text, sizeof(text) - 1)

static inline unsigned cunei_put_digits(uint64_t number)
{
    for (unsigned count = 1;; count += 4, number /= 10000) {
        if (number < 100)
            return count + (number >= 10);
        if (number < 10000)
            return count + 2 + (number >= 1000);
    }
}

/* Two digits at a time: half of the divisions. */
static inline char *cunei_put_number(char *at, uint64_t number)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    char *end = at + cunei_put_digits(number);

    for (at = end; number >= 100; number /= 100)
        memcpy(at -= 2, pairs + 2 * (number % 100), 2);
    if (number >= 10)
        memcpy(at - 2, pairs + 2 * number, 2);
    else
        at[-1] = (char)('0' + number);
    return end;
}

/* Nanoseconds as microseconds: 1234.567. */
static inline char *cunei_put_microseconds(char *at, uint64_t ns)
{
    uint32_t rest = (uint32_t)(ns % 1000);

    at = cunei_put_number(at, ns / 1000);
    *at++ = '.';
    *at++ = (char)('0' + rest / 100);
    *at++ = (char)('0' + rest / 10 % 10);
    *at++ = (char)('0' + rest % 10);
    return at;
}

#endif
