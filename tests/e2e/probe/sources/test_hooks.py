# SPDX-License-Identifier: MIT
"""The hooks of sys.setprofile and sys.settrace, and no hook: what a program notices."""

import json
import re
import sys

import ctf
import pytest

NEW = sys.version_info >= (3, 12)
HOOKS = ["profile", "trace"]
DEFAULT = "monitoring" if NEW else "frame"
LACKING = "frame" if NEW else "monitoring"

pytestmark = pytest.mark.core


def record(cunei, instrumenter, text, *options):
    program = cunei.write("app.py", text)
    words = ("-o", "trace", "--instrumenter", instrumenter, *options, program)
    done = cunei("record", *words)
    return done, ctf.read(cunei.folder / "trace")


def report(cunei):
    done = cunei("report", "trace")
    assert done.returncode == 0, done.stderr
    return done.stdout


REFUSED = {
    "another name": (["profil"], "did you mean 'profile'?"),
    "lines": (["profile", "--lines", ":f"], f"use {DEFAULT} or trace"),
    "C calls": (["trace", "--c-calls"], "--c-calls cannot be used with --instrumenter"),
    "lines of nothing": (["none", "--lines", ":f"], "--lines cannot be used"),
    "arguments of nothing": (["none", "--args", ":f"], "which records no calls"),
    "one of another Python": ([LACKING], f"--instrumenter {LACKING} needs CPython"),
}


@pytest.mark.parametrize("words", REFUSED.values(), ids=REFUSED)
def test_impossible_options_are_refused_before_the_program_starts(cunei, words):
    options, sentence = words
    if LACKING == "monitoring" and "use " in sentence:
        sentence = "use trace or frame"
    done = cunei("record", "-o", "trace", "--instrumenter", *options, "-c", "print(1)")
    assert done.returncode == 2
    assert done.stdout == ""
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (cunei.folder / "trace").exists()


THREADS = """
import _thread
import sys
import threading

def work(count):
    return sum(step(i) for i in range(count))

def step(i):
    return i

class Box:
    def __del__(self):
        step(0)

threads = [threading.Thread(target=work, args=(3,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
done = _thread.allocate_lock()
done.acquire()
_thread.start_new_thread(lambda: (work(5), done.release()), ())
done.acquire()
Box()
sorted([3, 1, 2], key=step)
print(sys.getprofile(), sys.gettrace())
"""


@pytest.mark.parametrize("instrumenter", HOOKS)
def test_new_threads_are_noticed(cunei, instrumenter):
    done, trace = record(cunei, instrumenter, THREADS)
    assert done.stdout == "None None\n"
    assert trace.count("work", ctf.ENTER) == 5
    assert trace.count("step", ctf.ENTER) == 4 * 3 + 5 + 1 + 3
    assert trace.is_balanced()
    (process,) = trace.processes
    assert process.description["taken"] == "0"


@pytest.mark.parametrize("instrumenter", HOOKS)
def test_what_ends_a_thread_is_reported_as_ever(cunei, instrumenter):
    text = """
import _thread, sys, time

def fails():
    raise ValueError("x")

hook = sys.unraisablehook
lock = _thread.allocate_lock()
lock.acquire()

def hook_and_unlock(unraisable):
    hook(unraisable)
    lock.release()

sys.unraisablehook = hook_and_unlock
_thread.start_new_thread(fails, ())
lock.acquire()
_thread.start_new_thread(sys.exit, ())
try:
    _thread.start_new_thread(None, ())
except TypeError as error:
    print(error)
"""
    done, _ = record(cunei, instrumenter, text, "-q")
    plain = cunei.run(cunei.python, cunei.folder / "app.py")
    strip = re.compile("0x[0-9a-f]+")
    assert done.stdout == plain.stdout
    assert strip.sub("", done.stderr) == strip.sub("", plain.stderr)


