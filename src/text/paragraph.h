// SPDX-License-Identifier: MIT
/*
 * Words and the separators between them, broken into lines that fit the terminal.
 *
 *     struct cunei_paragraph line = {.style = &style, .indent = 2};
 *     cunei_paragraph_put(&line, "", CUNEI_INK_HEAD, "app.py");
 *     cunei_paragraph_put(&line, " · ", CUNEI_INK_PLAIN, "2 threads");
 *     int rc = cunei_paragraph_print(&line, out);
 */
#ifndef CUNEI_TEXT_PARAGRAPH_H
#define CUNEI_TEXT_PARAGRAPH_H

#include <stddef.h>
#include <stdio.h>

#include "base/buffer.h"
#include "text/style.h"

struct cunei_paragraph {
    const struct cunei_style *style; /* borrowed */
    struct cunei_buffer text;
    size_t column;
    size_t indent; /* of the lines after the first */
};

/*
 * Append `words`, which stay together, on a new line if the current one has no room.
 * The separator `before` them then ends the old line.
 */
void cunei_paragraph_put(struct cunei_paragraph *paragraph, const char *before,
                         enum cunei_ink ink, const char *words);

/* Print the paragraph and release it.  -ENOMEM. */
int cunei_paragraph_print(struct cunei_paragraph *paragraph, FILE *out);

#endif
