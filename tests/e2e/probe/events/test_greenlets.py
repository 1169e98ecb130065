# SPDX-License-Identifier: MIT
"""Greenlets: switches are reported, and stacks hold."""

import json
from collections import Counter

import ctf
import pytest
from pairs import pairs
from test_exact import PROGRAMS, differences, entries, key_of

pytest.importorskip("greenlet")


def record(cunei, source, *options):
    """Record a program that behaves as it does without us, and read its trace."""
    cunei.write("app.py", source)
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")

    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    assert (plain.returncode, done.stdout) == (0, plain.stdout), plain.stderr
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.description["lost"] == "0"
    assert process.is_balanced(), process.replay()
    return process


def report(cunei):
    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def switches(process):
    return [event.value for event in process.events() if event.kind == ctf.SWITCH]


def stacks(process):
    """The functions that are open after each switch."""
    return [
        [process.functions[number].qualname for number in switch.functions]
        for switch in switches(process)
    ]


@pytest.mark.parametrize("c_calls", [False, True], ids=["", "C calls"])
@pytest.mark.parametrize(
    "name",
    [pytest.param("greenlets", marks=pytest.mark.core), "gevent", "sockets"],
)
def test_every_function_is_entered_as_often_as_it_is(cunei, name, c_calls):
    if name != "greenlets":
        pytest.importorskip("gevent")
    words = ["--c-calls"] * c_calls + [f"greenlets:{name}", "trace"]
    done = cunei.run(cunei.python, PROGRAMS / "counted.py", *words)
    assert done.returncode == 0, done.stderr
    processes = ctf.read(cunei.folder / "trace").processes
    counted = json.loads(done.stdout.splitlines()[-1])

    assert len(processes) == len(counted) == 2
    for rows, process in pairs(counted, processes):
        wanted = Counter()
        for *key, count in rows:
            wanted[key_of(*key)] += count
        got = Counter({key: n for key, n in entries(process).items() if key[0]})
        assert sum(wanted.values()) > 100
        assert differences(got, wanted) == {}
        assert process.description["lost"] == "0"
        assert process.is_balanced(), process.replay()
        assert len(switches(process)) > 20


TURNS = """\
import greenlet

main = greenlet.getcurrent()

def leaf(value):
    return main.switch(value)

def run(fails):
    leaf(1)
    leaf(2)
    if fails:
        raise ValueError
    return 3

def outer():
    one = greenlet.greenlet(run)
    print(one.switch(False), one.switch(), one.switch(), one.dead)
    other = greenlet.greenlet(run)
    other.switch(True)
    other.switch()
    try:
        other.switch()
    except ValueError:
        print("failed")
    dropped = greenlet.greenlet(run)
    dropped.switch(False)
    del dropped

outer()
"""

INSIDE, OUTSIDE = ["run", "leaf"], ["<module>", "outer"]


@pytest.mark.core
@pytest.mark.parametrize("options", [(), ("--include", "__main__")])
def test_each_switch_shows_the_whole_stack(cunei, options):
    process = record(cunei, TURNS, *options)

    turns = [[], OUTSIDE, INSIDE, OUTSIDE, INSIDE, OUTSIDE]
    assert stacks(process) == 2 * turns + [[], OUTSIDE, INSIDE, OUTSIDE]
    numbers = [switch.greenlet for switch in switches(process)]
    one, main, other, dropped = numbers[0], numbers[1], numbers[6], numbers[12]
    assert len({one, main, other, dropped}) == 4
    assert numbers == 3 * [one, main] + 3 * [other, main] + 2 * [dropped, main]
    shown = report(cunei)
    assert (shown["orphans"], shown["unclosed"], shown["appeared"]) == (0, 0, 0)
    assert shown["switches"] == 16
    calls = {row["qualname"]: row["calls"] for row in shown["functions"]}
    assert (calls["outer"], calls["run"], calls["leaf"]) == (1, 3, 5)


