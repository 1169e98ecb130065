# SPDX-License-Identifier: MIT
"""What a program sees of being armed and attached: nothing."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from attaching import (
    PROGRAM,
    SERVE,
    armed,
    attached,
    calls,
    control,
    cpu_ticks,
    environment,
    interrupt,
    status,
    succeed,
)
from proof import needs_root

# What a program can see of itself.
# It takes about a second, in which our threads have nothing to do.
BUSY = "sum(range(60_000_000)) and None"

LOOK = """
import json, os, signal, sys, threading

def look():
    return {
        "descriptors": sorted(os.listdir("/proc/self/fd")),
        "threads": [thread.name for thread in threading.enumerate()],
        "active": threading.active_count(),
        "frames": len(sys._current_frames()),
        "argv": sys.argv, "path": sys.path, "flags": str(sys.flags),
        "signals": [str(signal.getsignal(n)) for n in range(1, 32)],
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "profile": [str(sys.getprofile()), str(sys.gettrace())],
        "hooks": [str(sys.excepthook), str(threading.excepthook)],
        "children": open(f"/proc/self/task/{os.getpid()}/children").read(),
    }
"""


@pytest.mark.core
def test_the_program_sees_nothing_of_it(cunei):
    cunei.write("app.py", LOOK + SERVE)
    plain = cunei.run(
        cunei.python,
        cunei.folder / "app.py",
        input="say(json.dumps(look()))\n",
        stdin=None,
        env=environment(cunei),
    ).stdout.splitlines()[0]
    with armed(cunei, LOOK + SERVE) as program:
        idle = program.do("say(json.dumps(look()))")[0]
        succeed(program, cunei, "--for", "50ms", "-o", "trace")
        after = program.do("say(json.dumps(look()))")[0]
        with attached(program, cunei, directory="again"):
            program.do("look()")

    assert idle == plain
    assert after == plain


@pytest.mark.core
def test_a_program_without_free_descriptors_is_attached(cunei):
    with armed(cunei) as program:
        program.do("import os, resource")
        program.do("resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); files = []")
        program.do(
            "exec('try:\\n while True: files.append(os.dup(0))\\nexcept OSError: pass')"
        )
        with attached(program, cunei) as controller:
            program.do("work(6)")
            interrupt(controller)
        program.do("[os.close(file) for file in files]")

    assert calls(cunei, "leaf") == 6


@pytest.mark.core
def test_a_program_that_closes_all_descriptors_stays_armed(cunei):
    with armed(cunei) as program:
        program.do("import os; os.closerange(3, 1024)")
        with attached(program, cunei) as controller:
            program.do("os.closerange(3, 1024); work(6)")
            interrupt(controller)

    assert calls(cunei, "leaf") == 6


@pytest.mark.core
def test_a_finalizer_that_runs_meanwhile_closes_the_programs_own_file(cunei):
    """A collection may run in any thread: that one must have the program's files."""
    source = SERVE.replace(
        "stop = ",
        """
class Owner:
    def __init__(self):
        import os
        self.me = self  # freed by a collection alone
        self.reader, self.writer = os.pipe()
    def __del__(self):
        import os
        os.close(self.reader)
        os.close(self.writer)

def collect_always():
    import gc, os
    gc.collect()
    before = sorted(os.listdir("/proc/self/fd"))
    gc.disable()
    # Not in this thread, which would do it before we are attached.
    me = threading.get_ident()
    sys.addaudithook(lambda *event: threading.get_ident() == me or gc.collect())
    return before

def look_again(before):
    import gc, os
    gc.collect()
    return sorted(os.listdir("/proc/self/fd")) == before

stop = """,
    )
    with armed(cunei, source) as program:
        program.do("before = collect_always()")
        for i in range(5):
            program.do("[Owner() for i in range(20)]; None")
            succeed(program, cunei, "--for", "20ms", "-o", f"trace{i}")
        assert program.do("say(look_again(before))") == ["True"]
        _, _, err = program.end()

    assert err == ""


@pytest.mark.core
def test_an_audit_hook_writes_to_the_programs_own_file(cunei):
    hook = (
        "import os; log = os.open('log', os.O_CREAT | os.O_WRONLY); "
        "sys.addaudithook(lambda *event: os.write(log, event[0].encode()) and None)"
    )
    with armed(cunei) as program:
        program.do(hook)
        succeed(program, cunei, "--for", "50ms", "-o", "trace")
        _, _, err = program.end()

    assert err == ""


@needs_root
@pytest.mark.core
def test_a_program_in_a_root_of_its_own_forks(cunei):
    with armed(cunei) as program:
        program.do("import os; os.mkdir('root'); os.chroot('root')")
        assert program.do(
            "pid = os.fork(); pid or os._exit(4); say(os.waitpid(pid, 0)[1] >> 8)"
        ) == ["4"]
        code, _, err = program.end()

    assert (code, err) == (0, "")


@pytest.mark.core
def test_signals_reach_the_programs_own_threads(cunei):
    with armed(cunei) as program:
        program.do("import signal, time; got = []")
        program.do("handle = lambda number, frame: got.append(number)")
        for number in (signal.SIGUSR1, signal.SIGPWR, signal.SIGCHLD):
            program.do(f"signal.signal({int(number)}, handle) and None")
            os.kill(program.pid, number)
            program.do(f"while {int(number)} not in got: pass")
        program.do("pid = __import__('os').fork(); pid or __import__('os')._exit(0)")
        # What wakes our thread does not come to the program.
        assert program.get("sorted(set(got))") == sorted(
            map(int, (signal.SIGUSR1, signal.SIGPWR, signal.SIGCHLD))
        )
        assert program.get(f"got.count({int(signal.SIGPWR)})") == 1


