# SPDX-License-Identifier: MIT
"""Garbage collections: as many, and as large, as the program's own callback sees."""

import json

import ctf
import pytest

# In front of a program: what gc shows its own callback, printed at the end.
WITNESS = """\
import atexit, gc, json, threading

seen = {}

def witness(phase, info):
    seen.setdefault(threading.get_native_id(), []).append([phase == "stop", info])

gc.callbacks.append(witness)
gc.freeze()

@atexit.register
def show():
    gc.callbacks.remove(witness)
    print(json.dumps(seen))

class Node:
    def __init__(self):
        self.own = self

def litter(count):
    for _ in range(count):
        Node()
"""


def record(cunei, source, *options):
    cunei.write("app.py", WITNESS + source)
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    trace = ctf.read(cunei.folder / "trace")
    assert trace.lost() == 0
    assert trace.is_balanced()
    return trace, done.stdout.splitlines()


def collections(process):
    """What each thread of the system went through, in order."""
    found = {}
    for packet in process.packets:
        for event in packet.events():
            if event.kind == ctf.GC:
                found.setdefault(packet.vtid, []).append(event)
    return found


def seen_by(line):
    """The same from the program's own callback; a start knows its generation only."""
    return {
        int(thread): [
            (
                ctf.LEAVE if ends else ctf.ENTER,
                info["generation"],
                ends and info["collected"],
                ends and info["uncollectable"],
            )
            for ends, info in rows
        ]
        for thread, rows in json.loads(line).items()
    }


def recorded_in(process):
    return {
        thread: [
            (
                event.phase,
                event.value.generation,
                event.value.collected,
                event.value.uncollectable,
            )
            for event in events
        ]
        for thread, events in collections(process).items()
    }


@pytest.mark.core
def test_collections_by_themselves_and_by_hand(cunei):
    trace, lines = record(
        cunei,
        """\
litter(20_000)
for generation in (0, 1, 2):
    litter(10)
    gc.collect(generation)
""",
    )

    (process,) = trace.processes
    recorded = recorded_in(process)
    wanted = seen_by(lines[-1])
    # What was collected before the program had its callback is ours alone.
    for thread, rows in wanted.items():
        assert recorded[thread][-len(rows) :] == rows
    (rows,) = wanted.values()
    assert len(rows) > 10 and sum(row[2] for row in rows) > 20_000
    assert {row[1] for row in rows} == {0, 1, 2}


@pytest.mark.core
def test_collections_in_threads(cunei):
    trace, lines = record(
        cunei,
        """\
def work():
    for _ in range(5):
        litter(100)
        gc.collect()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""",
    )

    (process,) = trace.processes
    recorded = recorded_in(process)
    wanted = seen_by(lines[-1])
    # Without a GIL those that find one at work do not wait for it.
    assert sum(map(len, wanted.values())) >= 10
    for thread, rows in wanted.items():
        assert recorded[thread][-len(rows) :] == rows


@pytest.mark.core
def test_a_pause_is_as_long_as_the_collection(cunei):
    """The destructors it runs, and the callback behind ours, are inside or after it."""
    trace, _ = record(
        cunei,
        """\
class Slow(Node):
    def __del__(self):
        for _ in range(1000):
            len("")

def run():
    slow = [Slow() for _ in range(20)]
    del slow
    gc.collect()

run()
""",
    )

    (process,) = trace.processes
    ids = {f.qualname: number for number, f in process.functions.items()}
    open_since, inside, longest = None, 0, (0, 0)
    for event in process.events():
        if event.kind == ctf.GC and event.phase == ctf.ENTER:
            assert open_since is None
            open_since, inside = event.time, 0
        elif event.kind == ctf.GC:
            longest = max(longest, (inside, event.time - open_since))
            open_since = None
        elif event.function == ids["Slow.__del__"] and event.phase == ctf.LEAVE:
            assert open_since is not None
            inside += 1
    assert open_since is None
    inside, ticks = longest
    assert inside == 20
    assert ticks > 0


