// SPDX-License-Identifier: MIT
/*
 * The CPython in a process: which mapped file it is, its version, and where its
 * variables and functions are.
 *
 * All of it is read from the file and from /proc/PID/maps, which needs no right to
 * trace the process.
 */
#ifndef CUNEI_ATTACH_PYTHON_IMAGE_H
#define CUNEI_ATTACH_PYTHON_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/debug_offsets.h"
#include "attach/error.h"
#include "attach/memory_map.h"
#include "attach/process_facts.h"

struct cunei_python_image {
    char *path;       /* owned: the file, as the process names it */
    unsigned minor;   /* of 3.minor */
    int patch;        /* -1: not known */
    uint32_t version; /* PY_VERSION_HEX; 0: not known, before 3.11 */
    bool is_library;  /* libpython; otherwise it is in the executable */
    bool is_static;   /* an executable that cannot load extensions */
    bool is_debug;    /* --with-pydebug: other structs */
    bool is_free_threaded;
    uint64_t runtime;            /* address of _PyRuntime */
    uint64_t runtime_size;       /* bytes; 0: not known */
    uint64_t run_string;         /* address of PyRun_SimpleString; 0: not found */
    uint8_t run_string_code[16]; /* its first bytes, to compare with the memory */
    int offsets_rc;              /* 0: `offsets` are known; see debug_offsets.h */
    struct cunei_debug_offsets offsets;
};

/*
 * Find CPython in a process.  -ENOEXEC: it is not a Python; other errors: that is not
 * known.  `error` says why.
 */
int cunei_python_image_find(const struct cunei_process_facts *process,
                            const struct cunei_memory_map *map,
                            struct cunei_python_image *image,
                            struct cunei_attach_error *error);
void cunei_python_image_fini(struct cunei_python_image *image);

/* Whether the name of a file is that of a Python or its library. */
bool cunei_python_image_is_name(const char *name, size_t length);

#endif
