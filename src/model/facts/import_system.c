// SPDX-License-Identifier: MIT
#include "model/facts/import_system.h"

#include <stddef.h>
#include <string.h>

#include "wire/metadata.h"

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* The module of a function of the import system has two names, its file only one. */
bool cunei_is_import_system(const struct cunei_function *function)
{
    static const char *const files[] = {
        "<frozen importlib._bootstrap>",
        "<frozen importlib._bootstrap_external>",
        "<frozen zipimport>",
    };
    const char *file = function->file ? function->file : "";
    const char *module = function->module ? function->module : "";

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(file, files[i]) == 0)
            return true;
    }
    return strcmp(module, "_imp") == 0 ||
           (strcmp(module, "importlib") == 0 &&
            strcmp(function->qualname, "import_module") == 0) ||
           (strcmp(module, "builtins") == 0 &&
            strcmp(function->qualname, "__import__") == 0);
}

/* Code that is compiled from a text, as dataclasses do it, is named like a module's. */
bool cunei_is_imported_module(const struct cunei_function *function)
{
    const char *file = function->file ? function->file : "";

    return strcmp(function->qualname, "<module>") == 0 && function->module &&
           function->module[0] && strcmp(function->module, "__main__") != 0 &&
           (file[0] != '<' || begins_with(file, "<frozen "));
}
