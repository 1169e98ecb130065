// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/armed/request_thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "probe/armed/controller.h"
#include "probe/armed/own_descriptors.h"
#include "probe/armed/request_socket.h"
#include "rt/clock.h"
#include "wire/control_message.h"

enum {
    CONTROLLERS_MAX = 8,
    /*
     * Sent to the thread to wake it: blocked there, so that it stays pending and no
     * handler runs.  It needs no descriptor, and no /proc, which a program that has
     * called chroot(2) does not see.
     */
    WAKE_SIGNAL = SIGPWR
};

/* How often it tries to connect to its port, at first and at last. */
#define RETRY_FIRST_NS (50 * CUNEI_NS_PER_MS)
#define RETRY_LAST_NS  (5 * CUNEI_NS_PER_S)

/* How soon it notices that the program has ended the recording of a controller. */
#define SESSION_CHECK_NS (500 * CUNEI_NS_PER_MS)

/* A program may leave our signal pending, for sigwait(3): it would wake us for ever. */
#define MUTED_NS (50 * CUNEI_NS_PER_MS)

/* On the stack of the thread. */
struct loop {
    struct cunei_request_thread *thread;
    struct cunei_request_socket socket;
    int wake; /* signalfd(2); never read: a signal may be the program's */
    struct cunei_controller controllers[CONTROLLERS_MAX];
    int port_fd;         /* of the controller at the port; -1: not connected */
    uint64_t retry_ns;   /* until the next try */
    uint64_t retry_at;   /* 0: no port */
    uint64_t abandon_at; /* the session ends then; 0: its controller is there */
    bool is_wake_muted;  /* a signal that is not ours is pending */
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

/* Another controller, or the program, has ended what they have started: they see that
 * when they connect again. */
static void close_outdated(struct loop *loop)
{
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        struct cunei_controller *controller = &loop->controllers[i];
        if (controller->fd >= 0 && controller->session &&
            controller->session != cunei_request_session())
            close_controller(loop, controller);
    }
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

/* What does not fit into the buffer of a new connection does not matter. */
static void refuse_controller(int fd)
{
    static const char text[] = "{\"cunei\":1,\"version\":\"" CUNEI_VERSION
                               "\",\"error\":\"8 controllers are connected already; "
                               "end one of them\"}\n";

    static_assert(CONTROLLERS_MAX == 8, "the text says how many");
    (void)!send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL);
    close(fd);
}

/* Nobody waits for their answers. */
static void close_left(struct loop *loop)
{
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        struct cunei_controller *controller = &loop->controllers[i];
        if (controller->fd >= 0 && cunei_controller_has_left(controller))
            close_controller(loop, controller);
    }
}

/* False: there are too many already. */
static bool add_controller(struct loop *loop, int fd)
{
    close_left(loop);
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        if (loop->controllers[i].fd < 0) {
            cunei_controller_open(&loop->controllers[i], fd);
            return true;
        }
    }
    refuse_controller(fd);
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
    else if (has_session_controller(loop, NULL))
        next = now + SESSION_CHECK_NS;
    if (loop->retry_at && loop->retry_at < next)
        next = loop->retry_at;
    if (loop->is_wake_muted && now + MUTED_NS < next)
        next = now + MUTED_NS;
    if (next == UINT64_MAX)
        return -1;
    return next <= now ? 0 : (int)((next - now) / CUNEI_NS_PER_MS) + 1;
}

/* Wait, and do what there is to do.  False: it was asked to end. */
static bool run_once(struct loop *loop)
{
    struct pollfd fds[2 + CONTROLLERS_MAX] = {
        {.fd = loop->is_wake_muted ? -1 : loop->wake, .events = POLLIN},
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
    loop->is_wake_muted = fds[0].revents != 0;
    for (size_t i = 0; i < CONTROLLERS_MAX; i++) {
        if (loop->controllers[i].fd >= 0)
            serve(loop, &loop->controllers[i], fds[2 + i].revents);
    }
    if (fds[1].revents)
        accept_controllers(loop);
    connect_to_port(loop);
    close_outdated(loop);
    watch_session(loop);
    return !atomic_load(&loop->thread->is_finished);
}

static int open_wake(struct loop *loop)
{
    sigset_t wake;

    (void)sigemptyset(&wake);
    (void)sigaddset(&wake, WAKE_SIGNAL);
    loop->wake = signalfd(-1, &wake, SFD_CLOEXEC | SFD_NONBLOCK);
    return loop->wake < 0 ? -errno : 0;
}

static int open_loop(struct loop *loop)
{
    int rc = cunei_own_descriptors_take();

    if (rc == 0)
        rc = open_wake(loop);
    return rc == 0 ? cunei_request_socket_open(&loop->socket) : rc;
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

static void run(void *argument)
{
    struct cunei_request_thread *thread = argument;
    struct loop loop = {.thread = thread,
                        .port_fd = -1,
                        .retry_ns = RETRY_FIRST_NS,
                        .retry_at = thread->port ? 1 : 0};

    for (size_t i = 0; i < CONTROLLERS_MAX; i++)
        loop.controllers[i].fd = -1;
    int rc = open_loop(&loop);
    thread->rc = rc;
    (void)sem_post(&thread->begun);
    if (rc < 0)
        return;
    connect_to_port(&loop);
    watch_session(&loop);
    while (run_once(&loop))
        ;
    close_loop(&loop);
    /* A process that is disarmed has no thread of ours: both end by themselves. */
    cunei_request_worker_dismiss(&thread->worker);
}

/* The worker begins here, as it shares the descriptors of the thread that begins it. */
static int begin_threads(struct cunei_request_thread *thread)
{
    int rc = cunei_request_worker_begin(&thread->worker);

    if (rc < 0)
        return rc;
    thread->context.worker = &thread->worker;
    rc = cunei_hidden_thread_begin(&thread->thread, run, thread);
    if (rc < 0)
        cunei_request_worker_end(&thread->worker);
    return rc;
}

static void end_threads(struct cunei_request_thread *thread)
{
    cunei_hidden_thread_end(&thread->thread);
    cunei_request_worker_end(&thread->worker);
}

int cunei_request_thread_begin(struct cunei_request_thread *thread)
{
    atomic_store(&thread->is_ending, false);
    atomic_store(&thread->is_finished, false);
    if (sem_init(&thread->begun, 0, 0) < 0)
        return -errno;
    int rc = begin_threads(thread);
    while (rc == 0 && sem_wait(&thread->begun) < 0)
        ;
    (void)sem_destroy(&thread->begun);
    if (rc == 0 && thread->rc < 0) {
        end_threads(thread);
        rc = thread->rc;
    }
    return rc;
}

void cunei_request_thread_end(struct cunei_request_thread *thread)
{
    /* A child of fork(2) without CPython's hooks has no such threads. */
    if (thread->thread.pid != getpid())
        return;
    atomic_store(&thread->is_ending, true);
    (void)pthread_kill(thread->thread.thread, WAKE_SIGNAL);
    end_threads(thread);
}
