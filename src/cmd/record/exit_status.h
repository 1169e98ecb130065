// SPDX-License-Identifier: MIT
/* How the program ended, put where reports of it are made from. */
#ifndef CUNEI_CMD_RECORD_EXIT_STATUS_H
#define CUNEI_CMD_RECORD_EXIT_STATUS_H

struct cunei_launch_end;

/*
 * Add what is known of the process's end to its description in the trace directory, as
 * far as it could not say it itself.  Nothing happens where it recorded nothing.
 */
void cunei_exit_status_add(const char *directory, const struct cunei_launch_end *end);

#endif
