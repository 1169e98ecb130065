// SPDX-License-Identifier: MIT
/* How the program ended, written to the trace. */
#ifndef CUNEI_CMD_RECORD_EXIT_STATUS_H
#define CUNEI_CMD_RECORD_EXIT_STATUS_H

struct cunei_file_id;
struct cunei_launch_end;

/*
 * Add the exit status, signal and times of the process to its description in the trace
 * directory with this id, where it did not write them itself.  Does nothing where it
 * recorded nothing.
 */
void cunei_exit_status_add(const char *path, const struct cunei_file_id *id,
                           const struct cunei_launch_end *end);

#endif
