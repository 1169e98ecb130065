# SPDX-License-Identifier: MIT
"""Processes that a recorded program starts, by every way there is in Python."""

import re
import signal
import subprocess
import sys

import ctf
import proof
import pytest
from family import calls, described, record

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

    # os.spawnv forks in Python before it executes: that image has a folder as well.
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
    lines, address = [], None
    for line in server.stderr:
        lines.append(line)
        found = re.search(r"Listening at: http://127.0.0.1:(\d+)", line)
        address = found[1] if found else address
        if "Booting worker" in line and sum("Booting" in line for line in lines) == 2:
            break
    assert address, lines
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
