// SPDX-License-Identifier: MIT
/* Modules that a program can import, for mistyped names. */
#ifndef CUNEI_CMD_SUGGEST_MODULE_H
#define CUNEI_CMD_SUGGEST_MODULE_H

#include <stddef.h>

/*
 * The module in these folders whose name is one edit away from `word`; owned by the
 * caller.  NULL: there is none, or it is `word` itself.  Folders that are NULL or ""
 * are skipped.
 */
char *cunei_suggest_module(const char *const *folders, size_t count, const char *word);

#endif
