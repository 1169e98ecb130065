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

static int do_apart(void *argument)
{
    struct job *job = argument;

    /* All places are taken, so these are; whose they are makes no difference here. */
    for (int fd = 0; fd < PLACES; fd++)
        close(fd);
    job->rc = job->work(job->context);
    return 0;
}

/* No handler of the program's may run in the child, which is told of signals, too. */
static void run_child(struct job *job, char *stack)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = clone(do_apart, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, job);
    if (child > 0)
        (void)waitpid(child, NULL, __WCLONE);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int run_apart(int (*work)(void *context), void *context)
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
    if (rc == -EMFILE && CUNEI_APART_WORKS)
        rc = run_apart(work, context);
    errno = before;
    return rc;
}
