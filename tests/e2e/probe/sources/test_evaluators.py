# SPDX-License-Identifier: MIT
"""Evaluators of frames that others install, above cunei's and below it."""

import shutil
import subprocess
import sys
import sysconfig

import ctf
import pytest

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(
        sys.version_info >= (3, 12), reason="CPython 3.12 has sys.monitoring instead"
    ),
    pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler"),
]

# An evaluator that counts frames and calls the one before.
EVALUATOR = """\
#include <Python.h>
#include <frameobject.h>

#if PY_VERSION_HEX < 0x03090000
#define Py_BUILD_CORE 1
#include <internal/pycore_pystate.h>
typedef PyObject *(*evaluator)(PyFrameObject *, int);
#define GET()    (PyInterpreterState_Main()->eval_frame)
#define SET(to)  (PyInterpreterState_Main()->eval_frame = (to))
#define PARAMETERS PyFrameObject *frame, int throws
#define ARGUMENTS  frame, throws
#else
typedef _PyFrameEvalFunction evaluator;
#define GET()    _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main())
#define SET(to)  _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Main(), (to))
#if PY_VERSION_HEX >= 0x030b0000
#define PARAMETERS PyThreadState *thread, struct _PyInterpreterFrame *frame, int throws
#else
#define PARAMETERS PyThreadState *thread, PyFrameObject *frame, int throws
#endif
#define ARGUMENTS thread, frame, throws
#endif

static evaluator before;
static long count;

static PyObject *evaluate(PARAMETERS)
{
    count++;
    return before(ARGUMENTS);
}

void install(void)
{
    before = GET();
    SET(evaluate);
}

/* As evaluators do that do not call the one before. */
void usurp(void)
{
    before = _PyEval_EvalFrameDefault;
    SET(evaluate);
}

void uninstall(void)
{
    SET(before);
}

long counted(void)
{
    return count;
}

int is_on_top(void)
{
    return GET() == evaluate;
}
"""

PROGRAM = """\
import ctypes, sys
import cunei

other = ctypes.PyDLL(sys.argv[1])

def leaf():
    pass

def work():
    before = other.counted()
    for _ in range(100):
        leaf()
    return other.counted() - before
"""


@pytest.fixture
def other(cunei):
    """The library, built for the Python that is tested."""

    def build(name="other.so"):
        source = cunei.write("other.c", EVALUATOR)
        include = sysconfig.get_path("include")
        words = ["cc", "-shared", "-fPIC", "-w", "-I", include, "-o", name, source]
        subprocess.run(words, cwd=cunei.folder, check=True)
        return cunei.folder / name

    return build


def run(cunei, library, source):
    """What the program prints, which ends well."""
    cunei.write("app.py", PROGRAM + source)
    done = cunei.run(cunei.python, "app.py", library)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def leaves(cunei):
    trace = ctf.read(cunei.folder / "trace")
    assert trace.is_balanced()
    return trace.count("leaf")


def test_one_that_was_there_before_is_handed_on_to(cunei, other):
    run(
        cunei,
        other(),
        """
other.install()
for _ in range(3):
    cunei.start("trace", instrumenter="frame")
    assert work() == 100
    cunei.stop()
    assert other.is_on_top()
assert work() == 100
other.uninstall()
assert work() == 0
""",
    )

    assert leaves(cunei) == 300


def test_one_that_comes_later_calls_ours(cunei, other):
    """And must not be called by it when it records again."""
    run(
        cunei,
        other(),
        """
cunei.start("trace", instrumenter="frame")
other.install()
assert work() == 100
cunei.stop()
assert work() == 100
for _ in range(3):
    cunei.start("trace", instrumenter="frame")
    assert work() == 100
    cunei.stop()
other.uninstall()
assert work() == 0
cunei.start("trace", instrumenter="frame")
assert work() == 0
cunei.stop()
""",
    )

    assert leaves(cunei) == 500


def test_c_calls_cannot_be_switched_on_below_another(cunei, other):
    printed = run(
        cunei,
        other(),
        """
cunei.start("trace", instrumenter="frame")
other.install()
cunei.stop()
try:
    cunei.start("trace", c_calls=True)
except cunei.Error as error:
    print(error)
assert not cunei.is_recording()
assert work() == 100
""",
    )

    assert "above cunei's" in printed
    assert len(printed.splitlines()) == 1


