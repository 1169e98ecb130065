// SPDX-License-Identifier: MIT
/*
 * The functions of a process: the lines of its metadata, and the `define` events of
 * its definitions stream for those beyond the classes.  The newest lines may still be
 * in the live file.
 */
#ifndef CUNEI_TRACE_DIRECTORY_FUNCTIONS_H
#define CUNEI_TRACE_DIRECTORY_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct cunei_trace_error;
struct cunei_trace_live;
struct cunei_trace_process;

/*
 * Fill in the functions of a process whose streams are known.  A torn last line of the
 * metadata is of no concern: no event uses it.
 */
int cunei_trace_functions_load(struct cunei_trace_process *process,
                               const struct cunei_trace_live *live,
                               struct cunei_trace_error *error);
void cunei_trace_functions_fini(struct cunei_trace_process *process);

/* How far the definitions of a process that is followed were read; begins empty. */
struct cunei_trace_functions_place {
    uint64_t offset; /* in the metadata file */
    uint32_t newest; /* the id of the last line, in the file or in the tail */
};

/* Add the lines behind `place`, of the metadata and then of the live file. */
int cunei_trace_functions_update(struct cunei_trace_process *process,
                                 const struct cunei_trace_live *live,
                                 struct cunei_trace_functions_place *place,
                                 struct cunei_trace_error *error);

/* Add the definitions in checked words of the definitions stream.  -EBADMSG: one is
 * invalid. */
int cunei_trace_functions_define(struct cunei_trace_process *process,
                                 const uint64_t *words, size_t word_count);

/* The id that the last of some whole lines defines, or 0. */
uint32_t cunei_trace_functions_last(const char *lines, size_t size);

/*
 * Which of the live file's lines the metadata does not have yet, whose last line
 * defines `newest`: ids grow from line to line.  Where they begin goes to `*begin`, how
 * long they are is returned.  They end before a line that is invalid or whose id does
 * not grow.
 */
size_t cunei_trace_functions_newer(const char *lines, size_t size, uint32_t newest,
                                   size_t *begin);

#endif
