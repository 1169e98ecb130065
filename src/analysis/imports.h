// SPDX-License-Identifier: MIT
/* The import statements of a trace: what they took, without the import system. */
#ifndef CUNEI_ANALYSIS_IMPORTS_H
#define CUNEI_ANALYSIS_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_analysis;
struct cunei_tree;

/* A package that functions outside of all imports imported, with what it imported. */
struct cunei_imported_package {
    const char *name; /* borrowed: of a module, of which it is the first `size` bytes */
    size_t size;
    uint64_t total_ns; /* of the code of its modules, and what that called */
};

/* Owned, as everything in it. */
struct cunei_imports {
    /* The call tree without the import system, whose time is self time of the function
     * with the import statement. */
    struct cunei_tree *tree;
    struct cunei_tree *modules; /* of it only the code of modules */
    uint64_t *moved_ns; /* by slot of the tree: self time that the import system had */
    bool *is_system;    /* by slot: it is a function of the import system */
    uint64_t total_ns;  /* of all imports */
    struct cunei_imported_package *packages; /* by total, the longest first */
    size_t package_count;
};

/* `tree`: that of the analysis, or what is left of it.  -ENOMEM. */
int cunei_imports_init(struct cunei_imports *imports,
                       const struct cunei_analysis *analysis,
                       const struct cunei_tree *tree);
void cunei_imports_fini(struct cunei_imports *imports);

#endif
