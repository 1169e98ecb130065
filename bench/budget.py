"""What a budget keeps to, and how far its estimates are off.

A few percent cannot be told from runs one after the other on a machine that others use.
So a program runs three times at the same time, all on one core: plain, plain again, and
under a budget.  What slows the core down then slows all of them, and each has its share
of it: the scheduler gives them turns of milliseconds.  What counts is the CPU time that
each took for the same work, up to its end in the kernel's books.  What the two plain
ones differ by is what this cannot tell.

The true numbers of calls come from a recording without a budget, for the programs do
the same each time.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess

import budgeted
from builds import Failed, run

BUDGET = 5  # percent
SCRIPT = pathlib.Path(budgeted.__file__)
# A function's calls are compared where there are more.
CALLS_LEAST = 10_000
# The bar of each program, over its whole run or behind its warm-up.
BAR = 1.06
BARS = {budgeted.WARMED: 1.08}


class Run:
    """A program that runs on one core."""

    def __init__(self, core, words, **variables):
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **variables},
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )

    def end(self):
        """What it said of itself, with the CPU seconds up to its end."""
        text = self.process.stdout.read()
        self.process.stdout.close()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise Failed(f"{text}\n{self.process.args} ended with {status}\n")
        told = json.loads(text.splitlines()[-1])
        told["whole"] = usage.ru_utime + usage.ru_stime
        return told


def spans(told):
    """The CPU seconds of a run that are compared with those of others."""
    return {
        "whole": told["whole"],
        "start-up": told["ready"],
        "work": told["end"] - told["warm"],
    }


def run_three(python, name, trace, turn):
    """Seconds of the plain runs, of the one under a budget, and what that one said."""
    words = [python.path, SCRIPT, name]
    shutil.rmtree(trace, ignore_errors=True)
    # As the launcher has it: what that does itself is not the program's.
    recorded = {"CUNEI_RECORD": f"v=1 dir={trace} budget={BUDGET * 10_000}"}
    kinds = [{}, {}, recorded]
    core = max(os.sched_getaffinity(0))
    # Who comes first is ahead of the others all the time: each does in its turn.
    order = [(turn + i) % len(kinds) for i in range(len(kinds))]
    runs = {kind: Run(core, words, **kinds[kind]) for kind in order}
    told = {kind: runs[kind].end() for kind in order}
    return spans(told[0]), spans(told[1]), spans(told[2]), told[2]


def functions(python, trace):
    told = json.loads(run(python.cunei, "report", "--json", trace))
    return {(item["module"], item["qualname"]): item for item in told["functions"]}


def errors(truth, found):
    """How far the calls of demoted functions are off, with how wide they say it is."""
    for name, item in found.items():
        calls = truth.get(name, 0)
        if item.get("estimated") and calls > CALLS_LEAST:
            yield abs(item["calls"] - calls) / calls, item["calls_width"] / calls


def true_calls(python, folder, name):
    if name == budgeted.WARMED:
        return {}
    trace = folder / "full"
    run(python.cunei, "record", "-q", "--force", "-o", trace, python.path, SCRIPT, name)
    found = functions(python, trace)
    shutil.rmtree(trace)
    return {name: item["calls"] for name, item in found.items()}


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive")


def measure_program(python, folder, name):
    trace = folder / "budgeted"
    truth = true_calls(python, folder, name)
    ratios = {"whole": [], "start-up": [], "work": []}
    control = {span: [] for span in ratios}
    off = []
    for turn in range(max(3, python.rounds // 5)):
        one, two, recorded, told = run_three(python, name, trace, turn)
        for span in ratios:
            ratios[span].append(2 * recorded[span] / (one[span] + two[span]))
            control[span].append(one[span] / two[span])
        if "calls" in told:
            truth[("__main__", "empty")] = told["calls"]
        off += errors(truth, functions(python, trace))
    shutil.rmtree(trace, ignore_errors=True)
    off.sort()
    return {
        "ratio": {span: quartiles(values) for span, values in ratios.items()},
        "control": {span: quartiles(values) for span, values in control.items()},
        "estimates": len(off),
        "median_error": off[len(off) // 2][0] if off else None,
        "worst_error": off[-1][0] if off else None,
        "within_width": sum(e <= w for e, w in off) / len(off) if off else None,
    }


def measure(python, folder, *rows):
    run(python.path, "-m", "pip", "install", "-q", "sqlglot", "jinja2")
    names = rows or budgeted.PROGRAMS
    return {name: measure_program(python, folder, name) for name in names}


def percent(value):
    return "–" if value is None else f"{100 * value:.1f} %"


def times(values):
    low, middle, high = values
    return f"{middle:.3f} ({low:.3f}–{high:.3f})"


def show(figures):
    """A line each, with the bar beside it."""
    print(
        f"  {'':<28} {'CPU time, of plain':<22}{'bar':<7}"
        f"{'plain, of plain':<22}{'without start-up':<22}"
        "estimates off, at most, within width"
    )
    for name, row in figures.items():
        span, rest = ("work", "–") if name == budgeted.WARMED else ("whole", "work")
        print(
            f"  {name:<28} {times(row['ratio'][span]):<22}"
            f"{BARS.get(name, BAR):<7}{times(row['control'][span]):<22}"
            f"{times(row['ratio'][rest]) if rest != '–' else rest:<22}"
            f"{percent(row['median_error'])}, {percent(row['worst_error'])},"
            f" {percent(row['within_width'])}"
        )
