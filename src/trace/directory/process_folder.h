// SPDX-License-Identifier: MIT
/* One process's folder: everything that opening it finds out. */
#ifndef CUNEI_TRACE_DIRECTORY_PROCESS_FOLDER_H
#define CUNEI_TRACE_DIRECTORY_PROCESS_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/process/process.h"

struct cunei_trace_error;
struct cunei_trace_live;
struct cunei_trace_open_options;

/* Whether a folder is one: it holds metadata.  Negative errno if that is unknown.
 */
int cunei_process_folder_is_one(const char *path);

int cunei_process_folder_open(struct cunei_trace_process *process, const char *path,
                              const struct cunei_trace_open_options *options,
                              struct cunei_trace_error *error);

/*
 * The same for the folder with this descriptor, which stays the caller's, and is needed
 * as long as the process is; -1: files are opened by path.  With `live` the live file
 * stays open in it for the caller, who closes it; NULL: it is not wanted any longer.
 */
int cunei_process_folder_hold(struct cunei_trace_process *process, const char *path,
                              int folder,
                              const struct cunei_trace_open_options *options,
                              struct cunei_trace_live *live,
                              struct cunei_trace_error *error);

/*
 * The steps of opening, for a process that is followed: its preamble; its description,
 * which stays as it is where there is none that can be read; streams that have a slot
 * from number `first` on, and those that have a file; how it stands.
 */
int cunei_process_folder_load_preamble(struct cunei_trace_process *process,
                                       struct cunei_trace_error *error);
int cunei_process_folder_load_description(struct cunei_trace_process *process,
                                          struct cunei_trace_error *error);
int cunei_process_folder_add_slots(struct cunei_trace_process *process,
                                   const struct cunei_trace_live *live, uint32_t first);
int cunei_process_folder_add_files(struct cunei_trace_process *process,
                                   struct cunei_trace_error *error);
enum cunei_trace_state cunei_process_folder_state(
    const struct cunei_trace_process *process, const struct cunei_trace_live *live,
    bool is_alive);

void cunei_process_folder_close(struct cunei_trace_process *process);

#endif
