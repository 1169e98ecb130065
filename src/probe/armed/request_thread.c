// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/armed/request_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/armed/controller.h"
#include "probe/armed/own_descriptors.h"
#include "probe/armed/request_socket.h"
#include "rt/clock.h"
#include "rt/run_in_child.h"
#include "wire/control_message.h"

enum {
    CONTROLLERS_MAX = 8,
    STACK_SIZE = 2 << 20, /* Python runs on it */
    VANISHED_TRIES = 1000
};

/* How often it tries to connect to its port, at first and at last. */
#define RETRY_FIRST_NS (50 * CUNEI_NS_PER_MS)
#define RETRY_LAST_NS  (5 * CUNEI_NS_PER_S)

/* On the stack of the thread. */
struct loop {
    struct cunei_request_thread *thread;
    struct cunei_request_socket socket;
    int wake[2];
    struct cunei_controller controllers[CONTROLLERS_MAX];
    int port_fd;         /* of the controller at the port; -1: not connected */
    uint64_t retry_ns;   /* until the next try */
    uint64_t retry_at;   /* 0: no port */
    uint64_t abandon_at; /* the session ends then; 0: its controller is there */
};

static uint64_t now_ns(void)
{
    return cunei_clock_ns(CLOCK_MONOTONIC);
}

static bool has_session_controller(const struct loop *loop,
                                   const struct cunei_controller *besides)
{
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        const struct cunei_controller *controller = &loop->controllers[i];
        if (controller != besides && controller->fd >= 0 && controller->session &&
            controller->session == cunei_request_session())
            return true;
    }
    return false;
}

/* When the session ends for want of a controller. */
static void watch_session(struct loop *loop)
{
    if (!cunei_request_session() || has_session_controller(loop, NULL))
        loop->abandon_at = 0;
    else if (!loop->abandon_at)
        loop->abandon_at = now_ns() + CUNEI_REQUEST_PATIENCE_NS;
    else if (now_ns() >= loop->abandon_at)
        cunei_request_abandon(&loop->thread->context);
}

static void close_controller(struct loop *loop, struct cunei_controller *controller)
{
    if (controller->fd == loop->port_fd) {
        loop->port_fd = -1;
        loop->retry_ns = RETRY_FIRST_NS;
        loop->retry_at = now_ns() + loop->retry_ns;
        loop->thread->released();
    }
    cunei_controller_close(controller);
}

/* False: there are too many already. */
static bool add_controller(struct loop *loop, int fd)
{
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        if (loop->controllers[i].fd < 0) {
            cunei_controller_open(&loop->controllers[i], fd);
            return true;
        }
    }
    close(fd);
    return false;
}

static void accept_controllers(struct loop *loop)
{
    int fd;

    do {
        fd = cunei_request_socket_accept(&loop->socket);
        if (fd >= 0)
            (void)add_controller(loop, fd);
    } while (fd >= 0 || fd == -EPERM);
}

static void connect_to_port(struct loop *loop)
{
    if (!loop->retry_at || now_ns() < loop->retry_at)
        return;
    int fd = cunei_request_socket_connect(loop->thread->port);
    if (fd >= 0 && add_controller(loop, fd)) {
        loop->port_fd = fd;
        loop->retry_at = 0;
        return;
    }
    loop->retry_at = now_ns() + loop->retry_ns;
    loop->retry_ns =
        loop->retry_ns * 2 < RETRY_LAST_NS ? loop->retry_ns * 2 : RETRY_LAST_NS;
}

/* One request, so that every controller gets its turn.  False: close it. */
static bool serve_request(struct loop *loop, struct cunei_controller *controller)
{
    size_t size = cunei_controller_line(controller);

    if (size == SIZE_MAX)
        return true;
    enum cunei_request_result result =
        cunei_request_handle(&loop->thread->context, controller, size,
                             has_session_controller(loop, controller));
    bool is_too_long = size > CUNEI_CONTROL_LINE_MAX;
    cunei_controller_drop_line(controller, size);
    if (result == CUNEI_REQUEST_STARTED)
        loop->thread->released();
    /* Before the answer: who has it may arm the process again at once. */
    if (result == CUNEI_REQUEST_DISARM) {
        cunei_request_socket_close(&loop->socket);
        atomic_store(&loop->thread->is_finished, true);
    }
    return cunei_controller_write(controller) && !is_too_long;
}

static void serve(struct loop *loop, struct cunei_controller *controller, short events)
{
    bool is_open = true;

    if (events & (POLLIN | POLLHUP | POLLERR))
        is_open = cunei_controller_read(controller);
    if (is_open && events & POLLOUT)
        is_open = cunei_controller_write(controller);
    if (!is_open || !serve_request(loop, controller))
        close_controller(loop, controller);
}

static bool has_request(const struct loop *loop)
{
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        if (loop->controllers[i].fd >= 0 &&
            cunei_controller_line(&loop->controllers[i]) != SIZE_MAX)
            return true;
    }
    return false;
}

