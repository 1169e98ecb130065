// SPDX-License-Identifier: MIT
/* Which recorded process started this one, with shells and the like in between. */
#ifndef CUNEI_RT_ANCESTOR_H
#define CUNEI_RT_ANCESTOR_H

/*
 * The folder of the nearest ancestor that records into the same directory: its name, to
 * be freed.  `path` is that of this process's own folder.  NULL: there is none, or it
 * cannot be seen.
 */
char *cunei_ancestor_folder(const char *path);

#endif
