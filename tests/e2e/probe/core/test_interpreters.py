# SPDX-License-Identifier: MIT
"""Subinterpreters: none of them is recorded, each is counted, and none is harmed."""

import sys

import ctf
import pytest
from family import record

pytestmark = pytest.mark.core

CREATE = """\
import sys, threading

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    create = interpreters.create
else:
    import _xxsubinterpreters as interpreters
    kinds = sys.version_info >= (3, 9)
    create = lambda kind: (
        interpreters.create(isolated=kind == "isolated")
        if kinds
        else interpreters.create()
    )

def run(kind, source):
    other = create(kind)
    assert interpreters.run_string(other, source) is None
    interpreters.destroy(other)

def work():
    pass

"""


@pytest.mark.parametrize("kind", ["legacy", "isolated"])
def test_another_interpreter_runs_as_without_us(cunei, kind):
    trace = record(
        cunei,
        CREATE
        + f"""\
for _ in range(3):
    run({kind!r}, "def work(): pass\\nwork()\\nimport json\\njson.loads('[1]')")
    work()
print("done")
""",
    )

    (process,) = trace.processes
    assert trace.count("work") == 3
    assert process.description["interpreters"] == "3"
    assert trace.is_balanced()


def test_interpreters_at_the_same_time(cunei):
    """With a GIL each, importing and running code that others run as well."""
    trace = record(
        cunei,
        CREATE
        + """\
SOURCE = '''
import importlib, os, sys
for _ in range(10):
    for name in ("string", "fnmatch", "shlex", "textwrap"):
        sys.modules.pop(name, None)
        importlib.import_module(name)
    os.path.join("a", "b")
'''

threads = [threading.Thread(target=run, args=("isolated", SOURCE)) for _ in range(4)]
for thread in threads:
    thread.start()
exec(SOURCE)
for _ in range(10_000):
    work()
for thread in threads:
    thread.join()
""",
    )

    (process,) = trace.processes
    assert trace.count("work") == 10_000
    assert process.description["interpreters"] == "4"


def test_recording_is_refused_inside_one(cunei):
    trace = record(
        cunei,
        CREATE
        + """\
for kind in ("legacy", "isolated"):
    run(kind, '''
import cunei
assert not cunei.is_recording()
try:
    cunei.start("other")
except cunei.Error as error:
    print(error, flush=True)
cunei.stop()
''')
work()
""",
    )

    assert trace.count("work") == 1
    assert not (cunei.folder / "other").exists()
    done = cunei("record", "-q", "-o", "again", "app.py")
    assert done.stdout == (
        "only the main interpreter of a process can be recorded\n" * 2
    )


def test_interpreters_beside_a_recording_from_inside(cunei):
    cunei.write(
        "app.py",
        CREATE
        + """\
import cunei

cunei.start("trace")
others = [create("isolated") for _ in range(2)]
work()
cunei.stop()
for other in others:
    interpreters.destroy(other)
""",
    )
    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.description["interpreters"] == "2"


@pytest.mark.skipif(sys.version_info < (3, 14), reason="there are none before 3.14")
def test_an_executor_of_interpreters(cunei):
    trace = record(
        cunei,
        """\
from concurrent.futures import InterpreterPoolExecutor

if __name__ == "__main__":
    with InterpreterPoolExecutor(2) as executor:
        print(sum(executor.map(abs, range(-20, 0))))
""",
    )

    (process,) = trace.processes
    assert int(process.description["interpreters"]) >= 1
