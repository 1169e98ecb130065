// SPDX-License-Identifier: MIT
/*
 * What cProfile and profile wrote: a marshalled dictionary of (file, line, name) to
 * (primitive calls, calls, self, cumulative, callers).
 *
 *     struct cunei_cprofile prof;
 *     int rc = cunei_cprofile_open(&prof, "app.prof", &error);
 *     …
 *     cunei_cprofile_close(&prof);
 */
#ifndef CUNEI_TRACE_DIRECTORY_CPROFILE_FILE_H
#define CUNEI_TRACE_DIRECTORY_CPROFILE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct cunei_trace_error;

struct cunei_cprofile_function {
    const char *file; /* borrowed from the profile, as the name; ~ for C functions */
    const char *name;
    uint32_t line;
    uint64_t calls; /* includes resumes of generators */
    uint64_t self_ns, total_ns;
};

struct cunei_cprofile {
    struct cunei_cprofile_function *functions; /* owned */
    size_t count;
    char *memory; /* private */
};

/* -EBADMSG: no such file, `error` says what is wrong; or of reading it. */
int cunei_cprofile_open(struct cunei_cprofile *prof, const char *path,
                        struct cunei_trace_error *error);
void cunei_cprofile_close(struct cunei_cprofile *prof);

/* The same from bytes in memory, which are taken apart in place. */
int cunei_cprofile_parse(struct cunei_cprofile *prof, char *bytes, size_t size);

#endif
