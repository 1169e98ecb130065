// SPDX-License-Identifier: MIT
#include "rt/run_in_child.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)256 * 1024)
#define PLACES     3

struct job {
    int (*work)(void *context);
    void *context;
    int rc;
};

static int run_job(void *argument)
{
    struct job *job = argument;

    /* All descriptors are in use, so these are; the child needs none of them. */
    for (int fd = 0; fd < PLACES; fd++)
        close(fd);
    job->rc = job->work(job->context);
    return 0;
}

/* Signals are blocked: no handler of the program may run in the child. */
static void run_child(struct job *job, char *stack)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = clone(run_job, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, job);
    if (child > 0)
        (void)waitpid(child, NULL, __WCLONE);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int run_in_new_child(int (*work)(void *context), void *context)
{
    struct job job = {work, context, -EMFILE};

    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return -EMFILE;
    run_child(&job, stack);
    munmap(stack, STACK_SIZE);
    return job.rc;
}

int cunei_run_in_child(int (*work)(void *context), void *context)
{
    int before = errno;

    int rc = work(context);
    if (rc == -EMFILE && CUNEI_RUN_IN_CHILD_WORKS)
        rc = run_in_new_child(work, context);
    errno = before;
    return rc;
}
