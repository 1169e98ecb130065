// SPDX-License-Identifier: MIT
/*
 * The child of a fork has one thread and must not touch its parent's mapping and files.
 * The recorder's user may start a recording of its own in the child.
 */
#include "rt/fork.h"

#include <stdlib.h>
#include <string.h>

#include "rt/define.h"
#include "rt/state.h"
#include "rt/thread.h"

/* The handlers get no argument. */
static struct cunei_recorder_state *watched;
static void (*release_files)(struct cunei_recorder_state *recording);

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

/* Keep the parent's folder and pid, in case the child records. */
static void remember_parent(struct cunei_recorder_state *recording)
{
    const char *name = strrchr(recording->folder.path, '/');

    free(recording->parent_folder);
    recording->parent_folder = strdup(name ? name + 1 : recording->folder.path);
    recording->parent = recording->pid;
}

static void after_fork_in_child(void)
{
    after_fork_in_parent(); /* the locks are held on both sides */
    cunei_thread_keep_own(watched);
    watched->lost_threads = watched->decorated_refusal = 0;
    watched->interpreters = 0; /* the child has only the one that forked */
    if (!watched->on)
        return;
    remember_parent(watched);
    cunei_define_abandon(watched);
    release_files(watched);
    if (watched->hooks.forked)
        watched->hooks.forked();
}

void cunei_fork_watch(struct cunei_recorder_state *recording,
                      void (*release)(struct cunei_recorder_state *recording))
{
    watched = recording;
    release_files = release;
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
