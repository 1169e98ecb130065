// SPDX-License-Identifier: MIT
/*
 * The formats that a trace can be converted to: one row each in a table.
 *
 *     const struct cunei_export_format *format = cunei_export_find("perfetto", 8);
 *     struct cunei_export export = {.trace = &trace, .options = &options, .out = file};
 *     int rc = cunei_export_write(&export, format);
 *     …
 *     cunei_export_fini(&export);
 */
#ifndef CUNEI_EXPORT_FORMATS_H
#define CUNEI_EXPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "export/export.h"

struct cunei_export_format {
    const char *name;
    const char *extension; /* of the file, with its dot */
    const char *viewers;   /* what opens it … */
    const char *how;       /* … and how */
    const char *opener;    /* the program that opens it; NULL: none */
    const char *entry;     /* of a folder, the file for the opener */
    bool is_folder;
    bool has_calls_only;         /* no regions, marks and the like */
    bool folds;                  /* imports stand for the import system */
    const char *missing;         /* the package that cunei was built without */
    const char *(*absent)(void); /* the package that is not installed; NULL: none */
    uint64_t large_bytes;        /* viewers are slow with more; 0: never … */
    const char *instead;         /* … and the format that is better then */
    /* Negative errno; damage in the trace is not an error. */
    int (*write)(struct cunei_export *export);
};

/* Whether it cannot be written here; appends why. */
bool cunei_export_lacks(const struct cunei_export_format *format,
                        struct cunei_buffer *why);

/* Ends with an empty row. */
extern const struct cunei_export_format cunei_export_formats[];

/* The format of that name, which is `size` bytes long, or NULL. */
const struct cunei_export_format *cunei_export_find(const char *name, size_t size);

/* The better format for a file of that many bytes, or NULL. */
const struct cunei_export_format *cunei_export_instead(
    const struct cunei_export_format *format, uint64_t bytes);

/*
 * -ESRCH: no such process or thread; -ENODATA: no such function; -ERANGE: nothing was
 * recorded at those times; -ENOMEM; or an error of writing.
 */
int cunei_export_write(struct cunei_export *export,
                       const struct cunei_export_format *format);
void cunei_export_fini(struct cunei_export *export);

#endif
