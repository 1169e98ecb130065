// SPDX-License-Identifier: MIT
/* The keys, for the help. */
#ifndef CUNEI_TOP_VIEW_VIEW_KEYS_H
#define CUNEI_TOP_VIEW_VIEW_KEYS_H

#include <stddef.h>

/* How a binding is shown, and what it does; NULL behind the last. */
const char *cunei_top_view_binding(size_t index, const char **help);

#endif
