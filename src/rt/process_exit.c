// SPDX-License-Identifier: MIT
/*
 * The exit status is known when exit(3) is called.  By then the recording has ended,
 * unless the program did not finalize the interpreter.  The status is appended to the
 * description.
 *
 * A process that is killed, or that exits without our notice, writes nothing: its
 * parent writes what it learned to its own description.
 */
#include "rt/process_exit.h"

#include <stdlib.h>
#include <unistd.h>

#include "rt/ancestor.h"
#include "rt/description.h"
#include "rt/state.h"

/* The one of this process; NULL: it has never recorded. */
static struct cunei_recorder_state *watched;

#ifdef __GLIBC__ /* only its exit handlers get the status */

static void note_status(int status, void *context)
{
    struct cunei_recorder_state *recording = context;
    struct cunei_process *process = &recording->process;

    /* A program that calls exit in a signal handler may hold the lock. */
    if (pthread_mutex_trylock(&recording->lock) != 0)
        return;
    /* A recording that cunei.start() began has ended with cunei.stop(). */
    if (process->pid == (uint64_t)getpid() &&
        (recording->on || !process->started_inside) && recording->folder.path) {
        process->exited = true;
        process->exit_status = (uint64_t)status & 0xff;
        (void)cunei_description_append(recording);
    }
    (void)pthread_mutex_unlock(&recording->lock);
}

void cunei_process_exit_watch(struct cunei_recorder_state *recording)
{
    watched = recording;
    (void)on_exit(note_status, recording);
}

#else

void cunei_process_exit_watch(struct cunei_recorder_state *recording)
{
    watched = recording;
}

#endif

void cunei_process_exit_note_child(pid_t pid, int wait_status, int sent_signal)
{
    if (!watched)
        return;
    (void)pthread_mutex_lock(&watched->lock);
    /* A reader accepts descriptions up to a limit. */
    if (watched->on && watched->process.pid == (uint64_t)getpid() &&
        watched->process_end.length < CUNEI_PROCESS_MAX / 2) {
        const struct cunei_child_end child = {
            .wait_status = wait_status,
            .sent_signal = sent_signal,
            .folder = cunei_ancestor_unfinished(watched->folder.path, pid)};
        if (child.folder)
            (void)cunei_description_append_child(watched, &child);
        free(child.folder);
    }
    (void)pthread_mutex_unlock(&watched->lock);
}

bool cunei_process_exit_has_folder(pid_t pid)
{
    bool has = true;

    if (!watched)
        return true;
    (void)pthread_mutex_lock(&watched->lock);
    if (watched->on && watched->process.pid == (uint64_t)getpid())
        has = cunei_ancestor_has_folder(watched->folder.path, pid);
    (void)pthread_mutex_unlock(&watched->lock);
    return has;
}