def test_a_signal_that_waits_for_the_program_keeps_nobody_busy(cunei):
    """It is the one that wakes our thread; the program takes it by sigwait."""
    with armed(cunei) as program:
        program.do("import os, signal, time")
        program.do("signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPWR])")
        os.kill(program.pid, signal.SIGPWR)
        before = sum(cpu_ticks(program.pid))
        program.do(BUSY)
        used = sum(cpu_ticks(program.pid)) - before
        program.do("pid = os.fork(); pid or os._exit(0); os.waitpid(pid, 0)")

        assert program.do("say(int(signal.sigwait([signal.SIGPWR])))") == [
            str(int(signal.SIGPWR))
        ]
        assert status(program, cunei)["state"] == "armed"
    assert used <= os.sysconf("SC_CLK_TCK") // 10


@needs_root
@pytest.mark.core
@pytest.mark.parametrize("armed_first", [True, False])
def test_root_attaches_to_a_server_that_has_become_another_user(cunei, armed_first):
    """It was started by root, and gave its rights away before or after arming."""
    become = "import os; os.setgid(65534); os.setuid(65534)"
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        with armed(cunei) as program:
            if not armed_first:
                program.do("import cunei; cunei.disarm()")
            program.do(become)
            if not armed_first:
                program.do("cunei.arm()")
            succeed(program, cunei, "--for", "50ms", "-o", folder / "first")
            with attached(program, cunei, directory=folder / "trace") as controller:
                program.do("work(6)")
                interrupt(controller)
        assert (folder / "trace").stat().st_uid == 65534
        assert calls(cunei, "leaf", folder / "trace") == 6
    finally:
        shutil.rmtree(folder)


@pytest.mark.core
def test_an_idle_thread_takes_no_time(cunei):
    with armed(cunei) as program:
        before = cpu_ticks(program.pid)
        program.do(BUSY)
        switches = context_switches(program.pid)
        program.do(BUSY)

        assert len(before) == 2
        assert cpu_ticks(program.pid) == before
        assert context_switches(program.pid) == switches


def context_switches(pid):
    """How often each of our threads has run."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as file:
            text = file.read()
        if text.startswith("Name:\tcunei\n"):
            found.append(text[text.index("voluntary_ctxt_switches") :])
    return found


@pytest.mark.core
def test_a_long_runtime_folder_is_no_obstacle(cunei):
    folder = cunei.folder / ("long" * 30)
    folder.mkdir(mode=0o700)
    with armed(cunei, XDG_RUNTIME_DIR=str(folder)) as program:
        assert status(program, cunei)["state"] == "armed"


@pytest.mark.core
def test_a_process_that_cannot_be_armed_says_why_and_runs_on(cunei):
    source = """
import resource, cunei
cunei._load()
resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))
try:
    cunei.arm()
except cunei.Error as error:
    print(error)
"""
    cunei.write("app.py", source)
    done = cunei.run(cunei.python, cunei.folder / "app.py", env=environment(cunei))

    said = "cannot take requests of 'cunei attach': Too many open files\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


@pytest.mark.core
def test_arming_in_a_subinterpreter_is_refused(cunei):
    names = ("_interpreters", "_xxsubinterpreters")
    source = f"""
import importlib, sys
for name in {names}:
    try:
        interpreters = importlib.import_module(name)
        break
    except ImportError:
        pass
else:
    print("refused")
    sys.exit()
code = '''
try:
    import cunei
    cunei.arm()
except Exception as error:
    print("refused", flush=True)
'''
interpreter = interpreters.create()
interpreters.run_string(interpreter, code)
"""
    cunei.write("app.py", source)
    done = cunei.run(cunei.python, cunei.folder / "app.py")

    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


@pytest.mark.core
def test_a_program_with_subinterpreters_is_attached(cunei):
    begin = (
        "import importlib.util as u; "
        "name = next((n for n in ('_interpreters', '_xxsubinterpreters') "
        "if u.find_spec(n)), None); "
        "sub = __import__(name) if name else None; one = sub and sub.create()"
    )
    with armed(cunei) as program:
        program.do(begin)
        with attached(program, cunei) as controller:
            program.do("sub and sub.run_string(one, 'x = 1') and None; work(6)")
            interrupt(controller)
        program.do("sub and sub.destroy(one)")
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert calls(cunei, "leaf") == 6


@pytest.mark.core
def test_a_thread_that_outlives_the_main_thread_is_attached(cunei):
    source = PROGRAM + "threading.Thread(target=commands).start()\n"
    with armed(cunei, source) as program:
        with attached(program, cunei) as controller:
            program.do("work(6)")
            interrupt(controller)
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert calls(cunei, "leaf") == 6


def test_the_commands_that_do_not_start_leave_no_directory(cunei):
    with armed(cunei) as program:
        done = control(program, cunei, "--keep", "99999T", "-o", "trace")

    assert done.returncode in (1, 2)
    assert not (cunei.folder / "trace").exists()
