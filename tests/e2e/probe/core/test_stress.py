# SPDX-License-Identifier: MIT
"""Eight threads that say, choose and switch things at the same time."""

import json
from collections import Counter

import ctf
import pytest

PROGRAM = """\
import random, sys, threading
import cunei

rounds, chosen = int(sys.argv[1]), sys.argv[2].split()
sys.setswitchinterval(1e-6)
barrier = threading.Barrier(8)
hits = cunei.counter("hits")

def leaf(n):
    if n:
        leaf(n - 1)

def chosen_or_not():
    leaf(1)

def numbers():
    with cunei.region("in a generator"):
        for n in range(3):
            yield n

def fail(n):
    with cunei.region("failing"):
        if n:
            fail(n - 1)
        raise KeyError

def call(chance):
    leaf(3)
    chosen_or_not()

def suspend(chance):
    list(numbers())
    next(numbers())

def throw(chance):
    try:
        fail(2)
    except KeyError:
        pass

def say(chance):
    name = f"name {chance.randrange(20)}"
    with cunei.region(name):
        cunei.parameter(name, chance.random())
        cunei.mark(name, name)
        cunei.counter(name).set(1.5)
        stream = cunei.tokens(name)
        stream.tick()
        stream.end()

def float(chance):
    cunei.region_begin("floating")
    leaf(1)
    cunei.region_end("floating")

def choose(chance):
    [cunei.include, cunei.exclude][chance.randrange(2)]("__main__:chosen_or_not")

def make(chance):
    scope = {"leaf": leaf}
    exec("def made(): leaf(1)", scope)
    made = scope["made"]
    [cunei.region("made"), cunei.exclude, cunei.instrument][chance.randrange(3)](made)
    made()

def pause(chance):
    with cunei.disable():
        leaf(2)
        with cunei.enable():
            leaf(2)

def spin(i):
    chance = random.Random(i)
    actions = [call, suspend, throw, say, float] * 2 + [globals()[n] for n in chosen]
    barrier.wait()
    for _ in range(rounds):
        hits.add()
        actions[chance.randrange(len(actions))](chance)

def main():
    threads = [threading.Thread(target=spin, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hits.value == 8 * rounds, hits.value
    assert cunei.is_recording()

with cunei.record("trace"):
    main()
"""

# What they do besides.
KINDS = ["", "choose make", "choose make pause"]
TROUBLES = ["lost", "missing_packets", "orphans", "unclosed", "appeared"]


def check(cunei, rounds, chosen):
    cunei.write("app.py", PROGRAM)
    done = cunei.run(cunei.python, "app.py", rounds, chosen, timeout=3000)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.description["lost"] == "0"
    assert max(Counter(process.functions.values()).values()) == 1
    assert process.is_balanced(), process.replay()
    report = json.loads(cunei("report", "--json", "trace", timeout=600).stdout)
    assert {name: report[name] for name in TROUBLES} == dict.fromkeys(TROUBLES, 0)
    hits = {counter["name"]: counter for counter in report["counters"]}["hits"]
    assert hits["sum"] == 8 * rounds
    assert hits["count"] == 8 * rounds


@pytest.mark.core
@pytest.mark.parametrize("chosen", KINDS)
def test_threads_at_once(cunei, chosen):
    check(cunei, 60, chosen)


@pytest.mark.soak
@pytest.mark.parametrize("chosen", KINDS)
def test_threads_at_once_for_long(cunei, chosen):
    check(cunei, 2_000, chosen)


PAUSED = """\
import cunei
import threading

ready, off = threading.Event(), threading.Event()

def thread():
    ready.set()
    off.wait()

with cunei.record("trace", include="__main__"):
    other = threading.Thread(target=thread)
    other.start()
    ready.wait()
    with cunei.disable():
        off.set()
        other.join()
    cunei.mark("after")
"""


@pytest.mark.core
def test_calls_that_end_in_a_pause_are_no_trouble(cunei):
    cunei.write("app.py", PAUSED)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    text = cunei("report", "trace").stdout
    assert "unmatched" not in text
    assert "paused     the program switched recording of calls off 1 time" in text
    report = json.loads(cunei("report", "--json", "trace").stdout)
    assert report["pauses"] == 1
    assert {name: report[name] for name in TROUBLES} == dict.fromkeys(TROUBLES, 0)
