// SPDX-License-Identifier: MIT
/*
 * The exit status is known when exit(3) is called.  By then the recording has ended,
 * unless the program did not finalize the interpreter.  The status is appended to the
 * description.
 */
#include "rt/process_exit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "rt/description.h"
#include "rt/state.h"

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
    (void)on_exit(note_status, recording);
}

#else

void cunei_process_exit_watch(struct cunei_recorder_state *recording)
{
    (void)recording;
}

#endif
