// SPDX-License-Identifier: MIT
/* Finding a program as the shell does. */
#ifndef CUNEI_CMD_COMMON_SEARCH_PATH_H
#define CUNEI_CMD_COMMON_SEARCH_PATH_H

#include <stdbool.h>

/* Whether the path is a regular file that we may execute. */
bool cunei_search_path_is_executable(const char *path);

/* The path of `name` if it has a slash, otherwise found through PATH; owned by the
 * caller.  NULL: there is no such program. */
char *cunei_search_path_find(const char *name);

#endif
