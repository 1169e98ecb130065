// SPDX-License-Identifier: MIT
#include "rt/runtime_folder.h"

#include <stdio.h>
#include <stdlib.h>

#include "rt/hidden_file.h"

/* After su, XDG_RUNTIME_DIR is another user's, who could put a link in ours' place. */
char *cunei_runtime_folder(void)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    char *path = NULL;

    if (base && base[0] == '/' && cunei_hidden_file_is_own(base, 022) &&
        asprintf(&path, "%s/cunei", base) >= 0) {
        if (cunei_hidden_file_is_private(path))
            return path;
        free(path);
    }
    return cunei_hidden_file_memory_folder();
}
