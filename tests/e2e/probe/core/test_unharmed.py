# SPDX-License-Identifier: MIT
"""The program comes first: whatever it does to its process, we do not stand in its way.

Each program prints what it sees; it must be the same as without us, and the calls it
makes must all be in the trace.
"""

import resource
import sys

import ctf
import proof
import pytest
from proof import needs_monitoring

CALLS = 20_000

WORK = f"""
def leaf():
    pass

def work():
    for _ in range({CALLS}):
        leaf()
"""


def record(cunei, source, *options):
    cunei.write("app.py", WORK + source)
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert plain.returncode == 0, plain.stderr
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert done.stderr == plain.stderr
    return ctf.read(cunei.folder / "trace")


@pytest.mark.parametrize(
    "harm",
    {
        "descriptors are closed": "os.closerange(3, 4096)",
        "the folder is left": "os.chdir('/')",
        "the folder is gone": "os.mkdir('x'); os.chdir('x'); os.rmdir('../x')",
        "the mask is odd": "os.umask(0o777)",
        "descriptors are other files now": """
for number in range(3, 1024):
    os.dup2(1, number, inheritable=False)
""",
        "the environment is gone": "os.environ.clear()",
        "monitoring is gone": "sys.__dict__.pop('monitoring', None)",
        "modules are gone": "sys.modules.clear()",
        "main is another": "sys.modules['__main__'] = type(sys)('other')",
        "builtins are others": """
import builtins
for name in ("len", "print", "__import__", "open", "compile", "exec", "str"):
    setattr(builtins, name, None)
""",
        "our own modules are gone": """
for name in list(sys.modules):
    if name.startswith("cunei"):
        del sys.modules[name]
import gc; gc.collect()
""",
        "threading is gone": "import threading; sys.modules.pop('threading')",
        "signals are blocked": """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
""",
        "every allocation collects": "import gc; gc.set_threshold(1)",
        "warnings are errors": "import warnings; warnings.simplefilter('error')",
    }.items(),
    ids=lambda item: item[0],
)
def test_calls_are_recorded_although(cunei, harm):
    _, source = harm
    trace = record(
        cunei,
        f"""
import os, sys
write = os.write
work()
{source}
work()
write(1, b"done\\n")
""",
    )

    assert trace.count("leaf") == 2 * CALLS
    assert trace.lost() == 0
    assert trace.is_balanced()


FILL = """
import os, resource
{limit}
work()
taken = []
try:
    while True:
        taken.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print(error.errno, len(taken) > 40)
work()
"""


@pytest.mark.core
def test_all_descriptors_are_in_use(cunei):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    cunei.write("app.py", WORK + FILL.format(limit=""))
    done = cunei("record", "-q", "-o", "trace", "app.py", preexec_fn=limit)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "24 True\n"

    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("leaf") == 2 * CALLS
    assert trace.lost() == 0
    assert trace.is_balanced()


def test_fewer_descriptors_than_we_have_in_use_already(cunei):
    """Then nothing can be written until some are free again, and that is counted."""
    limit = "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"
    again = "for fd in taken: os.close(fd)\nwork()\n"
    trace = record(cunei, FILL.format(limit=limit) + again)

    (process,) = trace.processes
    recorded = sum(event.kind == ctf.CALL for event in process.events())
    calls = 3 * (CALLS + 1) * 2
    assert calls <= recorded + trace.lost() <= calls + 1000  # what importing calls
    assert trace.count("leaf") >= 2 * CALLS


def test_an_audit_hook_that_raises(cunei):
    """Nothing that we do while the program runs can be refused by one."""
    trace = record(
        cunei,
        """
import sys

refusing = False

def refuse(event, arguments):
    if refusing:
        raise PermissionError(event)

sys.addaudithook(refuse)
refusing = True
work()
refusing = False
print("done")
""",
    )

    assert trace.count("leaf") == CALLS
    assert trace.is_balanced()


