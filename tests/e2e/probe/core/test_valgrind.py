# SPDX-License-Identifier: MIT
"""valgrind finds no error and no definite leak of ours."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest
from proof import CUNEI, write_program

pytestmark = pytest.mark.skipif(
    not shutil.which("valgrind"), reason="valgrind is not installed"
)

DEADLINE_S = 300

PROGRAM = """
import os, threading
def recurse(n):
    return recurse(n - 1) if n else 0
def generate():
    yield 1
    yield 2
def fail():
    raise ValueError
def work():
    recurse(20)
    list(generate())
    try:
        fail()
    except ValueError:
        pass
    for n in range(20):
        exec(f"def f{n}(): pass\\nf{n}()", {})
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for _ in range(20_000):
    recurse(0)
pid = os.fork()
if pid == 0:
    work()
    os._exit(0)
os.waitpid(pid, 0)
"""

# A thread has let go of what we had for it, and runs Python once more.
ENDING = """
import ctypes, threading
async def inner():
    raise ValueError
async def outer():
    await inner()
def drive():
    try:
        outer().send(None)
    except ValueError:
        pass
ended = threading.Event()
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def destroy(unused):
    for _ in range(3):
        drive()
    ended.set()
def work():
    drive()
    key = ctypes.c_uint()
    libc.pthread_key_create(ctypes.byref(key), destroy)
    libc.pthread_setspecific(key, ctypes.c_void_p(1))
libc = ctypes.CDLL(None)
threading.Thread(target=work).start()
assert ended.wait(60)
"""

# It records more than once in one process, with all there is to choose.
PARTS = """
import cunei, sys, threading
class Own:
    def __repr__(self):
        raise ValueError
def f(*values):
    kind = type("Kind", (list,), {})
    made = kind("ab")
    add = made.append
    add(sorted([2, 1], key=lambda n: len(str(n))))
    return values
for options in (
    {},
    {"include": "__main__"},
    {"exclude": "re:x$", "c_calls": True},
    {"c_calls": True, "args": "__main__", "return_": ":f"},
    {"args": ":f", "return_": ":f", "repr": "full", "max_repr": 8},
):
    cunei.start(sys.argv[1], **options)
    f(1, "a" * 1000, [b"c" * 1000, {None: {2.5}}], {Own(): Own}, 1 << 10_000)
    thread = threading.Thread(target=f)
    thread.start()
    thread.join()
    cunei.stop()
"""

# What valgrind says of this, which is nothing of ours, is CPython's own.
MONITORED = """
import sys
monitoring = sys.monitoring
events = monitoring.events
def f():
    pass
monitoring.use_tool_id(3, "other")
for chosen in (events.PY_START | events.PY_RETURN | events.PY_YIELD, 0):
    monitoring.set_events(3, chosen)
    monitoring.set_local_events(3, f.__code__, events.PY_START)
    f()
"""


def run(folder, *command, **more):
    """Run a command; what valgrind says of it and of its forked children."""
    reports = f"--xml-file={folder}/%p.xml"
    words = ["valgrind", "--xml=yes", reports, "--leak-check=full"]
    words += ["--show-leak-kinds=definite", "--num-callers=60"]
    # glibc, when it is to free what is its own, forgets which library needs which, and
    # unloads ours with libgcc_s, by which threads end before 3.9, and all it points to.
    words += ["--run-libc-freeres=no", *command]
    environment = {**os.environ, "PYTHONMALLOC": "malloc", **more}
    done = subprocess.run(
        [str(word) for word in words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    trees = [xml.etree.ElementTree.parse(path) for path in folder.glob("*.xml")]
    assert trees
    return [error for tree in trees for error in tree.iter("error")]


def frames(error):
    """(object, function) of the stack, innermost first."""
    stack = error.find("stack")
    return [
        (os.path.basename(frame.findtext("obj") or ""), frame.findtext("fn") or "?")
        for frame in stack.iter("frame")
    ]


def place(error):
    """Where in the machine code it happened."""
    frame = error.find("stack").find("frame")
    return frame.findtext("obj"), frame.findtext("ip")


@pytest.fixture(scope="module")
def places_of_python(tmp_path_factory):
    if sys.version_info < (3, 12):
        return set()
    folder = tmp_path_factory.mktemp("monitored")
    errors = run(folder, sys.executable, write_program(folder, MONITORED))
    return {
        place(error) for error in errors if frames(error)[0][0].startswith("python")
    }


def is_ours(error):
    # Without symbols, what Python keeps on purpose looks like a leak.
    is_leak = error.findtext("kind").startswith("Leak_")
    for file, function in frames(error):
        if is_leak and file.startswith("python") and function == "?":
            return False
        if "cunei" in file or file.startswith("_probe"):
            return True
        # CPython and its modules keep the strings that they interned.
        if function.startswith(("_PyPegen_", "PyUnicode_Intern", "PyModule_ExecDef")):
            return False
        # From 3.9 on it leaves a lock behind, and takes a new one, when it forks.
        if is_leak and function == "newlockobject":
            return False
    return False


def check(errors, places_of_python):
    errors = [error for error in errors if place(error) not in places_of_python]
    ours = [error for error in errors if is_ours(error)]
    leaks = [(error.findtext("kind"), frames(error)) for error in ours]
    assert not leaks, leaks


@pytest.mark.parametrize("source", [PROGRAM, ENDING], ids=["program", "ending"])
def test_a_recorded_program_has_no_error_of_ours(tmp_path, places_of_python, source):
    program = write_program(tmp_path, source)
    trace = tmp_path / "trace"

    errors = run(tmp_path, sys.executable, program, CUNEI_RECORD=str(trace))

    check(errors, places_of_python)
    assert list(trace.glob("*/metadata"))


def test_recording_parts_of_a_program_has_no_error_of_ours(tmp_path, places_of_python):
    program = write_program(tmp_path, PARTS)
    trace = tmp_path / "trace"

    errors = run(tmp_path, sys.executable, program, trace)

    check(errors, places_of_python)
    assert len(list(trace.glob("*/metadata"))) == 5


@pytest.mark.parametrize(
    "words", [["report"], ["report", "--tree"], ["dump"], ["info"], ["recover"]]
)
def test_commands_have_no_error(tmp_path, words):
    program = write_program(
        tmp_path, "def f():\n    pass\nf()\nimport os\nos.kill(os.getpid(), 9)"
    )
    trace = tmp_path / "trace"
    subprocess.run([sys.executable, program], env={"CUNEI_RECORD": str(trace)})
    assert list(trace.glob("*/.live"))

    errors = run(tmp_path, CUNEI, *words, trace)

    assert not [(error.findtext("kind"), frames(error)) for error in errors]
