"""What is left out costs, and what `cunei filter` promises: see filtered.py.

For the former they take turns in one process; what counts is CPU time, and of each kind
the least.  For what `cunei filter` promises, kinds run at the same time on one core:
what slows the machine down for a while slows all of them alike.
"""

import json
import os
import pathlib
import shutil
import subprocess

from builds import Failed, run
from filtered import PROGRAMS

SCRIPT = pathlib.Path(__file__).with_name("filtered.py")
TURNS = 8

NOTHING = ("--exclude", "re:.")
BARS = {"calls": 1.02, "generators": 1.02, "exceptions": 1.12}

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
            command = [*record, folder / f"promise-{kind}", *options, *command]
        began[kind] = subprocess.Popen(
            ["taskset", "-c", core, *command], stdout=subprocess.PIPE, text=True
        )
    outputs = {kind: process.communicate()[0] for kind, process in began.items()}
    failed = [kind for kind, process in began.items() if process.returncode]
    if failed:
        raise Failed(f"{name} failed: {', '.join(failed)}")
    return {kind: int(output.split()[-1]) for kind, output in outputs.items()}


def overhead(took, kind):
    """To start a recording takes the same whatever it records, and is not promised."""
    return (took[kind] - took["nothing"]) / took["plain"]


def promise_of(python, folder, name):
    """What recording costs and what `cunei filter` says of it, then with the filter."""
    plain = {"plain": None, "nothing": NOTHING}
    everything = at_once(python, folder, name, {**plain, "all": ()})
    ask = [python.cunei, "filter", "--max-overhead", MAX_OVERHEAD]
    ask.append(folder / "promise-all")
    told = json.loads(run(*ask, "--json"))
    file = folder / "proposed.filter"
    file.write_text(run(*ask))
    filtered = at_once(python, folder, name, {**plain, "filtered": ("--filter", file)})
    keys = ("", "_least", "_most")
    return {
        "functions": len(told["functions"]),
        "all": overhead(everything, "all"),
        "told_all": [told[f"overhead{key}"] for key in keys],
        "filtered": overhead(filtered, "filtered"),
        "told_filtered": [told[f"overhead_left{key}"] for key in keys],
    }


def measure_promise(python, folder):
    """Some rounds of each program, each with a recording and a filter of its own."""
    run(python.path, "-m", "pip", "install", "-q", "sqlglot", "jinja2")
    rounds = max(2, python.rounds // 8)
    figures = {
        name: [promise_of(python, folder, name) for _ in range(rounds)]
        for name in PROGRAMS
    }
    for kind in ("nothing", "all", "filtered"):
        shutil.rmtree(folder / f"promise-{kind}")
    return figures


def measure_switches(python, folder):
    command = [python.path, SCRIPT, python.rounds, "switches", folder / "switched"]
    return json.loads(run(*command).splitlines()[-1])


def measure(python, folder):
    figures = {
        "switches": measure_switches(python, folder),
        "excluded": measure_excluded(python, folder),
        "promise": measure_promise(python, folder),
    }
    shutil.rmtree(folder / "switched")
    return figures


def show(figures):
    """CPU time, of what it is without recording; then what a filter promised."""
    print(f"\n  {'code that is left out, CPU time':<38}{'found':>10}{'bar':>10}")
    for kind, rows in figures["excluded"].items():
        for row, ratio in rows.items():
            bar = "" if kind.startswith(("no-op", "and ")) else BARS[row]
            print(f"  {row + ', ' + kind:<38}{f'× {ratio:.3f}':>10}{bar:>10}")
    for row, took_ns in figures["switches"].items():
        print(f"  {row:<38}{f'{took_ns / 1000:.2f} µs':>10}")
    show_promise(figures["promise"])


def cells(found, told):
    usual, least, most = told
    mark = "" if least <= found <= most else " !"
    span = f"≈ {usual:.1%} ({least:.1%} to {most:.1%})"
    return f"{found:>10.1%}  {span:<28}{mark}"


def show_promise(programs):
    """A line for each round; a ! where what was found is not between the bounds."""
    print(f"\n  cunei filter --max-overhead {MAX_OVERHEAD}")
    for row, title in (("all", "everything recorded"), ("filtered", "with the filter")):
        print(f"  {title:<38}{'found':>10}  told")
        for name, rounds in programs.items():
            for promise in rounds:
                print(f"  {name:<38}{cells(promise[row], promise[f'told_{row}'])}")
    all_of_them = [promise for rounds in programs.values() for promise in rounds]
    within = sum(
        promise[f"told_{row}"][1] <= promise[row] <= promise[f"told_{row}"][2]
        for promise in all_of_them
        for row in ("all", "filtered")
    )
    print(f"  {within} of {2 * len(all_of_them)} are between the bounds that were told")
