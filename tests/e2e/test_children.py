# SPDX-License-Identifier: MIT
"""Processes that a recorded program starts, by every way there is in Python."""

import os
import re
import signal
import subprocess
import sys

import ctf
import proof
import pytest
from family import calls, record


def described(trace, key):
    """What the processes say of themselves, by their number."""
    return {p.pid: p.description.get(key, "") for p in trace.processes}


POOL = """\
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor

def square(n):
    return n * n

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        print(sum(pool.map(square, range(50))))
    process = context.Process(target=square, args=(3,), name="Harry")
    process.start()
    process.join()
    print(process.exitcode)
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        print(sum(executor.map(square, range(30))))
"""


@pytest.mark.parametrize(
    "options", [[], pytest.param(["--include", ":square"], marks=pytest.mark.core)]
)
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(cunei, method, options):
    cunei.write("app.py", POOL)
    done = cunei("record", "-q", "-o", "trace", *options, "app.py", method)

    # A fork beside the threads of a pool warns by itself.
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["40425", "0", "8555"]
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("square") == 50 + 1 + 30
    assert trace.lost() == 0
    # It is one function, though a spawned process calls its module __mp_main__.
    functions = [f for p in trace.processes for f in p.functions.values()]
    assert len({f for f in functions if f.qualname == "square"}) == 1
    names = set(described(trace, "name").values())
    assert "Harry" in names
    kind = {"fork": "Fork", "spawn": "Spawn", "forkserver": "ForkServer"}[method]
    assert any(name.startswith(f"{kind}Process-") for name in names)
    (harry,) = (p for p in trace.processes if p.description.get("name") == "Harry")
    assert calls(harry, "square") == 1
    assert harry.description["ended"] == "1"


