// SPDX-License-Identifier: MIT
/* A comparison as a page for any browser: flame graph of the difference, and table. */
#ifndef CUNEI_EXPORT_HTML_COMPARISON_PAGE_H
#define CUNEI_EXPORT_HTML_COMPARISON_PAGE_H

#include <stdio.h>

struct cunei_comparison;

/* `names` of both sides.  -ENOMEM, or of writing. */
int cunei_difference_write(const struct cunei_comparison *comparison,
                           const char *const names[2], FILE *out);

#endif
