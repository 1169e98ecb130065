// SPDX-License-Identifier: MIT
/*
 * Forks: the child has one thread, no business with its parent's mapping or files, and
 * starts a recording of its own if whoever feeds the recorder does so.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/recorder_private.h"

static struct cunei_recorder_state *watched; /* the handlers carry no argument */

static void before_fork(void)
{
    (void)pthread_mutex_lock(&watched->lock);
    cunei_define_lock();
    cunei_folder_lock();
}

static void after_fork_in_parent(void)
{
    cunei_folder_unlock();
    cunei_define_unlock();
    (void)pthread_mutex_unlock(&watched->lock);
}

/* Who its parent was, in case the child records. */
static void remember_parent(struct cunei_recorder_state *recording)
{
    const char *name = strrchr(recording->folder.path, '/');

    free(recording->parent_folder);
    recording->parent_folder = strdup(name ? name + 1 : recording->folder.path);
    recording->parent = recording->pid;
}

static void after_fork_in_child(void)
{
    after_fork_in_parent(); /* whoever forks holds the locks, on either side */
    cunei_thread_keep_own(watched);
    watched->taken = watched->unheard = 0;
    watched->interpreters = 0; /* the child has only the one that forked */
    if (!watched->on)
        return;
    remember_parent(watched);
    cunei_define_abandon();
    cunei_recording_let_go(watched);
    if (watched->hooks.forked)
        watched->hooks.forked();
}

void cunei_fork_watch(struct cunei_recorder_state *recording)
{
    watched = recording;
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
