// SPDX-License-Identifier: MIT
/*
 * What is half written, and goes when a signal ends the command.
 *
 *     cunei_leftover_watch("out.json.Xy12Zz");
 *     … write it …
 *     cunei_leftover_forget();
 *
 * One at a time, from the main thread.
 */
#ifndef CUNEI_CMD_LEFTOVER_H
#define CUNEI_CMD_LEFTOVER_H

/* Remove the file or folder `path` if SIGHUP, SIGINT or SIGTERM come, and end by the
 * signal then; one that is ignored stays so. */
void cunei_leftover_watch(const char *path);
void cunei_leftover_forget(void);

/* Remove a file, or a folder with all that is in it; links are not followed.  Negative
 * errno.  Safe in a signal's handler. */
int cunei_leftover_remove(const char *path);

#endif
