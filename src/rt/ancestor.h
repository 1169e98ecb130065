// SPDX-License-Identifier: MIT
/*
 * Which recorded process started this one, with shells and the like in between; and the
 * folders of other processes in the same directory.
 */
#ifndef CUNEI_RT_ANCESTOR_H
#define CUNEI_RT_ANCESTOR_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The folder of the nearest ancestor that records into the same directory: its name, to
 * be freed.  `path` is that of this process's own folder.  NULL: there is none, or it
 * cannot be seen.
 */
char *cunei_ancestor_folder(const char *path);

/*
 * The last folder of the process `pid` in the same directory, if it has a live file:
 * its name, to be freed.  The process records, or ended without ending its recording.
 */
char *cunei_ancestor_unfinished(const char *path, pid_t pid);

/* Whether the process `pid` has a folder in the same directory. */
bool cunei_ancestor_has_folder(const char *path, pid_t pid);

#endif
