// SPDX-License-Identifier: MIT
/*
 * Removes a half-written file when a signal ends the command.
 *
 *     cunei_temp_cleanup_watch("out.json.Xy12Zz", &id);
 *     … write it …
 *     cunei_temp_cleanup_forget();
 *
 * One file at a time, from the main thread; or a folder, and while that is watched the
 * files in it: the outer watch removes them all.
 */
#ifndef CUNEI_CMD_COMMON_TEMP_CLEANUP_H
#define CUNEI_CMD_COMMON_TEMP_CLEANUP_H

struct cunei_file_id;

/* On SIGHUP, SIGINT or SIGTERM, remove the file or folder `path`, as below, and end by
 * the signal; ignored signals stay ignored. */
void cunei_temp_cleanup_watch(const char *path, const struct cunei_file_id *id);
void cunei_temp_cleanup_forget(void);

/* Remove a file, or a folder with all that is in it; links are not followed.  Negative
 * errno; -ESTALE: something else than `id` is at the path.  Safe in a signal's handler.
 */
int cunei_temp_cleanup_remove(const char *path, const struct cunei_file_id *id);

#endif
