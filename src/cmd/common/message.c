// SPDX-License-Identifier: MIT
#include "cmd/common/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

/* Gets the sentences instead of stderr; or NULL. */
static struct cunei_buffer *caught;

struct cunei_buffer *cunei_cmd_catch(struct cunei_buffer *sentences)
{
    struct cunei_buffer *before = caught;

    caught = sentences;
    return before;
}

/*
 * Written in one piece, so that no output of the program comes in between.  A sentence
 * may hold names of the program or of a file: it is made safe to print as a whole.
 */
__attribute__((format(printf, 2, 0))) static void print(int rc, const char *format,
                                                        va_list args)
{
    char text[2048];
    struct cunei_buffer line = {0};

    int size = vsnprintf(text, sizeof(text), format, args);
    if (size < 0)
        return;
    cunei_text_show(&line, text, cunei_text_cut(text, (size_t)size, sizeof(text) - 2));
    if (rc < 0)
        cunei_buffer_format(&line, ": %s", strerror(-rc));
    if (caught)
        cunei_buffer_format(caught, "%s%s", caught->size ? "; " : "",
                            cunei_buffer_text(&line));
    else
        (void)fprintf(stderr, "cunei: %s\n", cunei_buffer_text(&line));
    cunei_buffer_fini(&line);
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
