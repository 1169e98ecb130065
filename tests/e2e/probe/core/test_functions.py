# SPDX-License-Identifier: MIT
"""Functions get one definition each, however many code objects they are made of."""

import json
import shutil

import ctf
import pytest
from pairs import pairs


def run(cunei, source):
    cunei.write("app.py", source)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, ctf.read(cunei.folder / "trace")


def test_code_made_and_thrown_away_grows_nothing(cunei):
    kilobytes, trace = run(
        cunei,
        """\
import cunei

def churn(rounds):
    for i in range(rounds):
        names = {"__name__": "made"}
        exec("def f(x):\\n    return (lambda y: y + x)(1)\\n", names)
        names["f"](i)
        eval("(lambda: 1)()")

def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4

cunei.start("trace")
churn(12_000)
before = resident_kib()
churn(12_000)
print(resident_kib() - before)
cunei.stop()
""",
    )

    (process,) = trace.processes
    assert trace.count("f") == 24_000
    assert trace.count("f.<locals>.<lambda>") == 24_000
    made = [
        function for function in process.functions.values() if function.module == "made"
    ]
    assert sorted((f.qualname, f.line) for f in made) == [
        ("<module>", 1),
        ("f", 1),
        ("f.<locals>.<lambda>", 2),
    ]
    assert int(kilobytes) < 256 + 64  # what CPython's own arenas may take


@pytest.mark.core
def test_every_recording_numbers_its_functions_anew(cunei):
    _, trace = run(
        cunei,
        """\
import cunei

def first(): pass
def second(): pass

for function in (first, second, first):
    cunei.start("trace")
    function()
    cunei.stop()
""",
    )

    for process, name in pairs(trace.processes, ("first", "second", "first")):
        assert list(process.functions) == list(
            range(ctf.FIRST_FUNCTION, ctf.FIRST_FUNCTION + len(process.functions))
        )
        names = {function.qualname for function in process.functions.values()}
        assert {"first", "second"} & names == {name}
        assert {f.qualname: n for f, n in process.count(ctf.ENTER).items()}[name] == 1


MANY = """\
import cunei

names = {"__name__": "many"}
exec("\\n".join(f"def f{i}(g=None): return g and g()" for i in range(25_000)), names)
functions = [names[f"f{i}"] for i in range(25_000)]
last = functions[-1]

cunei.start("trace")
for function in functions:
    function()
for function in functions[:3]:
    last(function)
def generate():
    yield last()
list(generate())
try:
    last(lambda: 1 / 0)
except ZeroDivisionError:
    pass
cunei.stop()
"""


def test_more_functions_than_there_are_classes(cunei):
    _, trace = run(cunei, MANY)

    (process,) = trace.processes
    counts = {f.qualname: n for f, n in process.count(ctf.ENTER).items()}
    assert all(counts[f"f{i}"] == 1 for i in range(3, 24_999))
    assert counts["f0"] == counts["f1"] == counts["f2"] == 2
    assert counts["f24999"] == 6
    assert max(process.functions) >= ctf.CLASS_END
    assert process.definitions
    assert process.is_balanced()

    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr
    report = json.loads(shown.stdout)
    rows = {row["qualname"]: row["calls"] for row in report["functions"]}
    assert {name: n for name, n in rows.items() if n} == counts
    events = sum(1 for _ in process.events())
    defined = sum(1 for packet in process.definitions for _ in packet.events())
    assert report["events"] == events + defined


@pytest.mark.skipif(not shutil.which("babeltrace2"), reason="babeltrace2 is not here")
def test_babeltrace_reads_functions_beyond_the_classes(cunei):
    _, trace = run(cunei, MANY)

    (process,) = trace.processes
    done = cunei.run("babeltrace2", "trace")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    calls = sum(" call: " in line for line in lines)
    defined = sum(1 for packet in process.definitions for _ in packet.events())
    assert len(lines) == sum(1 for _ in process.events()) + defined
    assert sum(" define: " in line for line in lines) == defined
    assert calls == sum(
        event.kind == ctf.CALL and event.function >= ctf.CLASS_END
        for event in process.events()
    )


@pytest.mark.core
def test_names_with_any_character(cunei):
    _, trace = run(
        cunei,
        r"""
import cunei

files = ["a b.py", 'quo"te.py', "back\\slash.py", "new\nline.py", "tab\t.py",
         "größe.py", "byte\udcff.py", "*/ event { };.py", "", "percent%s%n.py",
         "\x1b[31m.py", "x" * 10_000, "\U0001f40d" * 2000]
cunei.start("trace")
for file in files:
    eval(compile("(lambda: 0)()", file, "eval"), {"__name__": "m:" + file})
eval(compile("(lambda: 0)()", "not a name", "eval"), {"__name__": 5})
eval(compile("(lambda: 0)()", "no name", "eval"), {})
cunei.stop()
""",
    )

    (process,) = trace.processes
    got = {
        f.file: f.module for f in process.functions.values() if f.qualname == "<lambda>"
    }
    files = ["a b.py", 'quo"te.py', "back\\slash.py", "new\nline.py", "tab\t.py"]
    files += ["größe.py", "byte\udcff.py", "*/ event { };.py", "", "percent%s%n.py"]
    files += ["\x1b[31m.py"]
    for file in files:
        assert got[file] == "m:" + file
    assert got["not a name"] == ""
    assert got["x" * 4095] == ("m:" + "x" * 10_000)[:4095]
    assert sum(file.startswith("\U0001f40d") for file in got) == 1
    assert process.is_balanced()
    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr
    report = json.loads(shown.stdout)
    reported = {row["file"] for row in report["functions"]}
    assert reported >= set(files)
