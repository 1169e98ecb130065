// SPDX-License-Identifier: MIT
#include "text/paragraph.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "text/terminal_text.h"

/* A separator at the end of a line, such as " ·". */
#define SEPARATOR_WIDTH 2u

/* Append a separator, without its last space at the end of a line.  Spaces have no
 * colour.  Returns its width. */
static size_t put_separator(struct cunei_paragraph *paragraph, const char *before,
                            bool is_end)
{
    struct cunei_buffer separator = {0};
    size_t size = strlen(before);
    bool is_blank = before[strspn(before, " ")] == '\0';

    while (is_end && size > 0 && before[size - 1] == ' ')
        size--;
    cunei_buffer_append(&separator, before, size);
    if (size > 0)
        cunei_style_put(paragraph->style, &paragraph->text,
                        is_blank ? CUNEI_INK_PLAIN : CUNEI_INK_DIM, separator.data);
    paragraph->text.failed |= separator.failed;
    cunei_buffer_fini(&separator);
    return size > 0 ? cunei_terminal_width(before) : 0;
}

void cunei_paragraph_put(struct cunei_paragraph *paragraph, const char *before,
                         enum cunei_ink ink, const char *words)
{
    struct cunei_buffer *text = &paragraph->text, shown = {0};
    size_t gap = cunei_terminal_width(before);

    cunei_text_show(&shown, words, strlen(words));
    size_t width = cunei_terminal_width(cunei_buffer_text(&shown));
    /* The line keeps room for a separator that is not only spaces. */
    size_t end = before[strspn(before, " ")] ? SEPARATOR_WIDTH : 0;

    if (paragraph->column > paragraph->indent && paragraph->style->width > 0 &&
        paragraph->column + gap + width + end > paragraph->style->width) {
        (void)put_separator(paragraph, before, true);
        cunei_buffer_format(text, "\n%*s", (int)paragraph->indent, "");
        paragraph->column = paragraph->indent;
    } else if (paragraph->column > 0)
        paragraph->column += put_separator(paragraph, before, false);
    cunei_style_put(paragraph->style, text, ink, cunei_buffer_text(&shown));
    paragraph->column += width;
    text->failed |= shown.failed;
    cunei_buffer_fini(&shown);
}

int cunei_paragraph_print(struct cunei_paragraph *paragraph, FILE *out)
{
    bool failed = paragraph->text.failed;

    cunei_buffer_append_text(&paragraph->text, "\n");
    if (!failed)
        (void)fwrite(paragraph->text.data, 1, paragraph->text.size, out);
    cunei_buffer_fini(&paragraph->text);
    return failed ? -ENOMEM : 0;
}
