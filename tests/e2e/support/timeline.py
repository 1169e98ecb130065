# SPDX-License-Identifier: MIT
"""What timelines are compared with: the slices of `cunei replay`, the events of dump.

A program with all that a timeline can show: threads, processes, tasks, exceptions, C
calls, values, pauses of the garbage collector.
"""

import json
from collections import namedtuple

from exported import DEEP, ODD, report

# `module` is None where a format has one name for both.
Slice = namedtuple("Slice", "pid tid module name begin duration depth resumed outcome")

PROGRAM = f"""\
import asyncio
import gc
import subprocess
import sys
import threading

class Node:
    pass

def collect():
    node = Node()
    node.itself = node
    del node
    gc.collect()

async def step(n):
    await asyncio.sleep(0)
    return n

async def work(n):
    return await step(n) + await step(n)

async def run():
    tasks = [asyncio.create_task(work(i), name="t\\u00e9a " + str(i)) for i in range(3)]
    return sum(await asyncio.gather(*tasks))

def fail(n):
    if n == 0:
        raise KeyError("x")
    fail(n - 1)

def catch():
    try:
        fail(2)
    except KeyError:
        pass

def say(word, *, n=2):
    return word * n

def numbers():
    yield 1
    yield 2

def odd():
    names = dict(co_name={ODD!r}, co_qualname={ODD!r})
    if sys.version_info < (3, 11):
        del names["co_qualname"]
    collect.__code__ = collect.__code__.replace(**names)
    return collect()

collect()
asyncio.run(run())
thread = threading.Thread(target=catch, name="work\\u00e9r")
thread.start()
thread.join()
say('a, "b" \\u6728')
(lambda: list(numbers()))()
odd()
subprocess.run([sys.executable, "-c", "def child(): return 1\\nchild()"], check=True)
"""

OPTIONS = (
    *("--c-calls", "--include", "__main__", "--include", "asyncio.*"),
    *("--include", "threading", "--include", "gc"),
    *("--args", "__main__:say", "--return", "__main__:say"),
)


# Cut into two pieces, in the middle of what it does.
LONG = DEEP.replace("range(4)", "range(1)").replace("fib(18)", "fib(19)")


def rows(cunei, command, *options):
    done = cunei(command, "--json", "trace", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def replayed(cunei, *options, joined=False, shown=lambda text: text):
    """The slices of our own reader, with times since the trace's first event."""
    slices = []
    for row in rows(cunei, "replay", *options):
        module, name = shown(row["module"]), shown(row["qualname"])
        slices.append(
            Slice(
                row["pid"],
                row["thread"],
                None if joined else module,
                f"{module}:{name}" if joined else name,
                row["begin_ns"],
                row["duration_ns"],
                row["depth"],
                row["resumed"],
                row["end"],
            )
        )
    return slices


def compare(got, wanted):
    """Each of replay's durations is rounded, not the ends: one more or less is even."""
    assert len(got) == len(wanted)
    for one, other in zip(sorted(got, key=order), sorted(wanted, key=order)):
        assert one._replace(duration=0) == other._replace(duration=0)
        assert abs((one.duration or 0) - (other.duration or 0)) <= 1, (one, other)


def order(each):
    return each.pid, each.tid, each.begin or 0, each.depth, each.name, each.outcome


def happenings(cunei, event, *phases):
    """Events of dump, as (pid, tid, wall clock, payload)."""
    return [
        (row["pid"], row["tid"], row["time_ns"], row["payload"])
        for row in rows(cunei, "dump")
        if row["event"] == event and row["phase"] in phases
    ]


def origin(cunei):
    """The wall clock at the first event, from where replay counts."""
    return min(row["time_ns"] for row in rows(cunei, "dump"))


class Stacks:
    """Begins and ends, of each thread in order, put together to slices."""

    def __init__(self):
        self.open = {}
        self.slices = []

    def begin(self, track, **known):
        above = self.open.setdefault(track, [])
        # Others than calls are around them, but replay does not count them.
        depth = sum(not each.get("apart") for each in above)
        above.append({"depth": depth, "resumed": False, "outcome": "return", **known})

    def end(self, track, time, **known):
        ended = self.open[track].pop()
        assert time >= ended["begin"], ended
        ended.update(known, duration=time - ended["begin"])
        self.slices.append(ended)

    def take(self, *, apart=False):
        """The slices, once everything has ended."""
        assert not any(self.open.values()), self.open
        return [each for each in self.slices if each.get("apart", False) == apart]


def pauses(cunei):
    """(pid, tid, begin, duration, collected) of dump's, by the wall clock."""
    found, begins = [], {}
    for pid, tid, time, payload in happenings(cunei, "gc", "enter", "leave"):
        if (pid, tid) in begins:
            begin = begins.pop((pid, tid))
            found.append((pid, tid, begin, time - begin, payload["collected"]))
        else:
            begins[pid, tid] = time
    return found


def after_names(cunei):
    """Options for a window with steps of a task that was named before, and the
    tasks with steps in it."""
    steps = happenings(cunei, "task", "enter", "resume")
    begin = max(time for *_, time, step in steps if not step["name"])
    names = {(t["pid"], t["task"]): t["name"] for t in report(cunei)["tasks"]}
    inside = {(pid, step["task"]) for pid, _, time, step in steps if time >= begin}
    # The clock's ticks are not nanoseconds.
    window = ("--from", f"{begin - origin(cunei) - 1}ns")
    return window, {task: names[task] for task in inside}
