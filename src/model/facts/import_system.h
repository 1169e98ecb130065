// SPDX-License-Identifier: MIT
/*
 * What the import statement runs: the functions of the import system, and the code of
 * modules.  A report shows `import json` instead of the ten functions of importlib
 * between an import statement and the code of json.
 */
#ifndef CUNEI_MODEL_FACTS_IMPORT_SYSTEM_H
#define CUNEI_MODEL_FACTS_IMPORT_SYSTEM_H

#include <stdbool.h>

struct cunei_function;

/* A function that finds, reads or loads modules, for any module. */
bool cunei_is_import_system(const struct cunei_function *function);

/* The code of a module that another one imports: not the program's. */
bool cunei_is_imported_module(const struct cunei_function *function);

#endif
