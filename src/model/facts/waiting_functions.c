// SPDX-License-Identifier: MIT
#include "model/facts/waiting_functions.h"

#include <stdlib.h>
#include <string.h>

#include "wire/metadata.h"

struct name {
    const char *module;
    const char *qualname;
};

/* Sorted by module, then by name.  A function that also does work of its own, such as
 * Executor.map or Popen.communicate, is not in it: what it waits in is. */
static const struct name names[] = {
    {"_multiprocessing", "SemLock.acquire"},
    {"_queue", "SimpleQueue.get"},
    {"_socket", "socket.accept"},
    {"_socket", "socket.connect"},
    {"_socket", "socket.recv"},
    {"_socket", "socket.recv_into"},
    {"_socket", "socket.recvfrom"},
    {"_socket", "socket.recvfrom_into"},
    {"_socket", "socket.recvmsg"},
    {"_thread", "RLock.acquire"},
    {"_thread", "_ThreadHandle.join"},
    {"_thread", "lock.acquire"},
    {"_thread", "lock.acquire_lock"},
    {"concurrent.futures._base", "Future.exception"},
    {"concurrent.futures._base", "Future.result"},
    {"concurrent.futures._base", "_AcquireFutures.__enter__"},
    {"concurrent.futures._base", "as_completed"},
    {"concurrent.futures._base", "wait"},
    {"concurrent.futures.thread", "_worker"},
    {"gunicorn.arbiter", "Arbiter.sleep"},
    {"gunicorn.arbiter", "Arbiter.spawn_workers"}, /* it sleeps between two workers */
    {"gunicorn.arbiter", "Arbiter.stop"},
    {"gunicorn.arbiter", "Arbiter.wait_for_signals"},
    {"gunicorn.http.unreader", "SocketUnreader.chunk"},
    {"gunicorn.util", "close_graceful"}, /* until the client has closed as well */
    {"gunicorn.workers.base", "Worker.handle_quit"},
    {"gunicorn.workers.sync", "SyncWorker.wait"},
    {"multiprocessing.connection", "Connection._poll"},
    {"multiprocessing.connection", "Connection._recv"},
    {"multiprocessing.connection", "Listener.accept"},
    {"multiprocessing.connection", "SocketListener.accept"},
    {"multiprocessing.connection", "_ConnectionBase.poll"},
    {"multiprocessing.connection", "wait"},
    {"multiprocessing.pool", "Pool._handle_tasks"},
    {"multiprocessing.popen_fork", "Popen.poll"},
    {"multiprocessing.popen_fork", "Popen.wait"},
    {"multiprocessing.queues", "Queue.get"},
    {"multiprocessing.queues", "SimpleQueue.get"},
    {"multiprocessing.resource_tracker", "main"}, /* for lines in a pipe */
    {"multiprocessing.synchronize", "Barrier.wait"},
    {"multiprocessing.synchronize", "Condition.wait"},
    {"multiprocessing.synchronize", "Condition.wait_for"},
    {"multiprocessing.synchronize", "Event.wait"},
    {"multiprocessing.synchronize", "SemLock.__enter__"},
    {"posix", "wait"},
    {"posix", "wait3"},
    {"posix", "wait4"},
    {"posix", "waitid"},
    {"posix", "waitpid"},
    {"queue", "Queue.get"},
    {"queue", "Queue.join"},
    {"queue", "_PySimpleQueue.get"},
    {"sched", "scheduler.run"},
    {"select", "epoll.poll"},
    {"select", "poll"},
    {"select", "poll.poll"},
    {"select", "select"},
    {"selectors", "DevpollSelector.select"},
    {"selectors", "EpollSelector.select"},
    {"selectors", "KqueueSelector.select"},
    {"selectors", "PollSelector.select"},
    {"selectors", "SelectSelector._select"},
    {"selectors", "SelectSelector.select"},
    {"selectors", "_PollLikeSelector.select"},
    {"signal", "pause"},
    {"signal", "sigtimedwait"},
    {"signal", "sigwait"},
    {"signal", "sigwaitinfo"},
    {"socket", "SocketIO.readinto"},
    {"socket", "create_connection"},
    {"socket", "socket.accept"},
    {"ssl", "SSLSocket.do_handshake"},
    {"ssl", "SSLSocket.read"},
    {"subprocess", "Popen._communicate"},
    {"subprocess", "Popen._try_wait"},
    {"subprocess", "Popen._wait"},
    {"subprocess", "Popen.wait"},
    {"threading", "Barrier._wait"},
    {"threading", "Barrier.wait"},
    {"threading", "Condition.wait"},
    {"threading", "Condition.wait_for"},
    {"threading", "Event.wait"},
    {"threading", "Semaphore.acquire"},
    {"threading", "Thread._wait_for_tstate_lock"},
    {"threading", "Thread.join"},
    {"threading", "_DummyThread.join"},
    {"threading", "_RLock.acquire"},
    {"threading", "_shutdown"},
    {"time", "sleep"},
    {"urllib3.util.connection", "create_connection"},
    {"urllib3.util.wait", "poll_wait_for_socket"},
    {"urllib3.util.wait", "select_wait_for_socket"},
    {"zmq.sugar", "device"},
    {"zmq.sugar.poll", "Poller.poll"},
};

static int compare(const void *key, const void *item)
{
    const struct cunei_function *function = key;
    const struct name *name = item;
    int order = strcmp(function->module, name->module);

    return order != 0 ? order : strcmp(function->qualname, name->qualname);
}

bool cunei_is_waiting_function(const struct cunei_function *function)
{
    return function->module && function->qualname &&
           bsearch(function, names, sizeof(names) / sizeof(names[0]), sizeof(names[0]),
                   compare);
}