@pytest.mark.core
def test_a_worker_of_a_pool_that_is_killed(cunei):
    cunei.write(
        "app.py",
        """\
import multiprocessing, os, signal

def work(n):
    for _ in range(n):
        leaf()
    return os.getpid()

def leaf():
    pass

def hang(connection):
    connection.send(work(30_000))
    signal.pause()

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe()
    with context.Pool(1) as pool:
        pool.apply_async(hang, (sender,))
        first = receiver.recv()
        os.kill(first, signal.SIGKILL)
        second = pool.apply(work, (7,))
        print(first, second)
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = map(int, done.stdout.split())

    trace = ctf.read(cunei.folder / "trace")
    found = {p.pid: calls(p, "leaf") for p in trace.processes}
    assert (found[first], found[second]) == (30_000, 7)
    assert described(trace, "ended")[first] == "0"


@pytest.mark.core
def test_processes_started_anew_record_into_folders_of_their_own(cunei):
    trace = record(
        cunei,
        """\
import os, subprocess, sys

def child():
    print("child", sys.argv[1:], flush=True)

def parent():
    run = [sys.executable, __file__]
    subprocess.run([*run, "a"], check=True)
    subprocess.run([*run, "b"], check=True, start_new_session=True)
    subprocess.run([*run, "c"], check=True, close_fds=False)
    subprocess.run([*run, "d"], check=True, preexec_fn=os.getpid)
    os.system(f"{sys.executable} {__file__} e")
    os.waitpid(os.posix_spawn(run[0], [*run, "f"], os.environ), 0)
    os.spawnv(os.P_WAIT, run[0], [*run, "g"])
    subprocess.run([sys.executable, "-I", __file__, "h"], check=True)
    subprocess.run([sys.executable, "-B", "-X", "dev", __file__, "i"], check=True)

child() if sys.argv[1:] else parent()
""",
    )

    # os.spawnv forks in Python before it executes: that image has a folder, too.
    images = {p.folder.name for p in trace.processes if "became" in p.description}
    assert len(images) == 1
    assert len(trace.processes) - len(images) == 10
    assert trace.count("child") == 9
    assert trace.count("parent") == 1
    assert trace.is_balanced()


def test_what_is_left_out_is_left_out(cunei):
    """-S does not read site-packages, and without the variable nothing is armed."""
    trace = record(
        cunei,
        """\
import subprocess, sys

def work():
    print("child", flush=True)

if sys.argv[1:]:
    work()
else:
    subprocess.run([sys.executable, "-S", __file__, "a"], check=True)
    subprocess.run([sys.executable, __file__, "b"], check=True, env={})
    work()
""",
    )

    assert len(trace.processes) == 1
    assert trace.count("work") == 1


def test_a_chain_of_processes(cunei):
    trace = record(
        cunei,
        """\
import subprocess, sys

def link(n):
    if n:
        subprocess.run([sys.executable, __file__, str(n - 1)], check=True)

link(int(sys.argv[1]) if sys.argv[1:] else 4)
""",
    )

    assert [calls(process, "link") for process in trace.processes] == [1] * 5
    pids = [process.pid for process in trace.processes]
    parents = [int(process.description["parent"]) for process in trace.processes]
    assert parents[1:] == pids[:-1]


def test_another_python_below(cunei, tmp_path):
    """A virtual environment inside another one reads the .pth file of the outer."""
    inner = tmp_path / "inner"
    words = [cunei.python, "-m", "venv", "--without-pip", "--system-site-packages"]
    subprocess.run([*words, inner], check=True)
    packages = subprocess.run(
        [cunei.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    (site,) = inner.glob("lib/python3*/site-packages")
    (site / "outer.pth").write_text(
        f"{packages}\nimport site; site.addsitedir({packages!r})\n"
    )
    cunei.write("child.py", "def work(): pass\nwork()\n")
    trace = record(
        cunei,
        f"""\
import subprocess
subprocess.run([{str(inner / "bin" / "python")!r}, "child.py"], check=True)
""",
    )

    assert len(trace.processes) == 2
    assert trace.count("work") == 1


SERVER = """\
import os, signal, socket, sys

def handle(connection):
    connection.sendall(b"hello from %d" % os.getpid())
    connection.close()

def serve(listener, count):
    for _ in range(count):
        handle(listener.accept()[0])

def ask(address):
    with socket.create_connection(address) as connection:
        return connection.recv(100)

def main():
    listener = socket.create_server(("127.0.0.1", 0))
    workers = []
    for n in range(3):
        pid = os.fork()
        if pid == 0:
            serve(listener, 1_000_000)
            os._exit(0)
        workers.append(pid)
    answers = [ask(listener.getsockname()) for _ in range(60)]
    for pid in workers:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    listener.close()
    print(len(answers))

main()
"""


def test_a_server_that_forks_its_workers(cunei):
    trace = record(cunei, SERVER)

    assert trace.count("ask") == trace.count("handle") == 60
    workers = [p for p in trace.processes if p.description["forked"] == "1"]
    assert len(workers) == 3
    assert [calls(worker, "serve") for worker in workers] == [1, 1, 1]


def test_gunicorn(cunei):
    pytest.importorskip("gunicorn")
    cunei.write(
        "app.py",
        """\
def answer(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]
""",
    )
    words = ["-m", "gunicorn", "-w", "2", "-b", "127.0.0.1:0", "app:answer"]
    server = cunei.start(
        "record", "-o", "trace", *words, stderr=subprocess.PIPE, text=True
    )
    said, address = [], None
    for line in server.stderr:
        said.append(line)
        found = re.search(r"Listening at: http://127.0.0.1:(\d+)", line)
        address = found[1] if found else address
        if "Booting worker" in line and sum("Booting" in line for line in said) == 2:
            break
    assert address, said
    ask = (
        "import sys, urllib.request as u; u.urlopen(f'http://127.0.0.1:{sys.argv[1]}')"
    )
    for _ in range(10):
        subprocess.run([sys.executable, "-c", ask, address], check=True)
    server.send_signal(signal.SIGTERM)
    rest = server.stderr.read()

    assert server.wait(proof.DEADLINE_S) == 0, rest
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("answer") == 10
    assert sum(p.description["forked"] == "1" for p in trace.processes) >= 2
    # Its workers end by sys.exit, and so does their master.
    assert set(described(trace, "ended").values()) == {"1"}


def test_joblib(cunei):
    pytest.importorskip("joblib")
    cunei.write(
        "app.py",
        """\
from joblib import Parallel, delayed
from work import square

if __name__ == "__main__":
    print(sum(Parallel(n_jobs=2)(delayed(square)(n) for n in range(40))))
""",
    )
    cunei.write("work.py", "def square(n):\n    return n * n\n")
    done = cunei("record", "-q", "-o", "trace", "--include", "work", "app.py")

    assert done.returncode == 0, done.stderr
    assert done.stdout == "20540\n"
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("square") == 40
    names = described(trace, "name").values()
    assert sum(name.startswith("LokyProcess-") for name in names) == 2


DAEMON = """\
import os, sys, time

def work():
    pass

def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.001)

def daemon():
    work()
    open("daemon", "w").write(str(os.getpid()))
    wait_for("end")
    work()

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        daemon()
    os._exit(0)
