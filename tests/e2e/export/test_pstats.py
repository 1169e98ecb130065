# SPDX-License-Identifier: MIT
"""`--to pstats`: what cProfile would have written of the same calls."""

import json
import marshal
import pstats
import sys
from collections import Counter, defaultdict

import pytest
from exported import DEEP, RECORDED, export, record, report
from proof import FREE_THREADED, PROGRAMS
from test_c_calls import SWITCHES, their_key
from test_exact import THREADED, workload_names


class Side:
    """Calls, and those that are recursive, by function and by caller and function."""

    def __init__(self):
        self.functions = defaultdict(Counter)
        self.pairs = defaultdict(Counter)

    def add(self, table, key, calls, recursive):
        table[key].update(calls=calls, recursive=recursive)


def theirs(rows):
    side = Side()
    counts = Counter(tuple(label) for label, *_ in rows)
    side.shared = {label for label, count in counts.items() if count > 1}
    for label, calls, recursive, called in rows:
        side.add(side.functions, tuple(label), calls, recursive)
        for other, *counts in called:
            side.add(side.pairs, (tuple(label), tuple(other)), *counts)
    return side


def ours(path):
    side = Side()
    stats = marshal.loads(path.read_bytes())
    for label, (primitive, calls, _, _, callers) in stats.items():
        if calls:
            side.add(side.functions, label, calls, calls - primitive)
        for caller, (count, primitive, _, _) in callers.items():
            # What was open before is no caller that cProfile knows.
            if stats[caller][1]:
                side.add(side.pairs, (caller, label), count, count - primitive)
    return side


def merge(side, bare):
    """By names that both know: cProfile does not say whose a class method is."""

    def key(label):
        file, line, name = label
        if file != "~":
            return label
        place, name = their_key(name)
        return "~", "*" if name in bare else place, name

    merged = Side()
    for label, counts in side.functions.items():
        if key(label)[2] not in SWITCHES:
            merged.functions[key(label)].update(counts)
    for (caller, callee), counts in side.pairs.items():
        # Before 3.12 the end of `enable` is reported to the hook that it has set alone.
        if not {key(caller)[2], key(callee)[2]} & SWITCHES:
            merged.pairs[key(caller), key(callee)].update(counts)
    return merged


def bare_names(*sides):
    names = {label[2] for side in sides for label in side.functions if label[0] == "~"}
    return {name for place, name in map(their_key, names) if place is None}


def differences(got, wanted):
    return {
        key: (dict(got[key]), dict(wanted[key]))
        for key in got.keys() | wanted.keys()
        if +got[key] != +wanted[key]
    }


def forget_recursion_of_strangers(side, shared):
    """For cProfile each `__new__` is the same function, which then calls itself.

    Code objects that have all names in common, as methods that dataclasses make, are
    one function for cunei, and several for cProfile.
    """

    def is_stranger(key):
        return key[:2] == ("~", "*") or key in shared

    for key, counts in side.functions.items():
        if is_stranger(key):
            del counts["recursive"]
    for keys, counts in side.pairs.items():
        if any(map(is_stranger, keys)):
            del counts["recursive"]


@pytest.mark.skipif(FREE_THREADED, reason="without a GIL cProfile loses count")
@pytest.mark.parametrize("name", sorted(set(workload_names()) - THREADED))
def test_calls_and_callers_are_those_of_cprofile(cunei, name):
    if sys.version_info[:2] == (3, 11) and name == "tasks":
        pytest.skip("cProfile gets ends without beginnings, and loses calls")
    done = cunei.run(cunei.python, PROGRAMS / "callers.py", "--c-calls", name, "trace")
    assert done.returncode == 0, done.stderr
    orders = [theirs(rows) for rows in json.loads(done.stdout.splitlines()[-1])]
    folders = [process["folder"] for process in report(cunei)["processes"]]
    assert len(folders) == len(orders)

    for folder, wanted in zip(folders, orders):
        got = ours(export(cunei, "pstats", "--process", folder))
        bare = bare_names(got, wanted)
        shared = wanted.shared
        got, wanted = merge(got, bare), merge(wanted, bare)
        forget_recursion_of_strangers(got, shared)
        forget_recursion_of_strangers(wanted, shared)
        assert differences(got.functions, wanted.functions) == {}
        assert differences(got.pairs, wanted.pairs) == {}


@pytest.mark.parametrize("program", [None, DEEP], ids=["threads", "long"])
def test_times_are_the_reports(cunei, program):
    record(cunei, "--c-calls", **({"program": program} if program else {}))

    stats = pstats.Stats(str(export(cunei, "pstats"))).stats

    times = defaultdict(lambda: [0, 0, 0])
    for function in report(cunei)["functions"]:
        if function["file"]:
            name = function["qualname"].rpartition(".")[2]
            entry = times[function["file"], function["line"], name]
            entry[0] += function["calls"] + function["resumes"]
            entry[1] += function["self_ns"]
            entry[2] += function["total_ns"]
    assert times
    for label, (calls, self_ns, total_ns) in times.items():
        _, count, own, cumulative, _ = stats[label]
        assert (count, own, cumulative) == (calls, self_ns / 1e9, total_ns / 1e9), label
    if not program:
        assert ("~", 0, "<built-in method builtins.sum>") in stats


def test_callers_share_a_functions_own_time(cunei):
    record(cunei, program=DEEP)

    stats = marshal.loads(export(cunei, "pstats").read_bytes())

    for label, (_, count, own, cumulative, callers) in stats.items():
        if label[2] == "<module>":
            continue
        assert sum(caller[0] for caller in callers.values()) == count
        shared = sum(caller[2] for caller in callers.values())
        assert shared == pytest.approx(own, abs=1e-12)
        assert all(caller[3] <= cumulative + 1e-8 for caller in callers.values())


def test_any_name_is_a_str(cunei):
    record(cunei)

    labels = set(marshal.loads(export(cunei, "pstats").read_bytes()))

    path = str(cunei.folder / "app.py")
    assert (path, 4, RECORDED) in labels
    assert (path, 7, "naïve") in labels
    assert (path, 8, "<lambda>") in labels


def test_print_stats_prints_it(cunei):
    record(cunei)
    path = export(cunei, "pstats")

    done = cunei.run(
        *(cunei.python, "-m", "pstats", path),
        input="sort calls\nstats fib\ncallers fib\n",
        stdin=None,
    )

    assert done.returncode == 0, done.stderr
    assert "30/2" in done.stdout