AUDITED = """
import _thread, builtins, sys, threading

def audit(name, args):
    if name.startswith("_thread.start"):
        print(name, args[0].__qualname__, isinstance(args[0], type(audit)))

def run():
    print("runs")

def bound(self=None):
    run()

sys.addaudithook(audit)
thread = threading.Thread(target=run)
thread.run = bound
thread.start()
thread.join()
if sys.version_info >= (3, 13):
    handle = _thread._ThreadHandle()
    _thread.start_joinable_thread(function=run, handle=handle)
    handle.join()
"""


@pytest.mark.parametrize("instrumenter", HOOKS)
def test_audit_hooks_are_shown_what_a_thread_runs(cunei, instrumenter):
    done, trace = record(cunei, instrumenter, AUDITED, "-q")
    plain = cunei.run(cunei.python, cunei.folder / "app.py")
    assert plain.returncode == 0, plain.stderr
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    assert trace.count("run", ctf.ENTER) == plain.stdout.count("runs")


@pytest.mark.parametrize("instrumenter", HOOKS)
def test_nothing_is_imported_to_record(cunei, instrumenter):
    text = f"""
import builtins, sys
import cunei

cunei.start("before")
cunei.stop()
imported = []
before = builtins.__import__

def own(name, *others, **named):
    imported.append(name)
    return before(name, *others, **named)

builtins.__import__ = own
cunei.start("trace", instrumenter="{instrumenter}")
cunei.stop()
print("_thread" in imported)
"""
    done = cunei.run(cunei.python, "-c", text)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


@pytest.mark.parametrize("instrumenter", [*HOOKS, DEFAULT])
def test_a_check_while_a_source_is_installed_changes_nothing(cunei, instrumenter):
    text = """
import os
import cunei._probe

def f():
    pass

print(repr(cunei._probe.check()), flush=True)
f()
os._exit(7)
"""
    done, trace = record(cunei, instrumenter, text, "-q")
    assert (done.returncode, done.stdout) == (7, "''\n")
    (process,) = trace.processes
    assert process.description["exit_status"] == "7"
    assert trace.count("f", ctf.ENTER) == 1


OWN = """
import sys

def f():
    return 1

def g():
    return f() + f()

notified = []

def own(frame, event, argument):
    notified.append((frame.f_code.co_name, event))
    return own

g()
{set}(own)
g()
{set}(None)
g()
print(notified)
"""


@pytest.mark.parametrize("instrumenter", HOOKS)
def test_a_hook_of_the_programs_own_gets_all_and_that_is_reported(cunei, instrumenter):
    text = OWN.replace("{set}", f"sys.set{instrumenter}")
    done, trace = record(cunei, instrumenter, text)
    plain = cunei.run(cunei.python, cunei.folder / "app.py")
    assert done.returncode == 0
    # The call that sets it was reported when it began, so its end is as well.
    assert done.stdout.replace("[('<module>', 'c_return'), ", "[") == plain.stdout
    assert trace.count("g", ctf.ENTER) == 1
    assert "1 thread was not recorded to the end" in report(cunei).replace("\n", " ")
    shown = json.loads(cunei("report", "--json", "trace").stdout)
    assert [process["lost_threads"] for process in shown["processes"]] == [1]
    assert shown["processes"][0]["instrumenter"] == instrumenter


@pytest.mark.parametrize("instrumenter", HOOKS)
def test_a_hook_in_place_is_not_replaced(cunei, instrumenter):
    text = f"""
import sys
import cunei

def own(*unused):
    pass

sys.set{instrumenter}(own)
try:
    cunei.start("inner", instrumenter="{instrumenter}")
except cunei.Error as error:
    print(error)
print(sys.get{instrumenter}() is own, cunei.is_recording())
"""
    done = cunei.run(cunei.python, "-c", text)
    assert done.returncode == 0, done.stderr
    sentence, still = done.stdout.splitlines()
    assert sentence.startswith(f"another tool has set a {instrumenter} function")
    assert still == "True False"


