// SPDX-License-Identifier: MIT
/*
 * What cProfile and profile wrote: a marshalled dictionary of (file, line, name) to
 * (primitive calls, calls, self, cumulative, callers).
 *
 *     struct cunei_prof prof;
 *     int rc = cunei_prof_open(&prof, "app.prof", &error);
 *     …
 *     cunei_prof_close(&prof);
 */
#ifndef CUNEI_TRACE_PROF_H
#define CUNEI_TRACE_PROF_H

#include <stddef.h>
#include <stdint.h>

struct cunei_trace_error;

struct cunei_prof_function {
    const char *file; /* borrowed from the profile, as the name; ~ for C functions */
    const char *name;
    uint32_t line;
    uint64_t calls; /* generators' resumptions are, too */
    uint64_t primitive_calls;
    uint64_t self_ns, total_ns;
};

struct cunei_prof {
    struct cunei_prof_function *functions; /* owned */
    size_t count;
    char *memory; /* private */
};

/* -EBADMSG: no such file, `error` says what is wrong; or of reading it. */
int cunei_prof_open(struct cunei_prof *prof, const char *path,
                    struct cunei_trace_error *error);
void cunei_prof_close(struct cunei_prof *prof);

/* The same from bytes in memory, which are taken apart in place. */
int cunei_prof_parse(struct cunei_prof *prof, char *bytes, size_t size);

#endif
