// SPDX-License-Identifier: MIT
/* The code of a module as the import that it is, in formats that fold imports. */
#ifndef CUNEI_EXPORT_IMPORT_NAME_H
#define CUNEI_EXPORT_IMPORT_NAME_H

struct cunei_buffer;
struct cunei_export;
struct cunei_function;

/* "import json" in `room`, or the function's own qualified name. */
const char *cunei_import_name(const struct cunei_export *export,
                              const struct cunei_function *function,
                              struct cunei_buffer *room);

/* Append "import json", or module:qualname (export/escaped_name.h). */
void cunei_import_name_put(const struct cunei_export *export, struct cunei_buffer *out,
                           const struct cunei_function *function, char forbidden);

#endif
