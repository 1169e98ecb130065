"""How well a budget is kept, and how far its estimates are off.

On a shared machine, runs one after the other do not show a few percent.  So a program
runs three times at once on one core: plain, plain again, and under a budget.  Whatever
slows the core slows all three, because the scheduler gives them turns of milliseconds.
The figure is the CPU time that the kernel counts for the same work.  The difference of
the two plain runs is the noise.

The true numbers of calls come from a recording without a budget: the programs do the
same each time.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess

import budget_programs
from budget_programs import WARMED
from builds import Failed, run

BUDGET = 5  # percent
SCRIPT = pathlib.Path(budget_programs.__file__)
# Only functions with more calls are compared.
CALLS_LEAST = 10_000
# The limit of each program, over its whole run or after its warm-up.
LIMIT = 1.06
LIMITS = {WARMED: 1.08}


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
        """The figures that it prints, and the CPU seconds up to its end."""
        text = self.process.stdout.read()
        self.process.stdout.close()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise Failed(f"{text}\n{self.process.args} ended with {status}\n")
        printed = json.loads(text.splitlines()[-1])
        printed["whole"] = usage.ru_utime + usage.ru_stime
        return printed


def spans(printed):
    """The CPU seconds of a run that are compared with those of others."""
    return {
        "whole": printed["whole"],
        "start-up": printed["ready"],
        "work": printed["end"] - printed["warm"],
    }


def run_three(python, name, trace, turn):
    """Seconds of both plain runs and of the one under a budget; what that printed."""
    words = [python.path, SCRIPT, name]
    shutil.rmtree(trace, ignore_errors=True)
    # Set as the launcher does, whose own CPU time does not belong to the program.
    recorded = {"CUNEI_RECORD": f"v=1 dir={trace} budget={BUDGET * 10_000}"}
    kinds = [{}, {}, recorded]
    core = max(os.sched_getaffinity(0))
    # The first one stays ahead of the others, so each is first in its turn.
    order = [(turn + i) % len(kinds) for i in range(len(kinds))]
    runs = {kind: Run(core, words, **kinds[kind]) for kind in order}
    printed = {kind: runs[kind].end() for kind in order}
    return spans(printed[0]), spans(printed[1]), spans(printed[2]), printed[2]


def functions(python, trace):
    printed = json.loads(run(python.cunei, "report", "--json", trace))
    return {(item["module"], item["qualname"]): item for item in printed["functions"]}


def errors(truth, found):
    """The error of the calls of each demoted function, and its reported width."""
    for name, item in found.items():
        calls = truth.get(name, 0)
        if item.get("estimated") and calls > CALLS_LEAST:
            yield abs(item["calls"] - calls) / calls, item["calls_width"] / calls


def true_calls(python, folder, name):
    if name == WARMED:
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
        one, two, recorded, printed = run_three(python, name, trace, turn)
        for span in ratios:
            ratios[span].append(2 * recorded[span] / (one[span] + two[span]))
            control[span].append(one[span] / two[span])
        if "calls" in printed:
            truth[("__main__", "empty")] = printed["calls"]
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
    names = rows or budget_programs.PROGRAMS
    return {name: measure_program(python, folder, name) for name in names}


def percent(value):
    return "–" if value is None else f"{100 * value:.1f} %"


def times(values):
    low, middle, high = values
    return f"{middle:.3f} ({low:.3f}–{high:.3f})"


def show(figures):
    """A line for each program, with its limit."""
    print(
        f"  {'':<28} {'CPU time / plain':<22}{'limit':<7}"
        f"{'plain / plain':<22}{'without start-up':<22}"
        "median error, largest, within width"
    )
    for name, row in figures.items():
        span, rest = ("work", "–") if name == WARMED else ("whole", "work")
        print(
            f"  {name:<28} {times(row['ratio'][span]):<22}"
            f"{LIMITS.get(name, LIMIT):<7}{times(row['control'][span]):<22}"
            f"{times(row['ratio'][rest]) if rest != '–' else rest:<22}"
            f"{percent(row['median_error'])}, {percent(row['worst_error'])},"
            f" {percent(row['within_width'])}"
        )
