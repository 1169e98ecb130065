"""Every instrumenter that a Python has, beside the least cost of its hook."""

import functools
import sys

import floor
from variants import Plain, Profile, Recording
from workloads import WORKLOADS

DEFAULT = "monitoring" if hasattr(sys, "monitoring") else "frame"
INSTRUMENTERS = (DEFAULT, "profile", "trace")
ROWS = ("fib", "method calls")


def recording(name):
    """The default needs no option."""
    options = {} if name == DEFAULT else {"instrumenter": name}
    return functools.partial(Recording, **options)


KINDS = {
    "plain": Plain,
    f"{DEFAULT} floor": floor.Floor,
    "SetProfile counter": functools.partial(floor.Hook, "profile"),
    **{name: recording(name) for name in INSTRUMENTERS},
    "cProfile": Profile,
}


def measure(best_turns, rounds):
    table, missing = {}, {}
    for name in ROWS:
        function, size = WORKLOADS[name]
        table[name], missing[name] = best_turns(KINDS, function, size, rounds)
    return {"ns": table, "missing": missing, "python": sys.version_info[:2]}
