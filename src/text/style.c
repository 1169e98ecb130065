// SPDX-License-Identifier: MIT
#include "text/style.h"

#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

/* The sixteen colours only: they follow the terminal's own theme, dark or light. */
static const char *const inks[] = {
    [CUNEI_INK_PLAIN] = "",   [CUNEI_INK_STRONG] = "36", [CUNEI_INK_DIM] = "2",
    [CUNEI_INK_HOT] = "1;31", [CUNEI_INK_WARM] = "33",   [CUNEI_INK_BAD] = "1;31",
    [CUNEI_INK_HEAD] = "1",
};

void cunei_style_begin(const struct cunei_style *style, struct cunei_buffer *out,
                       enum cunei_ink ink)
{
    if (style->color && ink != CUNEI_INK_PLAIN)
        cunei_buffer_format(out, "\033[%sm", inks[ink]);
}

void cunei_style_end(const struct cunei_style *style, struct cunei_buffer *out,
                     enum cunei_ink ink)
{
    if (style->color && ink != CUNEI_INK_PLAIN)
        cunei_buffer_append_text(out, "\033[0m");
}

void cunei_style_put(const struct cunei_style *style, struct cunei_buffer *out,
                     enum cunei_ink ink, const char *text)
{
    cunei_style_begin(style, out, ink);
    cunei_text_show(out, text, strlen(text));
    cunei_style_end(style, out, ink);
}
