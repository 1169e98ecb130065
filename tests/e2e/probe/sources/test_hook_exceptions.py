# SPDX-License-Identifier: MIT
"""Exceptions by the trace hook, also those that a handler lets propagate."""

import json

import pytest

pytestmark = pytest.mark.core

PROGRAM = """
import contextlib

def work():
    pass

def fail():
    raise KeyError

def in_finally():
    try:
        fail()
    finally:
        work()

def own_in_finally():
    try:
        raise ValueError
    finally:
        work()

@contextlib.contextmanager
def manager():
    try:
        yield
    finally:
        work()

def in_with():
    with manager():
        fail()

def bare():
    try:
        fail()
    except KeyError:
        raise

def named():
    try:
        fail()
    except KeyError as error:
        raise error

def swallow_inside():
    try:
        fail()
    finally:
        try:
            own_in_finally()
        except ValueError:
            pass

def deep(depth):
    try:
        return deep(depth - 1) if depth else fail()
    finally:
        work()

def yields():
    try:
        yield
    finally:
        work()

def throw():
    generator = yields()
    next(generator)
    generator.throw(OSError())

def closes():
    generator = yields()
    next(generator)
    generator.close()

def returns_none():
    try:
        fail()
    except KeyError:
        return None
    finally:
        work()

kept = []

def keep():
    try:
        fail()
    except KeyError as error:
        kept.append(error)

def again():
    raise kept.pop()

def take(function, *words):
    try:
        function(*words)
    except (KeyError, ValueError, OSError):
        work()

for _ in range(3):
    for function in in_finally, own_in_finally, in_with, bare, named, throw, closes:
        take(function)
    take(swallow_inside)
    take(deep, 3)
    take(returns_none)
    keep()
    take(again)
"""


def record(cunei, program, *options):
    name = "-".join(["trace", *options])
    assert cunei("record", "-q", "-o", name, *options, program).returncode == 0
    report = json.loads(cunei("report", "--json", name).stdout)
    exceptions = [row for row in report["exceptions"] if row["file"] == str(program)]
    left = {
        row["qualname"]: (row["calls"], row["raised"])
        for row in report["functions"]
        if row["file"] == str(program)
    }
    return sorted(exceptions, key=str), left


def test_the_trace_hook_finds_handlers_and_the_frames_that_ended(cunei):
    program = cunei.write("app.py", PROGRAM)
    exceptions, left = record(cunei, program)
    assert sum(row["count"] for row in exceptions) == 33
    assert left["in_finally"] == (3, 3)
    assert left["returns_none"] == (3, 0)

    by_trace = record(cunei, program, "--instrumenter", "trace")

    assert by_trace[0] == exceptions
    assert by_trace[1] == left
