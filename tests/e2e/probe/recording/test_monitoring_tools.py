# SPDX-License-Identifier: MIT
"""Other tools of sys.monitoring, and tracing of old, work beside us as we do."""

import json
import sys
from collections import Counter

import ctf
import pytest
from proof import needs_monitoring

pytestmark = pytest.mark.core

WORK = """
def leaf(n):
    return n

def work():
    for i in range(100):
        leaf(i)
    return sum(leaf(i) for i in range(50))
"""


def run(cunei, source, **options):
    cunei.write("app.py", WORK + source)
    return cunei.run(cunei.python, "app.py", **options)


@needs_monitoring
@pytest.mark.parametrize(
    ("taken", "ours"),
    [
        ([], [4]),
        ([4], [3]),
        ([4, 3], [5]),
        ([0, 1, 2], [4]),
        ([5], [4]),
    ],
)
def test_a_tool_id_that_is_free_is_taken_and_given_back(cunei, taken, ours):
    done = run(
        cunei,
        f"""
import sys
import cunei

tools = lambda: {{i: name for i in range(6) if (name := sys.monitoring.get_tool(i))}}
for tool in {taken}:
    sys.monitoring.use_tool_id(tool, "other")
before = tools()
for _ in range(3):
    cunei.start("trace")
    work()
    assert tools() == before | dict.fromkeys({ours}, "cunei"), tools()
    cunei.stop()
    assert tools() == before
for tool in {ours}:
    sys.monitoring.use_tool_id(tool, "next")
    for name in dir(sys.monitoring.events):
        if name.startswith("PY_"):
            event = getattr(sys.monitoring.events, name)
            assert sys.monitoring.register_callback(tool, event, None) is None
""",
    )

    assert (done.returncode, done.stderr) == (0, "")
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("leaf") == 3 * 150
    assert trace.is_balanced()


