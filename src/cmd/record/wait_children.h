// SPDX-License-Identifier: MIT
/*
 * Processes that outlive the program that was recorded: most of them end right behind
 * it, such as the helpers of multiprocessing, and some are daemons.
 */
#ifndef CUNEI_CMD_RECORD_WAIT_CHILDREN_H
#define CUNEI_CMD_RECORD_WAIT_CHILDREN_H

/*
 * Wait until no process records to the directory any more, a quarter of a second at
 * most.
 */
void cunei_wait_children(const char *directory);

#endif
