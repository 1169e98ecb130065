// SPDX-License-Identifier: MIT
/*
 * The exit status: known when exit(3) is called, and by then the recording has ended,
 * unless the interpreter was not asked.  The description is put in place once more,
 * with it.
 */
#include "rt/exit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/description.h"
#include "rt/state.h"

#ifdef __GLIBC__ /* which alone tells its exit handlers the status */

/* Whether the folder is still where it was: the trace may be gone by now. */
static bool is_there(const struct cunei_folder *folder)
{
    struct stat stat;

    return folder->path && lstat(folder->path, &stat) == 0 &&
           stat.st_dev == folder->device && stat.st_ino == folder->inode;
}

static void note_status(int status, void *context)
{
    struct cunei_recorder_state *recording = context;
    struct cunei_process *process = &recording->process;

    /* Who leaves from a signal handler may hold the lock. */
    if (pthread_mutex_trylock(&recording->lock) != 0)
        return;
    /* What cunei.start() began ended for good with cunei.stop(). */
    if (process->pid == (uint64_t)getpid() &&
        (recording->on || !process->started_inside) && is_there(&recording->folder)) {
        process->exited = true;
        process->exit_status = (uint64_t)status & 0xff;
        (void)cunei_description_append(recording);
    }
    (void)pthread_mutex_unlock(&recording->lock);
}

void cunei_exit_watch(struct cunei_recorder_state *recording)
{
    (void)on_exit(note_status, recording);
}

#else

void cunei_exit_watch(struct cunei_recorder_state *recording)
{
    (void)recording;
}

#endif