/* Milliseconds for poll: until something has to be done without being asked. */
static int patience(const struct loop *loop)
{
    uint64_t now = now_ns(), next = UINT64_MAX;

    if (has_request(loop))
        return 0;
    if (loop->abandon_at)
        next = loop->abandon_at;
    if (loop->retry_at && loop->retry_at < next)
        next = loop->retry_at;
    if (next == UINT64_MAX)
        return -1;
    return next <= now ? 0 : (int)((next - now) / CUNEI_NS_PER_MS) + 1;
}

/* Wait, and do what there is to do.  False: it was asked to end. */
static bool run_once(struct loop *loop)
{
    struct pollfd fds[2 + CONTROLLERS_MAX] = {
        {.fd = loop->wake[0], .events = POLLIN},
        {.fd = loop->socket.fd, .events = POLLIN},
    };

    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        const struct cunei_controller *controller = &loop->controllers[i];
        fds[2 + i].fd = controller->fd;
        fds[2 + i].events = (short)(POLLIN | (controller->out.size ? POLLOUT : 0));
    }
    (void)poll(fds, 2 + CONTROLLERS_MAX, patience(loop));
    if (atomic_load(&loop->thread->is_ending))
        return false;
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        if (loop->controllers[i].fd >= 0)
            serve(loop, &loop->controllers[i], fds[2 + i].revents);
    }
    if (fds[1].revents)
        accept_controllers(loop);
    connect_to_port(loop);
    watch_session(loop);
    return !atomic_load(&loop->thread->is_finished);
}

/*
 * Open the pipe, which is in the table of the thread: /proc is the way to it.  Another
 * thread writes to it.
 */
static int wake(void *argument)
{
    const struct cunei_request_thread *thread = argument;
    char path[80];

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", (int)thread->pid,
                   (int)thread->tid, thread->wake_fd);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    ssize_t n = atomic_load(&thread->is_ending) ? write(fd, "", 1) : 0;
    int rc = n < 0 && errno != EAGAIN ? -errno : 0;
    close(fd);
    return rc;
}

static int open_loop(struct loop *loop)
{
    int rc = cunei_own_descriptors_take();

    if (rc < 0)
        return rc;
    if (pipe2(loop->wake, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    loop->thread->wake_fd = loop->wake[1];
    /* If it could not be woken, it could not be ended before a fork. */
    rc = wake(loop->thread);
    if (rc < 0)
        return rc;
    return cunei_request_socket_open(&loop->socket);
}

/* The descriptors are this thread's own, and end with it. */
static void close_loop(struct loop *loop)
{
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        if (loop->controllers[i].fd >= 0)
            cunei_controller_close(&loop->controllers[i]);
    }
    if (loop->socket.fd >= 0)
        cunei_request_socket_close(&loop->socket);
}

static void *run(void *argument)
{
    struct cunei_request_thread *thread = argument;
    struct loop loop = {.thread = thread,
                        .port_fd = -1,
                        .retry_ns = RETRY_FIRST_NS,
                        .retry_at = thread->port ? 1 : 0};

    for (size_t i = 0; i < CONTROLLERS_MAX; i++)
        loop.controllers[i].fd = -1;
    thread->tid = (pid_t)syscall(SYS_gettid);
    int rc = open_loop(&loop);
    thread->rc = rc;
    (void)sem_post(&thread->begun);
    if (rc < 0)
        return NULL;
    connect_to_port(&loop);
    watch_session(&loop);
    while (run_once(&loop))
        ;
    close_loop(&loop);
    return NULL;
}

/* With all signals blocked: the program's handlers do not run in it. */
static int create(struct cunei_request_thread *thread)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    int rc = pthread_attr_init(&attributes);
    if (rc != 0)
        return -rc;
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread->thread, &attributes, run, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return -rc;
}

/*
 * Until the kernel does not count it any more: CPython 3.12 and later warn about a fork
 * in a process with several threads.
 */
static void await_vanished(const struct cunei_request_thread *thread)
{
    const struct timespec pause = {.tv_nsec = 20000};
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d", (int)thread->tid);
    for (int i = 0; i < VANISHED_TRIES && access(path, F_OK) == 0; i++)
        (void)nanosleep(&pause, NULL);
}

int cunei_request_thread_begin(struct cunei_request_thread *thread)
{
    atomic_store(&thread->is_ending, false);
    atomic_store(&thread->is_finished, false);
    thread->pid = getpid();
    if (sem_init(&thread->begun, 0, 0) < 0)
        return -errno;
    int rc = create(thread);
    if (rc < 0) {
        (void)sem_destroy(&thread->begun);
        return rc;
    }
    while (sem_wait(&thread->begun) < 0)
        ;
    if (thread->rc < 0)
        cunei_request_thread_end(thread);
    return thread->rc;
}

void cunei_request_thread_end(struct cunei_request_thread *thread)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    atomic_store(&thread->is_ending, true);
    while (thread->rc == 0 && !atomic_load(&thread->is_finished) &&
           cunei_run_in_child(wake, thread) < 0)
        (void)nanosleep(&pause, NULL); /* no descriptor is free in the whole system */
    (void)pthread_join(thread->thread, NULL);
    (void)sem_destroy(&thread->begun);
    await_vanished(thread);
}
