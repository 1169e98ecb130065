"""Runs under `cunei record` and times children that do nothing; prints JSON.

    cunei record … python spawn.py ROUNDS

The environment of a child decides whether it is recorded.  Kinds of children take
turns, and the least nanoseconds of each count.
"""

import json
import os
import pathlib
import subprocess
import sys

from clock import clock_ns

BENCH = str(pathlib.Path(__file__).resolve().parent)

# What a child runs, and whether it is recorded.
KINDS = {
    "plain": (["-c", "pass"], False),
    "floor": (["-c", "import floor; floor.Floor().on()"], False),
    "recorded": (["-c", "pass"], True),
    "cProfile": (["-m", "cProfile", "-o", os.devnull, os.devnull], False),
}


def environment(recorded):
    """Of this program, with what the floor needs, with or without CUNEI_RECORD."""
    path = os.pathsep.join((BENCH, os.environ["CUNEI_BENCH_HELPERS"]))
    found = {**os.environ, "PYTHONPATH": path}
    if not recorded:
        del found["CUNEI_RECORD"]
    return found


def timed(words, recorded):
    command = [sys.executable, *words]
    variables = environment(recorded)
    begin = clock_ns()
    subprocess.run(command, env=variables, check=True)
    return clock_ns() - begin


def main():
    best = dict.fromkeys(KINDS, float("inf"))
    for _ in range(int(sys.argv[1])):
        for name, kind in KINDS.items():
            best[name] = min(best[name], timed(*kind))
    print(json.dumps(best))


if __name__ == "__main__":
    main()
