"""Programs for filters.py: prints CPU nanoseconds, or ratios, as JSON.

    python filter_programs.py ROUNDS excluded FOLDER   cost of excluded code
    python filter_programs.py ROUNDS copies            one of PROGRAMS
    python filter_programs.py ROUNDS switches FOLDER   cost of switches

filters.py starts each in a process of its own.
"""

import ast
import copy
import fractions
import inspect
import json
import pprint
import shutil
import sys
import time

import budget_programs


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def count(size):
    yield from range(size)


def generate(size):
    for _ in count(size):
        pass


def fail(depth):
    if depth:
        return fail(depth - 1)
    raise ValueError


def catch(size):
    for _ in range(size):
        try:
            fail(3)
        except ValueError:
            continue


def average(values):
    """Tiny functions of the standard library, and some larger ones."""
    total = fractions.Fraction(0)
    for value in values:
        total += value
    return total / len(values)


def print_copies(size):
    tree = {f"key{i}": [fractions.Fraction(i, 7), {i: "x" * i}] for i in range(size)}
    copies = copy.deepcopy([tree] * 5 + [dict(tree) for _ in range(5)])
    text = pprint.pformat(copies)
    return text.count("\n"), average([value for value, _ in tree.values()])


def read_json(size):
    """The JSON reader that is written in Python."""
    decoder = json.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    rows = [{"id": i, "names": ["x" * 9, "y"], "size": i / 7} for i in range(size)]
    decoder.decode(json.dumps(rows))


def write_tree(size):
    tree = ast.parse(inspect.getsource(ast))
    for _ in range(size):
        ast.unparse(tree)


# For `cunei filter`: a realistic density of calls, a fraction of a second per round.
PROGRAMS = {
    "copies": (print_copies, 240),
    "JSON": (read_json, 8000),
    "syntax trees": (write_tree, 4),
    "parser (sqlglot)": (budget_programs.run_parser, 60),
    "templates (jinja2)": (budget_programs.run_templates, 60),
}

ROWS = {
    "calls": (fib, 21),
    "generators": (generate, 100_000),
    "exceptions": (catch, 5000),
}


def best(rounds, function, size):
    """If only one function is recorded, it is this one."""
    least = float("inf")
    for _ in range(rounds):
        begin = time.process_time_ns()
        function(size)
        least = min(least, time.process_time_ns() - begin)
    return least


def guarded(rounds, function, size):
    """The same with a handler, for which more events must be set."""
    try:
        return best(rounds, function, size)
    except KeyError:
        return None


def fail_once():
    raise KeyError


class Recorded:
    """Only these functions are recorded."""

    def __init__(self, folder, *names, fails=False):
        self.folder = folder
        self.names = [f":{name}" for name in names]
        self.fails = fails

    def measure(self, function, size):
        shutil.rmtree(self.folder, ignore_errors=True)
        with cunei.record(self.folder, include=self.names):
            if self.fails:
                guarded(1, lambda _: fail_once(), 0)
            return guarded(BATCH, function, size)


class Idle:
    """What CPython itself takes for these events: the callbacks do nothing."""

    TOOL = 3

    def __init__(self, *names):
        events = sys.monitoring.events
        self.events = [getattr(events, name) for name in names]

    def measure(self, function, size):
        import cunei_floor

        if function is not catch:
            return None
        sys.monitoring.use_tool_id(self.TOOL, "idle")
        for event in self.events:
            sys.monitoring.register_callback(self.TOOL, event, cunei_floor.idle())
        sys.monitoring.set_events(self.TOOL, sum(self.events))
        took = guarded(BATCH, function, size)
        sys.monitoring.set_events(self.TOOL, 0)
        for event in self.events:
            sys.monitoring.register_callback(self.TOOL, event, None)
        sys.monitoring.free_tool_id(self.TOOL)
        return took


class Plain:
    def measure(self, function, size):
        return guarded(BATCH, function, size)


# Few enough that some turns run undisturbed on a busy machine.
BATCH = 6
SMALL = {"calls": 15, "generators": 8000, "exceptions": 800}


def kinds_of(folder):
    kinds = {
        "plain": Plain(),
        "nothing recorded": Recorded(folder, "nothing"),
        "one function recorded": Recorded(folder, "best"),
        "one with a handler": Recorded(folder, "best", "guarded"),
        "one that has raised": Recorded(
            folder, "best", "guarded", "fail_once", fails=True
        ),
    }
    if hasattr(sys, "monitoring"):
        kinds["no-op for PY_UNWIND"] = Idle("PY_UNWIND")
        kinds["and EXCEPTION_HANDLED"] = Idle("PY_UNWIND", "EXCEPTION_HANDLED")
        kinds["and RAISE, RERAISE"] = Idle(
            "PY_UNWIND", "EXCEPTION_HANDLED", "RAISE", "RERAISE"
        )
    return kinds


def measure_excluded(rounds, folder):
    """All in one process, and taking turns every few milliseconds."""
    least = {}
    kinds = kinds_of(folder)
    for _ in range(rounds):
        for kind, way in kinds.items():
            for row, (function, _) in ROWS.items():
                took = way.measure(function, SMALL[row])
                if took is not None:
                    least[kind, row] = min(least.get((kind, row), took), took)
    shutil.rmtree(folder)
    return {
        kind: {
            row: least[kind, row] / least["plain", row]
            for row in ROWS
            if (kind, row) in least
        }
        for kind in kinds
        if kind != "plain"
    }


def switch(size):
    for _ in range(size):
        cunei.disable()
        cunei.enable()


def decide(size):
    for i in range(size):
        cunei.exclude(f"nothing{i}")


def measure_switches(rounds, folder):
    """Nanoseconds of one switch; the functions above have been called."""
    idle = best(rounds, switch, 1000) / 1000
    with cunei.record(folder):
        for function, size in ROWS.values():
            function(size // 10)
        return {
            "off and on, nothing recorded": idle,
            "off and on, recorded": best(rounds, switch, 20) / 20,
            "exclude, recorded": best(rounds, decide, 20) / 20,
        }


if __name__ == "__main__" and sys.argv[2:3] == ["switches"]:
    import cunei

    print(json.dumps(measure_switches(int(sys.argv[1]), sys.argv[3])))
elif __name__ == "__main__" and sys.argv[2:3] == ["excluded"]:
    import cunei

    print(json.dumps(measure_excluded(int(sys.argv[1]), sys.argv[3])))
elif __name__ == "__main__":
    program, size = PROGRAMS[sys.argv[2]]
    for _ in range(int(sys.argv[1])):
        program(size)
    # Of the whole process, as the estimate of a filter is.
    print(time.process_time_ns())
