// SPDX-License-Identifier: MIT
#include "base/syntax_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

int cunei_syntax_ahead(const struct cunei_syntax *syntax, size_t ahead)
{
    return ahead < syntax->size - syntax->place
               ? (unsigned char)syntax->text[syntax->place + ahead]
               : -1;
}

int cunei_syntax_peek(const struct cunei_syntax *syntax)
{
    return cunei_syntax_ahead(syntax, 0);
}

/* Bytes that are no UTF-8 count as one character each. */
static void locate(const struct cunei_syntax *syntax, size_t place,
                   struct cunei_syntax_error *error)
{
    error->line = error->column = 1;
    for (size_t i = 0; i < place && i < syntax->size;) {
        size_t size = cunei_text_character(syntax->text + i, syntax->size - i);
        bool ends = syntax->text[i] == '\n';
        error->line += ends;
        error->column = ends ? 1 : error->column + 1;
        i += size ? size : 1;
    }
}

int cunei_syntax_fail(struct cunei_syntax *syntax, size_t place, const char *format,
                      ...)
{
    struct cunei_syntax_error *error = syntax->error;
    va_list values;

    if (error->line)
        return -EINVAL;
    locate(syntax, place, error);
    va_start(values, format);
    (void)vsnprintf(error->text, sizeof(error->text), format, values);
    va_end(values);
    return -EINVAL;
}

int cunei_syntax_expected(struct cunei_syntax *syntax, const char *wanted)
{
    const char *at = syntax->text + syntax->place;
    int next = cunei_syntax_peek(syntax);

    if (next < 0)
        return cunei_syntax_fail(syntax, syntax->place,
                                 "expected %s, but the file ends", wanted);
    if (next == '\n' || next == '\r')
        return cunei_syntax_fail(syntax, syntax->place,
                                 "expected %s, but the line ends", wanted);
    size_t size = cunei_text_character(at, syntax->size - syntax->place);
    if (next < ' ' || next == 0x7f || size == 0)
        return cunei_syntax_fail(syntax, syntax->place, "expected %s, not byte 0x%02x",
                                 wanted, (unsigned)next);
    return cunei_syntax_fail(syntax, syntax->place, "expected %s, not '%.*s'", wanted,
                             (int)size, at);
}
