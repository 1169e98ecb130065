// SPDX-License-Identifier: MIT
/* What the output can show: its size and its colours. */
#ifndef CUNEI_TEXT_STYLE_H
#define CUNEI_TEXT_STYLE_H

#include <stdbool.h>

struct cunei_buffer;

struct cunei_style {
    unsigned width;  /* columns; 0: not limited */
    unsigned height; /* lines, of a terminal; 0: not limited */
    bool color;
};

enum cunei_ink {
    CUNEI_INK_PLAIN,
    CUNEI_INK_STRONG, /* names */
    CUNEI_INK_DIM,    /* heads, places, what matters less */
    CUNEI_INK_HOT,    /* where the time goes */
    CUNEI_INK_WARM,
    CUNEI_INK_BAD, /* what was lost or broken */
    CUNEI_INK_HEAD,
};

/* Append the escape sequences that begin and end a colour; nothing without colours. */
void cunei_style_begin(const struct cunei_style *style, struct cunei_buffer *out,
                       enum cunei_ink ink);
void cunei_style_end(const struct cunei_style *style, struct cunei_buffer *out,
                     enum cunei_ink ink);

/* Append a text in a colour, made safe to print (cunei_text_show). */
void cunei_style_put(const struct cunei_style *style, struct cunei_buffer *out,
                     enum cunei_ink ink, const char *text);

#endif
