// SPDX-License-Identifier: MIT
/*
 * Messages from processes that could not record, with the reason.  Such a process must
 * not print anything; the launcher prints the reasons at the end.
 *
 * A message is an empty file in the trace directory with the reason in its name.  If
 * the process cannot write there (another root, a read-only disk), or the directory is
 * another user's, it sends the message to a socket of the launcher in the abstract
 * namespace, which needs no directory and no permission.
 *
 * Every user of the machine can connect to such a socket and finds its name in
 * /proc/net/unix.  So a message begins with a secret that is in CUNEI_RECORD, and that
 * only processes below the launcher inherit.  Their place in the tree of processes is
 * no proof: a process whose parent ended is a child of init.  The environment of a
 * process is not readable by other users.
 *
 *     int listener = cunei_refusal_listen(&launcher);       in the launcher
 *     cunei_refusal_leave(&session, getpid(), EACCES);      in any process below it
 *     cunei_refusal_receive(directory, &id, listener, launcher.secret, &refusals);
 *     cunei_refusal_read(directory, &refusals);             in other commands
 */
#ifndef CUNEI_RT_REFUSAL_H
#define CUNEI_RT_REFUSAL_H

#include <stdint.h>
#include <sys/types.h>

#define CUNEI_REFUSAL_NAME ".refused-" /* then PID-REASON */

struct cunei_file_id;
struct cunei_folder;
struct cunei_launcher;
struct cunei_record_env;
struct cunei_refusals;

/* Never fails, never waits.  `pid`: this process, or a child that cannot record. */
void cunei_refusal_leave(const struct cunei_record_env *session, pid_t pid, int error);

/*
 * The folder of this process was moved, replaced or removed while it recorded.  The
 * socket comes first: the user who did that can also remove a file.
 */
void cunei_refusal_report_loss(const struct cunei_folder *folder,
                               const struct cunei_launcher *launcher);

/*
 * Choose the socket and the secret of a launcher.  Returns a descriptor to collect
 * from, above the standard ones; or a negative errno.
 */
int cunei_refusal_listen(struct cunei_launcher *launcher);

/*
 * Add all messages so far to `refusals`, and leave files of those from the socket, so
 * that other commands read them as well.  `id`: the directory, if it is still at its
 * path.  `listener` may be negative.  Waits for half a second at most, whatever has
 * connected.
 */
void cunei_refusal_receive(const char *path, const struct cunei_file_id *id,
                           int listener, uint64_t secret,
                           struct cunei_refusals *refusals);

/* Add those of a trace. */
void cunei_refusal_read(const char *path, struct cunei_refusals *refusals);

#endif