def test_a_million_events_with_switches_at_the_edges_of_packets(cunei):
    process = record(
        cunei,
        """\
import greenlet

main = greenlet.getcurrent()

def down(depth, count):
    if depth:
        return down(depth - 1, count)
    for _ in range(count):
        main.switch()

several = [greenlet.greenlet(down) for _ in range(10)]
for depth, one in enumerate(several):
    one.switch(depth, 3000)
while several:
    for one in several:
        one.switch()
    several = [one for one in several if not one.dead]
""",
    )

    packets = [packet for packet in process.packets if packet.thread == 1]
    firsts = [list(packet.events())[:2] for packet in packets]
    assert len(packets) > 5
    # Some packets begin with a switch: what is open then is what it leaves.
    begun = [(a, b) for a, b in firsts if b.kind == ctf.SWITCH]
    assert begun
    assert all(stack.value != switch.value.functions for stack, switch in begun)
    shown = report(cunei)
    assert (shown["orphans"], shown["unclosed"], shown["appeared"]) == (0, 0, 0)


def test_suspended_greenlets_do_not_run(cunei):
    cunei.write(
        "app.py",
        """\
import json, time, greenlet

main = greenlet.getcurrent()
now = time.perf_counter_ns
times = []

def work(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass

def inside():
    times.append(now())
    work(0.01)
    times.append(now())
    main.switch()
    times.append(now())
    work(0.01)
    times.append(now())

def outside():
    one = greenlet.greenlet(inside)
    one.switch()
    work(0.05)
    one.switch()

outside()
print(json.dumps(times))
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    first, left, back, last = json.loads(done.stdout)
    rows = {row["qualname"]: row for row in report(cunei)["functions"]}

    def is_about(got, wanted):
        return abs(got - wanted) <= 0.1 * wanted + 2_000_000

    running, suspended = left - first + last - back, back - left
    assert is_about(rows["inside"]["total_ns"], running)
    assert is_about(rows["inside"]["suspended_ns"], suspended)
    assert is_about(rows["outside"]["total_ns"], suspended)
    assert is_about(rows["outside"]["suspended_ns"], running)


@pytest.mark.core
def test_greenlets_that_were_there_before_the_recording(cunei):
    cunei.write(
        "app.py",
        """\
import greenlet
import cunei

main = greenlet.getcurrent()

def leaf():
    main.switch()

def run(starts):
    leaf()
    if starts:
        cunei.start("trace")
    leaf()
    leaf()

def trace(event, greenlets):
    pass

for starts in (False, True):
    greenlet.settrace(trace if starts else None)
    one, other = greenlet.greenlet(run), greenlet.greenlet(run)
    one.switch(False)
    other.switch(starts)
    if not starts:
        cunei.start("trace")
    one.switch()
    other.switch()
    other.switch()
    one.switch()
    assert greenlet.gettrace() not in (None, trace)
    cunei.stop()
    assert greenlet.gettrace() is (trace if starts else None)
    one.switch()
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert done.returncode == 0, done.stderr

    first, second = ctf.read(cunei.folder / "trace").processes
    assert stacks(first) == [["run", "leaf"], ["<module>"]] * 4
    assert stacks(second) == [["<module>"], ["run", "leaf"]] * 2 + [["<module>"]]


def test_each_thread_has_its_greenlets(cunei):
    """Also threads that began before greenlet was imported, and ones that continue."""
    process = record(
        cunei,
        """\
import threading

def turn(name, count):
    main = greenlet.getcurrent()
    def run():
        for _ in range(count):
            main.switch()
    one = greenlet.greenlet(run)
    while not one.dead:
        one.switch()

def early(started, go):
    started.set()
    go.wait()
    turn("early", 50)

started, go = threading.Event(), threading.Event()
first = threading.Thread(target=early, args=(started, go), name="early")
first.start()
started.wait()
import greenlet
go.set()
others = [threading.Thread(target=turn, args=(n, 50), name=str(n)) for n in range(3)]
for thread in others:
    thread.start()
for thread in (first, *others):
    thread.join()
turn("main", 50)
""",
    )

    found = {}
    for packets in process.threads().values():
        events = [event for packet in packets for event in packet.events()]
        found[packets[0].thread_name] = sum(e.kind == ctf.SWITCH for e in events)
    assert found == dict.fromkeys(["early", "0", "1", "2", "MainThread"], 102)


def test_no_greenlet_is_kept_alive_and_each_has_its_number(cunei):
    process = record(
        cunei,
        """\
import weakref
import greenlet

main = greenlet.getcurrent()
gone = 0

def run():
    main.switch()

def count(ref):
    global gone
    gone += 1

for i in range(1000):
    one = greenlet.greenlet(run)
    ref = weakref.ref(one, count)
    one.switch()
    one.switch()
    assert one.dead
    del one
    assert gone == i + 1
""",
    )

    assert len({switch.greenlet for switch in switches(process)}) == 1001
