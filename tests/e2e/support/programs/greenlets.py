# SPDX-License-Identifier: MIT
"""Programs of greenlets and gevent for tests that count calls; see workloads.py."""

import contextlib
import queue

import greenlet


def run_greenlets():
    """Greenlets in turns, in each other, thrown into, dropped, with generators."""
    main = greenlet.getcurrent()

    def leaf(target, value=None):
        return target.switch(value)

    def turns(count):
        total = 0
        for i in range(count):
            total += leaf(main, i) or 0
        return total

    def nested(depth):
        if depth:
            child = greenlet.greenlet(nested)
            return child.switch(depth - 1)
        return leaf(main, depth)

    def recurse(depth):
        return recurse(depth - 1) if depth else leaf(main)

    def generate(count):
        for i in range(count):
            yield leaf(main, i)

    def fail():
        leaf(main)
        raise KeyError

    several = [greenlet.greenlet(turns) for _ in range(5)]
    for one in several:
        one.switch(10)
    while several:
        for one in several:
            one.switch(1)
        several = [one for one in several if not one.dead]
    for depth in range(6):
        greenlet.greenlet(nested).switch(depth)
    deep = greenlet.greenlet(recurse)
    deep.switch(50)
    with contextlib.suppress(ValueError):
        deep.throw(ValueError)
    deep = greenlet.greenlet(recurse)
    deep.switch(50)
    del deep
    lazy = greenlet.greenlet(lambda: list(generate(20)))
    lazy.switch()
    while not lazy.dead:
        lazy.switch()
    failing = greenlet.greenlet(fail)
    failing.switch()
    with contextlib.suppress(KeyError):
        failing.switch()
    unstarted = greenlet.greenlet(fail)
    with contextlib.suppress(KeyError):
        unstarted.throw(KeyError)


def run_gevent():
    """A pool, queues, events, a kill, a time-out, threads of the hub's pool."""
    import gevent
    import gevent.event
    import gevent.pool
    import gevent.queue

    line = gevent.queue.Queue(2)
    ready, never = gevent.event.Event(), gevent.event.Event()

    def produce():
        for i in range(50):
            line.put(i)
        line.put(None)
        ready.set()

    def consume():
        total = 0
        while (item := line.get()) is not None:
            total += item
        return total

    def wait():
        ready.wait()
        gevent.idle()

    def fail(n):
        gevent.idle()
        if n % 3 == 0:
            raise ValueError(n)
        return n

    def forever():
        with contextlib.suppress(gevent.GreenletExit):
            never.wait()

    greenlets = [gevent.spawn(f) for f in (produce, consume, wait, wait)]
    gevent.joinall(greenlets)
    pool = gevent.pool.Pool(3)
    with contextlib.suppress(ValueError):
        pool.map(lambda n: n if n % 3 else fail(n), range(1, 12))
    list(pool.imap_unordered(lambda n: fail(3 * n + 1), range(10)))
    endless = gevent.spawn(forever)
    gevent.idle()
    endless.kill()
    with gevent.Timeout(0.001, False):
        never.wait()
    with contextlib.suppress(queue.Empty):
        line.get(timeout=0.001)


def run_sockets():
    """A server and its clients in one thread, over sockets that gevent has patched."""
    import gevent.server
    from gevent import socket

    def handle(connection, address):
        while data := connection.recv(100):
            connection.sendall(data.upper())

    def ask(port, count):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            for i in range(count):
                connection.sendall(b"hello %d" % i)
                connection.recv(100)

    server = gevent.server.StreamServer(("127.0.0.1", 0), handle)
    server.start()
    clients = [gevent.spawn(ask, server.server_port, 5) for _ in range(5)]
    gevent.joinall(clients)
    server.stop()


WORKLOADS = {
    name[len("run_") :]: function
    for name, function in list(globals().items())
    if name.startswith("run_")
}