os.wait()
wait_for("daemon")
work()
"""


@pytest.mark.core
def test_a_daemon_outlives_the_launcher(cunei):
    cunei.write("app.py", DAEMON)
    done = cunei("record", "-o", "trace", "app.py")
    pid = int((cunei.folder / "daemon").read_text())

    assert done.returncode == 0
    assert not proof.is_gone(pid)
    assert done.stderr.splitlines()[1:] == [
        f"cunei: process {pid} still runs, and what it does is recorded"
    ]
    (cunei.folder / "end").touch()
    proof.wait_for(lambda: proof.is_gone(pid))
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("work") == 1 + 2
    assert described(trace, "exit_status")[pid] == "0"


def test_what_is_left_of_a_daemon_that_is_killed(cunei):
    cunei.write("app.py", DAEMON)
    done = cunei("record", "-q", "-o", "trace", "app.py")
    pid = int((cunei.folder / "daemon").read_text())
    os.kill(pid, signal.SIGKILL)
    proof.wait_for(lambda: proof.is_gone(pid))

    assert (done.returncode, done.stderr) == (0, "")
    assert cunei("recover", "trace").returncode == 0
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("work") == 1 + 1
    assert described(trace, "ended")[pid] == "0"


def test_an_orphan_knows_its_parent(cunei):
    """Its parent left it behind, and somebody else is its parent for the system."""
    trace = record(
        cunei,
        """\
import os

def work():
    pass

read, write = os.pipe()
pid = os.fork()
if pid == 0:
    if os.fork() == 0:
        os.close(write)
        os.read(read, 1)  # until its parent is gone
        work()
        os.write(1, b"orphan\\n")
        os._exit(0)
    os._exit(0)
os.close(write)
os.waitpid(pid, 0)
while os.read(read, 1):
    pass
""",
    )

    assert trace.count("work") == 1
    _, middle, orphan = trace.processes
    assert int(orphan.description["parent"]) == middle.pid
    assert orphan.description["parent_folder"] == middle.folder.name


@pytest.mark.core
def test_without_children(cunei):
    trace = record(
        cunei,
        """\
import os, subprocess, sys

def work():
    pass

work()
if not sys.argv[1:]:
    subprocess.run([sys.executable, __file__, "x"], check=True)
    if os.fork() == 0:
        assert not any(sys.monitoring.get_tool(tool) for tool in range(6))
        work()
        os._exit(0)
    os.wait()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
""",
        "--no-children",
    )

    first, again = trace.processes
    assert first.pid == again.pid
    assert (calls(first, "work"), calls(again, "work")) == (1, 1)


def test_without_children_a_shell_leads_to_nothing(cunei):
    cunei.write("run.sh", f"#!/bin/sh\n{cunei.python} -c pass\ntrue\n", True)
    done = cunei("record", "--no-children", "-o", "trace", "./run.sh")

    assert done.returncode == 0
    assert done.stderr == (
        "cunei: nothing was recorded: 'run.sh' is not run by a Python itself, and "
        "--no-children leaves out those that it starts\n"
    )
    assert not (cunei.folder / "trace").exists()
    cunei.write("exec.sh", f"#!/bin/sh\nexec {cunei.python} -c pass\n", True)
    done = cunei("record", "--no-children", "-o", "trace", "./exec.sh")
    assert "0 lost" in done.stderr


KILLED = """\
import os, signal

def work():
    pass

for n in range(150):
    pid = os.fork()
    if pid == 0:
        while True:
            work()
    for _ in range(300 * n):
        pass
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    work()
"""


def test_children_that_are_killed_while_they_begin(cunei):
    trace = record(cunei, KILLED)

    parent = trace.processes[0]
    assert calls(parent, "work") == 150
    assert parent.is_balanced()
    for child in trace.processes[1:]:
        assert child.description["forked"] == "1"

    done = cunei("run", "app.py")
    assert done.returncode == 0
    assert not list(cunei.folder.parent.glob("cunei-*"))
    done = cunei("record", "-q", "--force", "-o", "trace", "-c", "pass")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_the_signal_that_ended_the_program_is_told(cunei, signum):
    cunei.write("app.py", f"import os\nos.kill(os.getpid(), {int(signum)})\n")
    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert done.returncode == -signum
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.description["signal"] == str(int(signum))
    assert process.description["ended"] == "0"


def test_children_of_which_many_run_at_once(cunei):
    trace = record(
        cunei,
        """\
import os

def work():
    pass

read, write = os.pipe()
pids = []
for _ in range(150):
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)  # until all of them are there
        work()
        os._exit(0)
    pids.append(pid)
os.close(write)
assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * len(pids)
""",
    )

    assert trace.count("work") == 150
    assert len(trace.processes) == 151
    assert set(described(trace, "left").values()) == {"0", "1"}