@needs_monitoring
def test_without_a_free_id_starting_is_refused_in_a_sentence(cunei):
    done = run(
        cunei,
        """
import os, sys
import cunei

for tool in (3, 4, 5):
    sys.monitoring.use_tool_id(tool, "other")
try:
    cunei.start("trace")
except cunei.Error as error:
    print(error)
assert not cunei.is_recording()
assert not os.path.exists("trace") or not os.listdir("trace")
work()
sys.monitoring.free_tool_id(3)
cunei.start("trace")
work()
""",
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "tool ids" in done.stdout and "3, 4 and 5" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert ctf.read(cunei.folder / "trace").count("leaf") == 150


@needs_monitoring
def test_a_program_whose_ids_are_all_taken_runs_unharmed(cunei):
    """Another tool was loaded before us: what the .pth file does, done after that."""
    (cunei.folder / "trace").mkdir()
    done = run(
        cunei,
        """
import os, sys
from cunei import _boot

for tool in (3, 4, 5):
    sys.monitoring.use_tool_id(tool, "other")
os.environ["CUNEI_RECORD"] = os.path.abspath("trace")
_boot.boot()
work()
print(_boot.outcome)
""",
        env={"CUNEI_DEBUG": "1"},
    )

    assert done.returncode == 0
    assert "tool ids" in done.stdout
    assert done.stderr == f"cunei: not recording: {done.stdout}"
    (left,) = (cunei.folder / "trace").iterdir()
    assert left.name.startswith(".refused-")


def test_two_recordings_at_a_time_are_refused(cunei):
    done = run(
        cunei,
        """
import cunei
cunei.start("trace")
try:
    cunei.start("other")
except cunei.Error as error:
    print(error)
work()
""",
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "already" in done.stdout and "trace" in done.stdout
    assert ctf.read(cunei.folder / "trace").count("leaf") == 150
    assert not (cunei.folder / "other").exists()


def test_cprofile_of_the_program_s_own(cunei):
    cunei.write(
        "app.py",
        WORK
        + """
import cProfile, pstats, io
profile = cProfile.Profile()
profile.runcall(work)
for entry in profile.getstats():
    if not isinstance(entry.code, str):
        print(entry.code.co_name, entry.callcount)
""",
    )
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    assert ctf.read(cunei.folder / "trace").count("leaf") == 150


def test_python_m_cprofile(cunei):
    cunei.write("app.py", WORK + "work()\n")

    done = cunei("record", "-q", "-o", "trace", "-m", "cProfile", "app.py")

    assert done.returncode == 0, done.stderr
    assert "150" in done.stdout
    assert ctf.read(cunei.folder / "trace").count("leaf") == 150


@pytest.mark.parametrize(
    "core", ["ctrace", pytest.param("sysmon", marks=needs_monitoring)]
)
@pytest.mark.parametrize("filtered", [False, True])
def test_coverage(cunei, core, filtered):
    pytest.importorskip("coverage.tracer" if core == "ctrace" else "coverage")
    cunei.write("app.py", WORK + "\ndef unused():\n    pass\n\nif work():\n    pass\n")

    def measure(name, *prefix):
        environment = {"COVERAGE_CORE": core, "COVERAGE_FILE": str(cunei.folder / name)}
        command = ["-m", "coverage", "run", "app.py"]
        done = cunei.run(*prefix, *command, env=environment)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        words = [cunei.python, "-m", "coverage", "json", "-q", "-o", f"{name}.json"]
        assert cunei.run(*words, env=environment).returncode == 0
        report = json.loads((cunei.folder / f"{name}.json").read_text())
        return report["files"]["app.py"]

    selection = ["--include", "app.py"] if filtered else []
    words = [cunei.executable, "record", "-q", "-o", "trace", *selection, "--"]
    recorded = measure("recorded", *words, cunei.python)

    assert recorded == measure("plain", cunei.python)
    assert ctf.read(cunei.folder / "trace").count("leaf") == 150


@pytest.mark.parametrize("install", ["settrace", "setprofile"])
def test_tracing_of_old(cunei, install):
    source = f"""
import sys, threading
seen = []

def hook(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        seen.append((event, frame.f_code.co_name, frame.f_lineno))
    return hook

sys.{install}(hook)
threading.{install}(hook)
work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
sys.{install}(None)
work()
print(len(seen), hash(str(seen)))
"""
    cunei.write("app.py", WORK + source)
    environment = {"PYTHONHASHSEED": "1"}
    plain = cunei.run(cunei.python, "app.py", env=environment)
    done = cunei("record", "-q", "-o", "trace", "app.py", env=environment)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == plain.stdout
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("leaf") == 3 * 150
    assert trace.is_balanced()


@needs_monitoring
def test_a_tool_that_switches_everything_on_and_off_all_the_time(cunei):
    """Its events, its DISABLE and its restart_events change nothing of ours."""
    done = run(
        cunei,
        """
import random, sys
import cunei

monitoring = sys.monitoring
events = monitoring.events
seen = 0
chosen = random.Random(1)

def callback(*arguments):
    global seen
    seen += 1
    return monitoring.DISABLE if chosen.random() < 0.5 else None

other = 5
monitoring.use_tool_id(other, "other")
for event in (events.PY_START, events.PY_RETURN, events.PY_YIELD, events.PY_RESUME,
              events.LINE):
    monitoring.register_callback(other, event, callback)

cunei.start("trace", include=["__main__"])
for i in range(50):
    mask = chosen.choice([0, events.PY_START, events.PY_RETURN | events.LINE,
                          events.PY_YIELD | events.PY_RESUME])
    monitoring.set_events(other, mask)
    monitoring.set_local_events(other, leaf.__code__, chosen.choice([0, events.LINE]))
    if i % 3 == 0:
        monitoring.restart_events()
    work()
cunei.stop()
assert seen
""",
    )

    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(cunei.folder / "trace").processes
    counts = Counter()
    for function, n in process.count(ctf.ENTER, ctf.RESUME).items():
        counts[function.qualname] += n
    assert counts["work"] == 50
    assert counts["leaf"] == 50 * 150
    assert counts["work.<locals>.<genexpr>"] == 50 * 51
    assert process.is_balanced(), process.replay()


@needs_monitoring
def test_a_tool_whose_callbacks_raise(cunei):
    """Instead of our entry, or after our exit: the orphans are found and counted.

    From 3.13 on, the missed entry is found when its frame raises.
    """
    done = run(
        cunei,
        """
import sys
import cunei

monitoring, events = sys.monitoring, sys.monitoring.events

def callback(code, *arguments):
    if code.co_name == "leaf":
        raise LookupError

for other in (5, 3):
    cunei.start("trace")
    monitoring.use_tool_id(other, "other")
    for event in (events.PY_START, events.PY_RETURN):
        monitoring.register_callback(other, event, callback)
        monitoring.set_events(other, event)
        caught = 0
        for _ in range(10):
            try:
                work()
            except LookupError:
                caught += 1
        assert caught == 10
        monitoring.set_events(other, 0)
    monitoring.free_tool_id(other)
    cunei.stop()
""",
    )

    assert (done.returncode, done.stderr) == (0, "")
    trace = ctf.read(cunei.folder / "trace")
    missed = 0 if sys.version_info >= (3, 13) else 10
    for process, orphans in zip(trace.processes, (missed, 10), strict=True):
        (replay,) = process.replay().values()
        assert (replay.orphans, replay.unclosed, replay.appeared) == (orphans, 0, 0)
        names = [process.functions[number].qualname for number in replay.stack]
        assert names == ["<module>"]