def test_one_that_is_there_when_main_begins(cunei, other):
    """As a sitecustomize may do it, after the recording was armed."""
    library = other()
    cunei.write(
        "sitecustomize.py",
        f"import ctypes\nother = ctypes.PyDLL({str(library)!r})\nother.install()\n",
    )
    cunei.write("app.py", PROGRAM + "assert work() == 100\n")
    done = cunei(
        "record",
        *("--instrumenter", "frame", "-q", "-o", "trace", "app.py", library),
        env={"PYTHONPATH": str(cunei.folder)},
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert leaves(cunei) == 100


REFUSED = pytest.mark.parametrize(
    ("library", "advice"),
    [
        ("pydevd_frame_evaluator.so", "PYDEVD_USE_FRAME_EVAL=NO"),
        ("libtorch_python.so", "TORCHDYNAMO_DISABLE=1"),
    ],
)


@REFUSED
def test_those_that_run_other_code_are_refused_in_a_sentence(
    cunei, other, library, advice
):
    printed = run(
        cunei,
        other(library),
        """
other.install()
try:
    cunei.start("trace", instrumenter="frame")
except cunei.Error as error:
    print(error)
assert not cunei.is_recording()
assert other.is_on_top() and work() == 100
""",
    )

    assert advice in printed
    assert len(printed.splitlines()) == 1
    assert not (cunei.folder / "trace").exists()


def record_beside(cunei, library, when, *words, call="install"):
    """Record a program whose Python starts with the library's evaluator."""
    cunei.write(
        "sitecustomize.py",
        f"import ctypes, os\nif {when}: ctypes.PyDLL({str(library)!r}).{call}()\n",
    )
    cunei.write("app.py", "print('runs')\n")
    return cunei(
        *("record", "--instrumenter", "frame", "-o", "trace", *words, "app.py"),
        env={"PYTHONPATH": str(cunei.folder)},
    )


@REFUSED
def test_the_launcher_refuses_them_before_the_program_starts(
    cunei, other, library, advice
):
    done = record_beside(cunei, other(library), "True")

    assert (done.returncode, done.stdout) == (1, "")
    assert advice in done.stderr
    assert done.stderr.startswith("cunei: ") and done.stderr.count("\n") == 1
    assert not (cunei.folder / "trace").exists()


# Not while the launcher asks the Python.
LATER = "os.environ.get('CUNEI_RECORD') != '?'"


@REFUSED
def test_the_launcher_says_so_where_they_come_later(cunei, other, library, advice):
    done = record_beside(cunei, other(library), LATER)

    assert (done.returncode, done.stdout) == (0, "runs\n")
    assert advice in done.stderr and "sys.monitoring" not in done.stderr
    assert done.stderr.startswith("cunei: nothing was recorded: ")
    assert done.stderr.count("\n") == 1


def test_the_launcher_says_what_cannot_be_had_below_another(cunei, other):
    done = record_beside(cunei, other(), LATER, "--c-calls", "-q")

    assert (done.returncode, done.stdout, done.stderr) == (0, "runs\n", "")

    done = record_beside(cunei, other(), LATER, "--force", "--lines", ":work")

    assert (done.returncode, done.stdout) == (0, "runs\n")
    assert "one process could not be recorded: another tool" in done.stderr


# From here on nothing is seen, whether it stays or goes.
USURPED = """
import threading

ready, end = threading.Event(), threading.Event()

def wait():
    ready.set()
    end.wait()

thread = threading.Thread(target=wait)
thread.start()
ready.wait()
assert work() == 0
other.usurp()
assert work() == 100
if sys.argv[2] == "goes":
    other.uninstall()
    assert work() == 0
cunei.stop()
end.set()
thread.join()
"""


@pytest.mark.parametrize("then", ["stays", "goes"])
def test_one_that_takes_the_place_for_itself_is_reported(cunei, other, then):
    library = other("pydevd_frame_evaluator.so")
    cunei.write(
        "app.py", PROGRAM + 'cunei.start("trace", instrumenter="frame")\n' + USURPED
    )
    done = cunei.run(cunei.python, "app.py", library, then)
    assert (done.returncode, done.stderr) == (0, "")

    trace = ctf.read(cunei.folder / "trace")
    (process,) = trace.processes
    assert trace.count("leaf") == 100
    assert process.description["taken"] == "2"
    shown = " ".join(cunei("report", "trace").stdout.split())
    assert "2 threads were not recorded to the end" in shown
    assert "PYDEVD_USE_FRAME_EVAL=NO" in shown


def test_the_launcher_reports_one_that_takes_the_place(cunei, other):
    source = "other.usurp()\nwork()\nother.uninstall()\n"
    cunei.write("app.py", PROGRAM + source)
    library = other("libtorch_python.so")
    words = ["record", "--instrumenter", "frame", "-o", "trace"]
    done = cunei(*words, "app.py", library)

    assert (done.returncode, done.stdout) == (0, "")
    assert "1 thread was not recorded to the end" in done.stderr
    assert "TORCHDYNAMO_DISABLE=1" in done.stderr


def test_one_that_takes_the_place_before_main(cunei, other):
    """Whose first frame cunei does not see then."""
    library = other("pydevd_frame_evaluator.so")
    done = record_beside(cunei, library, LATER, call="usurp")

    assert (done.returncode, done.stdout) == (0, "runs\n")
    assert done.stderr.startswith("cunei: nothing was recorded: the debugger (pydevd)")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.version_info < (3, 9), reason="torch hands on from 3.9 on")
def test_an_evaluator_that_calls_the_next_one_does_no_harm(cunei, other):
    cunei.write("app.py", PROGRAM + "other.install()\nassert work() == 100\n")
    words = ["record", "--instrumenter", "frame", "-o", "trace"]
    done = cunei(*words, "app.py", other("libtorch_python.so"))

    assert (done.returncode, done.stdout) == (0, "")
    assert "not recorded" not in done.stderr
    assert leaves(cunei) == 100