@pytest.mark.core
def test_an_audit_hook_that_raises_to_the_end(cunei):
    cunei.write(
        "app.py",
        WORK
        + """
import sys

def refuse(event, arguments):
    if event.startswith("sys.monitoring"):
        raise PermissionError(event)

sys.addaudithook(refuse)
work()
print("done")
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert ctf.read(cunei.folder / "trace").count("leaf") == CALLS


@needs_monitoring
@pytest.mark.core
def test_a_start_that_is_refused_harms_nothing(cunei):
    cunei.write(
        "app.py",
        WORK
        + """
import sys
import cunei

refusing = True

def refuse(event, arguments):
    if refusing and event.startswith("sys.monitoring"):
        raise PermissionError(event)

sys.addaudithook(refuse)
try:
    cunei.start("trace")
except (PermissionError, cunei.Error) as error:
    print(type(error).__name__)
assert not cunei.is_recording()
assert not any(sys.monitoring.get_tool(tool) for tool in range(6))
refusing = False
work()
cunei.start("trace")
work()
cunei.stop()
""",
    )
    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() in (["PermissionError"], ["Error"])
    trace = ctf.read(cunei.folder / "trace")
    assert len(trace.processes) == 1
    assert trace.count("leaf") == CALLS


def test_descriptors_have_the_numbers_that_they_have_without_us(cunei):
    record(
        cunei,
        """
import os, socket, tempfile

work()
first = os.open("/dev/null", os.O_RDONLY)
pipe = os.pipe()
work()
with tempfile.TemporaryFile() as file, socket.socket() as other:
    print(first, pipe, file.fileno(), other.fileno())
""",
    )


@pytest.mark.core
def test_what_the_program_sees_of_itself(cunei):
    """Threads, modules, hooks, limits and signals are those it has without us."""
    record(
        cunei,
        """
import atexit, gc, os, resource, signal, sys, threading, warnings

work()
print(threading.enumerate()[1:], threading.active_count())
print(len(os.listdir("/proc/self/task")))
print(sorted(name for name in sys.modules if not name.startswith("cunei")))
print(sys.getprofile(), sys.gettrace(), sys.getswitchinterval())
print(gc.isenabled(), gc.get_threshold(), warnings.filters, sys.warnoptions)
print([signal.getsignal(number) for number in range(1, 65)])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(resource.getrlimit(resource.RLIMIT_NOFILE), os.umask(0))
print(sys.path, [str(finder)[:20] for finder in sys.meta_path], len(sys.path_hooks))
print(sys.flags, sys.excepthook)
print(sorted(name for name in os.environ if not name.startswith("CUNEI_")))
print(sys.getrecursionlimit(), sys._getframe().f_back, leaf.__code__.co_code)
""",
    )


@pytest.mark.core
def test_objects_live_as_long_as_without_us(cunei):
    record(
        cunei,
        """
import sys, weakref

class Thing:
    def __del__(self):
        print("gone", self.name)

def fail(depth, thing):
    if depth == 0:
        raise ValueError
    fail(depth - 1, thing)

def make(name):
    thing = Thing()
    thing.name = name
    try:
        fail(100, thing)
    except ValueError as error:
        print("caught", name, sys.getrefcount(thing))
    return weakref.ref(thing)

for name in "abc":
    assert make(name)() is None
""",
    )


MEMORY = """
import sys, threading
import cunei

def leaf():
    pass

def work():
    for _ in range(400_000):
        leaf()

def pss_kib():
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1])

def wait_at(barrier):
    leaf()
    for _ in range(70_000):
        leaf()
    barrier.wait()
    barrier.wait()

import os, pathlib  # what starting needs is there before
threads = int(sys.argv[1])

def measure(record):
    barrier = threading.Barrier(threads + 1)
    before = pss_kib()
    if record:
        cunei.start("trace")
    make = lambda: threading.Thread(target=wait_at, args=(barrier,))
    started = [make() for _ in range(threads)]
    for thread in started:
        thread.start()
    barrier.wait()
    work()
    grown = pss_kib() - before
    barrier.wait()
    for thread in started:
        thread.join()
    if record:
        cunei.stop()
    return grown

measure(False)
plain = measure(False)
print(measure(True) - plain)
"""


@pytest.mark.core
@pytest.mark.parametrize("threads", [0, 16])
def test_memory_in_the_program(cunei, threads):
    """≤ 8 MiB, and 0.6 MiB for each live thread, whatever the number of events."""
    cunei.write("app.py", MEMORY)
    done = cunei.run(cunei.python, "app.py", str(threads))
    assert (done.returncode, done.stderr) == (0, "")

    assert int(done.stdout) <= 8 * 1024 + int(0.6 * 1024 * (threads + 1))
    count = 400_000 + threads * 70_001
    assert ctf.read(cunei.folder / "trace").count("leaf") == count


@pytest.mark.core
def test_no_descriptor_is_open_that_is_not_without_us(cunei):
    trace = record(
        cunei,
        """
import os

def descriptors():
    return [name for name in os.listdir("/proc/self/fd") if int(name) > 2]

work()
print(len(descriptors()), flush=True)
if os.fork() == 0:
    work()
    print(len(descriptors()), flush=True)
    os._exit(0)
os.wait()
""",
    )
    assert trace.count("leaf") == 2 * CALLS


@pytest.mark.core
def test_an_audit_hook_is_not_notified_of_us(cunei):
    """Not even at the end, when we let go of sys.monitoring."""
    trace = record(
        cunei,
        """
import sys

def hook(event, args):
    if not hook.busy:
        hook.busy = True
        print(event)
        hook.busy = False

hook.busy = False
sys.addaudithook(hook)
work()
""",
    )
    assert trace.count("leaf") == CALLS


@pytest.mark.core
@proof.needs_root
def test_another_root_does_not_hide_the_trace(cunei):
    trace = record(
        cunei,
        """
import os

def leave():
    os.chroot("/proc")

work()
leave()
work()
""",
    )
    assert trace.count("leaf") == 2 * CALLS
    assert trace.lost() == 0
    assert trace.is_balanced()


@pytest.mark.core
@pytest.mark.skipif(
    proof.FREE_THREADED and sys.version_info >= (3, 14, 4),
    reason="CPython makes room for every tool, and only it can without a GIL",
)
def test_other_tools_get_only_their_own_code(cunei):
    """CPython calls a tool's function for code objects that have room for its word."""
    trace = record(
        cunei,
        """
import ctypes, sys

freed = []
free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
eval_, code = "PyUnstable_Eval_", "PyUnstable_Code_"
if sys.version_info < (3, 12):
    eval_, code = "_PyEval_", "_PyCode_"
index = getattr(ctypes.pythonapi, eval_ + "RequestCodeExtraIndex")(free)
assert index >= 0

for _ in range(100):
    eval("lambda: leaf()")()
set_extra = getattr(ctypes.pythonapi, code + "SetExtra")
for word in range(3):
    function = eval("lambda: leaf()")
    function()
    assert set_extra(ctypes.py_object(function.__code__), index, 1000 + word) == 0
    function()
    del function
work()
print(freed)
""",
    )
    assert trace.count("leaf") == CALLS + 106
