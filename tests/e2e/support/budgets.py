# SPDX-License-Identifier: MIT
"""Programs under a budget, and what the report must say of them."""

import json

import pytest
from proof import FREE_THREADED, needs_monitoring

needs_budget = [
    needs_monitoring,
    pytest.mark.skipif(
        FREE_THREADED, reason="without a GIL each switch of events stops the world"
    ),
]

# The program continues until there have been so many bursts, and shows how often it has
# called what; it gives up where there never are.
HOT = """\
import sys

def tiny():
    pass

def outer(n):
    for _ in range(n):
        tiny()

def hot(bursts, n=2_000, most=100_000):
    probe = sys.modules["cunei._probe"]
    rounds, until = 0, probe.bursts() + bursts
    while probe.bursts() < until and rounds < most:
        outer(n)
        rounds += 1
    return rounds
"""
BURSTS = 24

# An estimate is within its width 19 times of 20; a test must be so more often.  Where
# widths are large, it must not be wrong altogether.
SURE, NOISE = 1.5, 0.5


def record(cunei, source, *options):
    cunei.write("app.py", HOT + source)
    done = cunei("record", *options, "-o", "trace", "app.py")
    assert done.returncode == 0, done.stderr
    return done


def report(cunei):
    done = cunei("report", "--json", "trace")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    facts["functions"] = {item["qualname"]: item for item in facts["functions"]}
    return facts


def events(cunei, name):
    done = cunei("dump", "--json", "trace")
    lines = (json.loads(line) for line in done.stdout.splitlines())
    return [line for line in lines if line["event"] == name]


def assert_estimates(functions, rounds, n=2_000):
    """Of so many rounds.

    Where a burst is interrupted for long, on a busy machine, it costs so much that
    `outer` is sampled as well until that is saved again.
    """
    tiny, outer = functions["tiny"], functions["outer"]
    if "estimated" in outer:
        assert abs(outer["calls"] - rounds) <= SURE * outer["calls_width"]
    else:
        assert outer["calls"] == rounds
    assert tiny["estimated"] is True
    assert tiny["recorded_calls"] < rounds * n
    assert abs(tiny["calls"] - rounds * n) <= SURE * tiny["calls_width"]
    assert tiny["calls"] == pytest.approx(rounds * n, rel=NOISE)


def note_of(text):
    """The budget's note, in one line."""
    return " ".join(text[text.index("\nbudget ") :].split())
