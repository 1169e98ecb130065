// SPDX-License-Identifier: MIT
#include "cmd/common/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

/* Gets the sentences instead of stderr; or NULL. */
static struct cunei_buffer *caught;

struct cunei_buffer *cunei_cmd_catch(struct cunei_buffer *sentences)
{
    struct cunei_buffer *before = caught;

    caught = sentences;
    return before;
}

/* Written in one piece, so that no output of the program comes in between. */
__attribute__((format(printf, 2, 0))) static void print(int rc, const char *format,
                                                        va_list args)
{
    char text[2048];

    int size = vsnprintf(text, sizeof(text), format, args);
    if (size < 0)
        return;
    if (caught)
        cunei_buffer_format(caught, "%s%s%s%s", caught->size ? "; " : "", text,
                            rc < 0 ? ": " : "", rc < 0 ? strerror(-rc) : "");
    else if (rc < 0)
        (void)fprintf(stderr, "cunei: %s: %s\n", text, strerror(-rc));
    else
        (void)fprintf(stderr, "cunei: %s\n", text);
}

int cunei_cmd_fail(int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print(rc, format, args);
    va_end(args);
    return EXIT_FAILURE;
}

int cunei_cmd_usage(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print(0, format, args);
    va_end(args);
    return CUNEI_EXIT_USAGE;
}

void cunei_cmd_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print(0, format, args);
    va_end(args);
}