@pytest.mark.core
@pytest.mark.parametrize(
    "depth, threshold", [(0, 1), (20, 1), (20, 12), (60, 50), (200, 7), (900, 700)]
)
def test_collections_where_packets_begin(cunei, depth, threshold):
    """CPython 3.11 may begin one where it is asked for the frames that are open."""
    cunei.write(
        "app.py",
        f"""\
import gc

class Node:
    def __init__(self):
        self.own = self
    def __del__(self):
        leaf(0)

def leaf(i):
    return i

def climb(n):
    if n:
        return climb(n - 1)
    for i in range(100_000):
        leaf(i)

gc.disable()
litter = [Node() for _ in range(20)]
del litter
gc.set_threshold({threshold})
gc.enable()
climb({depth})
gc.collect()
""",
    )
    done = cunei("record", "-o", "trace", "app.py")
    assert done.returncode == 0
    assert "cannot be read" not in done.stderr

    trace = ctf.read(cunei.folder / "trace")
    assert trace.lost() == 0
    assert trace.is_balanced()
    shown = json.loads(cunei("report", "trace", "--json").stdout)
    calls = {row["qualname"]: row["calls"] for row in shown["functions"]}
    assert calls["leaf"] == 100_000 + calls["Node.__del__"]
    assert calls["Node.__del__"] == 20
    assert calls["climb"] == depth + 1


def test_the_callback_is_gone_after_a_recording(cunei):
    cunei.write(
        "app.py",
        """\
import gc
import cunei

def own(phase, info):
    pass

gc.callbacks.append(own)
for _ in range(3):
    cunei.start("trace")
    assert gc.callbacks[0] is own and len(gc.callbacks) == 2
    ours = gc.callbacks[1]
    gc.collect()
    cunei.stop()
    assert gc.callbacks == [own]
    ours("start", {})
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    trace = ctf.read(cunei.folder / "trace")
    assert len(trace.processes) == 3
    for process in trace.processes:
        (events,) = collections(process).values()
        phases = [event.phase for event in events]
        assert phases == [ctf.ENTER, ctf.LEAVE] * (len(phases) // 2) != []


@pytest.mark.parametrize(
    "change",
    ["gc.callbacks = []", "gc.callbacks.clear()", "gc.callbacks[:] = [witness] * 3"],
)
def test_a_program_with_a_list_of_its_own(cunei, change):
    """One that is emptied is found so when a packet begins."""
    cunei.write(
        "app.py",
        f"""\
import gc

def witness(phase, info):
    if phase == "stop":
        stops.append(info["collected"])

def leaf():
    pass

stops = []
gc.disable()
gc.collect()
{change}
for _ in range(100_000):
    leaf()
gc.callbacks.append(witness)
gc.collect()
print("stops", len(stops))
""",
    )
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")

    (process,) = ctf.read(cunei.folder / "trace").processes
    (events,) = collections(process).values()
    by_hand = [event for event in events if event.value.generation == 2]
    assert [event.phase for event in by_hand] == [ctf.ENTER, ctf.LEAVE] * 2


@pytest.mark.core
def test_a_forked_child_keeps_it(cunei):
    cunei.write(
        "app.py",
        """\
import gc, os

gc.disable()
gc.collect()
pid = os.fork()
if pid == 0:
    gc.collect(0)
    gc.collect(1)
else:
    assert os.waitpid(pid, 0)[1] == 0
    gc.collect()
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    parent, child = ctf.read(cunei.folder / "trace").processes
    generations = [
        [event.value.generation for event in events if event.phase == ctf.LEAVE]
        for process in (parent, child)
        for events in collections(process).values()
    ]
    assert generations[0][-2:] == [2, 2]
    assert generations[1] == [0, 1]


def test_a_callback_that_raises_does_no_harm(cunei):
    cunei.write(
        "app.py",
        """\
import gc, sys

def fail(phase, info):
    raise ValueError(phase)

sys.unraisablehook = lambda info: print(info.exc_value)
gc.callbacks.insert(0, fail)
gc.callbacks.append(fail)
gc.collect()
gc.callbacks.remove(fail)
gc.callbacks.remove(fail)
""",
    )
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")
