"""Cost of excluded code, and estimates of `cunei filter`: see filter_programs.py.

For the cost, variants take turns in one process, and the least CPU time of each counts.
For the estimates, variants run at the same time on one core, so that whatever slows the
machine slows all of them alike.
"""

import json
import os
import pathlib
import shutil
import subprocess

from builds import Failed, run
from filter_programs import PROGRAMS

SCRIPT = pathlib.Path(__file__).with_name("filter_programs.py")
TURNS = 8

NOTHING = ("--exclude", "re:.")
LIMITS = {"calls": 1.02, "generators": 1.02, "exceptions": 1.12}

MAX_OVERHEAD = "5%"


def measure_excluded(python, folder):
    words = [2 * python.rounds, "excluded", folder / "excluded"]
    output = run(python.path, SCRIPT, *words, PYTHONPATH=str(python.folder))
    return json.loads(output.splitlines()[-1])


def at_once(python, folder, name, kinds):
    """CPU nanoseconds by kind, of processes that share a core."""
    core = str(max(os.sched_getaffinity(0)))
    record = [python.cunei, "record", "-q", "--no-config", "--force", "-o"]
    began = {}
    for kind, options in kinds.items():
        command = [python.path, SCRIPT, str(TURNS), name]
        if options is not None:
            command = [*record, folder / f"estimate-{kind}", *options, *command]
        began[kind] = subprocess.Popen(
            ["taskset", "-c", core, *command], stdout=subprocess.PIPE, text=True
        )
    outputs = {kind: process.communicate()[0] for kind, process in began.items()}
    failed = [kind for kind, process in began.items() if process.returncode]
    if failed:
        raise Failed(f"{name} failed: {', '.join(failed)}")
    return {kind: int(output.split()[-1]) for kind, output in outputs.items()}


def overhead(took, kind):
    """Without the start of a recording, which the estimate does not contain."""
    return (took[kind] - took["nothing"]) / took["plain"]


def compare_estimate(python, folder, name):
    """Cost and estimate of recording everything, then with the proposed filter."""
    plain = {"plain": None, "nothing": NOTHING}
    everything = at_once(python, folder, name, {**plain, "all": ()})
    ask = [python.cunei, "filter", "--max-overhead", MAX_OVERHEAD]
    ask.append(folder / "estimate-all")
    estimate = json.loads(run(*ask, "--json"))
    file = folder / "proposed.filter"
    file.write_text(run(*ask))
    filtered = at_once(python, folder, name, {**plain, "filtered": ("--filter", file)})
    keys = ("", "_least", "_most")
    return {
        "functions": len(estimate["functions"]),
        "all": overhead(everything, "all"),
        "estimated_all": [estimate[f"overhead{key}"] for key in keys],
        "filtered": overhead(filtered, "filtered"),
        "estimated_filtered": [estimate[f"overhead_left{key}"] for key in keys],
    }


def measure_estimates(python, folder):
    """Some rounds of each program, each with a recording and a filter of its own."""
    run(python.path, "-m", "pip", "install", "-q", "sqlglot", "jinja2")
    rounds = max(2, python.rounds // 8)
    figures = {
        name: [compare_estimate(python, folder, name) for _ in range(rounds)]
        for name in PROGRAMS
    }
    for kind in ("nothing", "all", "filtered"):
        shutil.rmtree(folder / f"estimate-{kind}")
    return figures


def measure_switches(python, folder):
    command = [python.path, SCRIPT, python.rounds, "switches", folder / "switched"]
    return json.loads(run(*command).splitlines()[-1])


def measure(python, folder):
    figures = {
        "switches": measure_switches(python, folder),
        "excluded": measure_excluded(python, folder),
        "estimates": measure_estimates(python, folder),
    }
    shutil.rmtree(folder / "switched")
    return figures


def show(figures):
    """CPU time as a ratio to no recording; then the estimates of a filter."""
    print(f"\n  {'code that is left out, CPU time':<38}{'measured':>10}{'limit':>10}")
    for kind, rows in figures["excluded"].items():
        for row, ratio in rows.items():
            limit = "" if kind.startswith(("no-op", "and ")) else LIMITS[row]
            print(f"  {row + ', ' + kind:<38}{f'× {ratio:.3f}':>10}{limit:>10}")
    for row, took_ns in figures["switches"].items():
        print(f"  {row:<38}{f'{took_ns / 1000:.2f} µs':>10}")
    show_estimates(figures["estimates"])


def cells(found, estimate):
    usual, least, most = estimate
    mark = "" if least <= found <= most else " !"
    span = f"≈ {usual:.1%} ({least:.1%} to {most:.1%})"
    return f"{found:>10.1%}  {span:<28}{mark}"


def show_estimates(programs):
    """A line for each round; ! marks a value outside the bounds."""
    print(f"\n  cunei filter --max-overhead {MAX_OVERHEAD}")
    for row, title in (("all", "everything recorded"), ("filtered", "with the filter")):
        print(f"  {title:<38}{'measured':>10}  estimated")
        for name, rounds in programs.items():
            for figures in rounds:
                print(f"  {name:<38}{cells(figures[row], figures[f'estimated_{row}'])}")
    all_of_them = [figures for rounds in programs.values() for figures in rounds]
    within = sum(
        figures[f"estimated_{row}"][1] <= figures[row] <= figures[f"estimated_{row}"][2]
        for figures in all_of_them
        for row in ("all", "filtered")
    )
    print(f"  {within} of {2 * len(all_of_them)} are between the bounds")