def test_an_unknown_one_is_refused_by_the_package(cunei):
    text = "import cunei; cunei.start('x', instrumenter='profil')"
    done = cunei.run(cunei.python, "-c", text)
    assert "instrumenter must be one of 'monitoring', 'profile'" in done.stderr


FAMILY = """
import os, subprocess, sys

def f():
    return 1

f()
if os.fork() == 0:
    f()
    os._exit(7)
os.wait()
subprocess.run([sys.executable, "-c", "def f(): pass\\nf()"])
"""


@pytest.mark.parametrize("instrumenter", [*HOOKS, "none"])
def test_children_have_the_same(cunei, instrumenter):
    done, trace = record(cunei, instrumenter, FAMILY)
    assert done.returncode == 0, done.stderr
    assert len(trace.processes) == 3
    hooks = [process.description["instrumenter"] for process in trace.processes]
    assert hooks == [instrumenter] * 3
    assert trace.count("f", ctf.ENTER) == (0 if instrumenter == "none" else 3)
    assert "7" in [process.description["exit_status"] for process in trace.processes]
    assert trace.is_balanced()


def test_without_one_there_are_no_calls(cunei):
    text = "import gc\ndef f():\n    gc.collect()\nf()\n"
    done, trace = record(cunei, "none", text)
    assert done.returncode == 0, done.stderr
    (process,) = trace.processes
    assert process.count(ctf.ENTER, ctf.RESUME) == {}
    shown = report(cunei)
    assert "No call was recorded: --instrumenter none records none." in shown
    assert "instrumenter none" in shown
    assert "1 collection" in shown


def test_lines_by_the_trace_hook(cunei):
    text = """
def f(n):
    for i in range(n):
        g(i)

def g(i):
    pass

f(3)
"""
    done, trace = record(cunei, "trace", text, "--lines", ":f")
    assert done.returncode == 0, done.stderr
    shown = json.loads(cunei("report", "--json", "trace").stdout)
    hits = {row["line"]: row["hits"] for row in shown["lines"]}
    assert hits == {3: 4, 4: 3}


def test_c_calls_by_the_profile_hook(cunei):
    text = """
class Own(list):
    pass

def f():
    Own().append(1)
    [].append(1)
    len("")

f()
"""
    done, trace = record(cunei, "profile", text, "--c-calls")
    assert done.returncode == 0, done.stderr
    assert trace.count("list.append", ctf.ENTER) == 2
    assert trace.count("len", ctf.ENTER) == 1
    assert trace.is_balanced()


@pytest.mark.parametrize("instrumenter", HOOKS)
def test_what_ends_a_function_is_reported(cunei, instrumenter):
    """None is returned, yielded, or what 3.12 says where an exception ends it."""
    text = """
class Counted:
    def __init__(self):
        self.left = 2

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1

def fails():
    raise KeyError(1)

def takes():
    try:
        fails()
    except KeyError:
        pass

def loops():
    for _ in Counted():
        pass

def yields():
    yield
    yield

takes()
loops()
list(yields())
"""
    done, trace = record(cunei, instrumenter, text)
    assert done.returncode == 0, done.stderr
    shown = json.loads(cunei("report", "--json", "trace").stdout)
    raised = {row["qualname"]: row["raised"] for row in shown["functions"]}
    assert {name for name, count in raised.items() if count} == {
        "fails",
        "Counted.__next__",
    }
    assert trace.count("yields", ctf.YIELD) == 2


def test_exceptions_by_the_trace_hook(cunei):
    text = """
def f():
    raise KeyError(1)

def g():
    f()

try:
    g()
except KeyError:
    pass
"""
    done, trace = record(cunei, "trace", text)
    assert done.returncode == 0, done.stderr
    shown = json.loads(cunei("report", "--json", "trace").stdout)
    (row,) = (row for row in shown["exceptions"] if row["type"] == "KeyError")
    assert (row["function"], row["line"]) == ("f", 3)
    assert row["unwound"] == 2
