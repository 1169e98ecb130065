// SPDX-License-Identifier: MIT
/* Numbers and texts into a buffer that has room for them, without printf. */
#ifndef CUNEI_EXPORT_PUT_H
#define CUNEI_EXPORT_PUT_H

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

static inline char *cunei_put_number(char *at, uint64_t number)
{
    char digits[CUNEI_PUT_NUMBER];
    size_t size = 0;

    do
        digits[sizeof(digits) - ++size] = (char)('0' + number % 10);
    while (number /= 10);
    return cunei_put(at, digits + sizeof(digits) - size, size);
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
