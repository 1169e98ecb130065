# SPDX-License-Identifier: MIT
"""Greenlets beside what else follows them: tracers of the program, tasks, gevent."""

import ctf
import pytest
from test_greenlets import record, report, switches

pytest.importorskip("greenlet")


TRACERS = """\
import greenlet

main = greenlet.getcurrent()
seen = []

def run(count):
    for _ in range(count):
        main.switch()

def turn(count):
    one = greenlet.greenlet(run)
    for _ in range(count + 1):
        one.switch(count)

def trace(event, greenlets):
    seen.append(event)

class Chaining:
    def __init__(self):
        self.previous = greenlet.settrace(self)

    def __call__(self, *args):
        seen.append("chain")
        if self.previous:
            self.previous(*args)

def fail(event, greenlets):
    raise KeyError(event)

turn(3)
greenlet.settrace(trace)
turn(3)
print(seen)
seen.clear()
chaining = Chaining()
turn(3)
print(seen)
seen.clear()
greenlet.settrace(None)
turn(3)
print(seen)
greenlet.settrace(fail)
try:
    turn(3)
except KeyError as error:
    print("failed", error)
print(greenlet.gettrace())
turn(3)
"""


def test_tracers_of_the_program_see_what_they_would_see_without_us(cunei):
    cunei.write("app.py", TRACERS)
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert (done.returncode, done.stderr) == (0, "") == (plain.returncode, plain.stderr)
    assert done.stdout == plain.stdout
    (process,) = ctf.read(cunei.folder / "trace").processes
    # A tool that replaces our hook without calling it hides switches; no call is lost.
    assert process.description["lost"] == "0"
    calls = {f.qualname: n for f, n in process.count(ctf.ENTER).items()}
    assert (calls["turn"], calls["run"]) == (6, 5)


def test_a_tracer_set_before_ours_is_called_and_put_back(cunei):
    cunei.write(
        "app.py",
        """\
import greenlet
import cunei

main = greenlet.getcurrent()
seen = []

def run():
    main.switch()

def trace(event, greenlets):
    seen.append((event, greenlets[1] is main))

def fail(event, greenlets):
    raise KeyError(event)

greenlet.settrace(trace)
cunei.start("trace")
one = greenlet.greenlet(run)
one.switch()
one.switch()
cunei.stop()
assert seen == [("switch", False), ("switch", True)] * 2, seen
assert greenlet.gettrace() is trace

greenlet.settrace(fail)
cunei.start("trace")
one = greenlet.greenlet(run)
try:
    one.switch()
except KeyError:
    print("failed")
# greenlet has taken it away, as it does without us.
cunei.stop()
assert greenlet.gettrace() is None
""",
    )
    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stdout) == (0, "failed\n"), done.stderr
    first, _ = ctf.read(cunei.folder / "trace").processes
    assert len(switches(first)) == 4
    assert first.is_balanced()


def test_greenlets_inside_of_tasks(cunei):
    """As SQLAlchemy does it: what awaits runs in one greenlet, the rest in another."""
    record(
        cunei,
        """\
import asyncio
import greenlet

async def spawn(function, *args):
    parent = greenlet.getcurrent()
    child = greenlet.greenlet(function, parent)
    result = child.switch(*args)
    while not child.dead:
        result = child.switch(await result)
    return result

def wait(awaitable):
    return greenlet.getcurrent().parent.switch(awaitable)

async def fetch(n):
    await asyncio.sleep(0)
    return n

def query(count):
    return sum(wait(fetch(n)) for n in range(count))

async def main():
    tasks = [asyncio.create_task(spawn(query, n), name=f"query {n}") for n in (3, 5)]
    print(await asyncio.gather(*tasks))

asyncio.run(main())
""",
    )
    shown = report(cunei)

    tasks = {row["name"]: row["switches"] for row in shown["tasks"]}
    assert (tasks["query 3"], tasks["query 5"]) == (4, 6)
    assert (shown["orphans"], shown["unclosed"], shown["appeared"]) == (0, 0, 0)


PATCHED = """\
from gevent import monkey; monkey.patch_all()
import queue, socket, threading
import gevent, gevent.pool, gevent.server

def handle(connection, address):
    while data := connection.recv(100):
        connection.sendall(data.upper())

def ask(port, count):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for i in range(count):
            connection.sendall(b"hello %d" % i)
            assert connection.recv(100) == b"HELLO %d" % i
    return count

def produce(line):
    for i in range(50):
        line.put(i)
    line.put(None)

def consume(line):
    total = 0
    while (item := line.get()) is not None:
        total += item
    print("total", total)

server = gevent.server.StreamServer(("127.0.0.1", 0), handle)
server.start()
pool = gevent.pool.Pool(5)
print(sum(pool.imap_unordered(lambda i: ask(server.server_port, 10), range(20))))
server.stop()
line = queue.Queue(2)
threads = [threading.Thread(target=f, args=(line,)) for f in (produce, consume)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(gevent.get_hub().threadpool.apply(sum, ([1, 2, 3],)))
"""


@pytest.mark.parametrize("options", [(), ("--include", "__main__"), ("--c-calls",)])
def test_a_program_that_gevent_has_patched(cunei, options):
    pytest.importorskip("gevent")
    process = record(cunei, PATCHED, *options)

    calls = {f.qualname: n for f, n in process.count(ctf.ENTER).items()}
    assert (calls["handle"], calls["ask"]) == (20, 20)
    assert (calls["produce"], calls["consume"]) == (1, 1)
    assert len(switches(process)) > 200
    shown = report(cunei)
    assert (shown["orphans"], shown["unclosed"], shown["appeared"]) == (0, 0, 0)


def test_gevents_monitor_of_blocking_greenlets_works_beside_us(cunei):
    """Its tracer comes later than ours and calls it."""
    pytest.importorskip("gevent")
    cunei.write(
        "app.py",
        """\
import gevent, greenlet

gevent.config.monitor_thread = True
gevent.config.max_blocking_time = 0.05
hub = gevent.get_hub()
gevent.sleep(0)  # the monitor gives up on a hub that does not run yet
monitor = hub.start_periodic_monitoring_thread()

def turns(count):
    for _ in range(count):
        gevent.sleep(0)

gevent.joinall([gevent.spawn(turns, 100) for _ in range(3)])
print(type(greenlet.gettrace()))
monitor.kill()
gevent.joinall([gevent.spawn(turns, 100) for _ in range(3)])
""",
    )
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert "gevent" in plain.stdout
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.replay()[1].is_balanced(), process.replay()
    assert len(switches(process)) > 600
