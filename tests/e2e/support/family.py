# SPDX-License-Identifier: MIT
"""What the tests of forked children share."""

import ctf


def record(cunei, source, *options, status=0):
    """Record a program whose warnings are errors; it does what it does without us."""
    cunei.write("app.py", source)
    strict = {"PYTHONWARNINGS": "error"}
    plain = cunei.run(cunei.python, "app.py", env=strict)
    done = cunei("record", "-q", "-o", "trace", *options, "app.py", env=strict)

    assert done.returncode == plain.returncode == status, done.stderr
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    return ctf.read(cunei.folder / "trace")


def family(trace):
    """The program's own process, and its children in order."""
    (first,) = (p for p in trace.processes if p.description["forked"] == "0")
    children = [p for p in trace.processes if p is not first]
    return first, children


def calls(process, qualname):
    counts = process.count(ctf.ENTER)
    return sum(n for function, n in counts.items() if function.qualname == qualname)


def first_stack(process):
    """What was open when the process began."""
    event = next(process.packets[0].events())
    assert event.kind == ctf.STACK
    return [process.functions[number].qualname for number in event.value]


def described(trace, key):
    """What the processes say of themselves, by their number."""
    return {p.pid: p.description.get(key, "") for p in trace.processes}
