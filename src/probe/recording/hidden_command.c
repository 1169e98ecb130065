// SPDX-License-Identifier: MIT
/*
 * The command is a grandchild.  Its parent is made as in rt/run_in_child.c, by a clone
 * that sends no signal when it ends; it ends as soon as the command runs, which is then
 * a child of init, or of the nearest subreaper.  Both share the memory of this process
 * until then, as after vfork(2).
 */
#include "probe/recording/hidden_command.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/record_env.h"

#define STACK_SIZE  ((size_t)64 * 1024)
#define OUTPUT_MAX  4096
#define SIGNALS_MAX 64

struct command {
    char **words, **environment;
    char *stack; /* for both processes */
    int output;  /* for its standard error; -1: none */
    int error;   /* why it did not run */
};

/* Descriptors of the program stay out of the command. */
static void close_others(void)
{
    long max = sysconf(_SC_OPEN_MAX);

    if (syscall(SYS_close_range, 3, ~0U, 0) == 0)
        return;
    for (int fd = 3; fd < (max < 0 || max > 65536 ? 65536 : (int)max); fd++)
        close(fd);
}

/* In the command's process, with a copy of the descriptors and signal handlers. */
static int become(void *context)
{
    struct command *command = context;
    sigset_t none;

    for (int i = 1; i <= SIGNALS_MAX; i++)
        (void)signal(i, SIG_DFL);
    (void)setsid(); /* Ctrl-C is for the program */
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)dup2(null, STDOUT_FILENO);
        (void)dup2(command->output < 0 ? null : command->output, STDERR_FILENO);
    }
    close_others();
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(command->words[0], command->words, command->environment);
    command->error = errno;
    _exit(127);
}

static int make(void *context)
{
    struct command *command = context;

    if (clone(become, command->stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD,
              command) < 0)
        command->error = errno;
    _exit(0);
}

/* Signals are blocked: no handler of the program may run in a process that shares its
 * memory. */
static int run(struct command *command)
{
    sigset_t all, before;

    command->stack = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (command->stack == MAP_FAILED)
        return -errno;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child =
        clone(make, command->stack + 2 * STACK_SIZE, CLONE_VM | CLONE_VFORK, command);
    int rc = child < 0 ? -errno : 0;
    if (child > 0)
        (void)waitpid(child, NULL, __WCLONE);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(command->stack, 2 * STACK_SIZE);
    return rc < 0 ? rc : -command->error;
}

/* The environment without the variable that would record the command; owned. */
static char **copy_environment(void)
{
    static const char own[] = CUNEI_RECORD_ENV_VARIABLE "=";
    size_t count = 0, kept = 0;

    while (environ && environ[count])
        count++;
    char **copy = PyMem_RawCalloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        if (strncmp(environ[i], own, sizeof(own) - 1) != 0)
            copy[kept++] = environ[i];
    }
    return copy;
}

/* The words of a list of bytes, borrowed from it; NULL with an exception set. */
static char **copy_words(PyObject *list)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    char **words = PyMem_RawCalloc((size_t)count + 1, sizeof(*words));

    if (!words)
        return (char **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        words[i] = PyBytes_AsString(PyList_GET_ITEM(list, i));
        if (!words[i]) {
            PyMem_RawFree(words);
            return NULL;
        }
    }
    return words;
}

/* All that it prints until it ends, of which the beginning is kept. */
static size_t read_all(int fd, char *text)
{
    char rest[512];
    size_t size = 0;
    ssize_t count;

    do {
        bool is_full = size == OUTPUT_MAX;
        count = read(fd, is_full ? rest : text + size,
                     is_full ? sizeof(rest) : OUTPUT_MAX - size);
        if (count > 0 && !is_full)
            size += (size_t)count;
    } while (count > 0 || (count < 0 && errno == EINTR));
    return size;
}

/* 0 or a negative errno. */
static int run_and_read(struct command *command, bool waits, char *text, size_t *size)
{
    int ends[2] = {-1, -1};

    if (waits && pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    command->output = ends[1];
    int rc = run(command);
    if (!waits)
        return rc;
    close(ends[1]);
    *size = rc == 0 ? read_all(ends[0], text) : 0;
    close(ends[0]);
    return rc;
}

PyObject *cunei_hidden_command_run(PyObject *module, PyObject *args)
{
    PyObject *list = NULL;
    int waits = 0, rc = -ENOMEM;
    char text[OUTPUT_MAX];
    size_t size = 0;
    (void)module;

    if (!PyArg_ParseTuple(args, "O!p:run_hidden", &PyList_Type, &list, &waits))
        return NULL;
    struct command command = {.words = copy_words(list)};
    if (!command.words)
        return NULL;
    command.environment = copy_environment();
    if (command.environment) {
        Py_BEGIN_ALLOW_THREADS;
        rc = run_and_read(&command, waits, text, &size);
        Py_END_ALLOW_THREADS;
    }
    PyMem_RawFree(command.words);
    PyMem_RawFree(command.environment);
    if (rc < 0) {
        errno = -rc;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
}
