// SPDX-License-Identifier: MIT
/* The folder of this user's running processes: live files and sockets are found there.
 */
#ifndef CUNEI_RT_RUNTIME_FOLDER_H
#define CUNEI_RT_RUNTIME_FOLDER_H

/*
 * $XDG_RUNTIME_DIR/cunei, or else a folder in memory; private, made if need be, owned
 * by the caller.  NULL: there is no such place.
 */
char *cunei_runtime_folder(void);

#endif
