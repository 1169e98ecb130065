// SPDX-License-Identifier: MIT
/*
 * Child processes that outlive the recorded program: most end right after it, such as
 * the resource tracker of multiprocessing; some are daemons.
 */
#ifndef CUNEI_CMD_RECORD_WAIT_CHILDREN_H
#define CUNEI_CMD_RECORD_WAIT_CHILDREN_H

/*
 * Wait until no process records to the directory, for at most a quarter of a second.
 */
void cunei_wait_children(const char *directory);

#endif
