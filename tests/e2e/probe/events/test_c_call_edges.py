# SPDX-License-Identifier: MIT
"""C functions that are open while something happens: packets, threads, forks, types
that come and go, tools that raise.
"""

import json

import ctf
import pytest
from proof import needs_monitoring

LONG = """\
def key(item):
    return -item

def down(n):
    return n and max([n], key=lambda n: down(n - 1))

def fail(item):
    if item == 30_000:
        raise KeyError
    return item

sorted(range(100_000), key=key)
for _ in range(300):
    down(40)
try:
    list(map(fail, range(50_000)))
except KeyError:
    pass
try:
    min(range(60_000), key=fail)
except KeyError:
    pass
"""


@pytest.mark.core
def test_a_packet_begins_with_the_c_functions_that_are_open(cunei):
    cunei.write("app.py", LONG)
    cunei("record", "-q", "-o", "trace", "--c-calls", "app.py")

    (process,) = ctf.read(cunei.folder / "trace").processes
    stacks = [
        [process.functions[number].qualname for number in event.value]
        for event in process.events()
        if event.kind == ctf.STACK
    ]
    assert len(stacks) > 10
    assert ["<module>", "sorted"] in [stack[:2] for stack in stacks]
    assert ["<module>", "min"] in [stack[:2] for stack in stacks]
    assert any(stack.count("max") > 3 for stack in stacks)
    (replay,) = process.replay().values()
    assert replay.is_balanced(), replay
    assert replay.deepest > 120
    report = json.loads(cunei("report", "--json", "trace").stdout)
    assert report["orphans"] == report["unclosed"] == report["appeared"] == 0


PAUSED = """\
import cunei

def leaf(): pass

def stop(item):
    cunei.disable()
    return item

def hold():
    sorted([1], key=stop)

def go_on():        # its frame is where that of hold was
    cunei.enable()
    leaf()

with cunei.record("trace", c_calls=True):
    hold()
    go_on()
"""


@pytest.mark.core
def test_a_c_function_that_ends_in_a_pause_is_not_open_behind_it(cunei):
    cunei.write("app.py", PAUSED)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    trace = ctf.read(cunei.folder / "trace")
    assert (trace.count("sorted"), trace.count("sorted", ctf.LEAVE)) == (1, 0)
    assert (trace.count("leaf"), trace.count("go_on", ctf.LEAVE)) == (1, 1)
    assert trace.is_balanced()
    report = json.loads(cunei("report", "--json", "trace").stdout)
    assert report["orphans"] == report["unclosed"] == report["appeared"] == 0


INSIDE = """\
import sys, threading
import cunei

def work(n):
    for _ in range(n):
        "a".swapcase()

def start(item):
    if item == 1:
        cunei.start("trace", c_calls=True)
    if item == 3:
        cunei.stop()
    return len("")
"""


def run(cunei, source):
    cunei.write("app.py", INSIDE + source)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    return ctf.read(cunei.folder / "trace")


@pytest.mark.core
def test_what_was_not_entered_is_not_left(cunei):
    """It starts and stops inside a C function that neither sees whole."""
    trace = run(cunei, "sorted([0, 1, 2, 3, 4], key=start)\nprint(start(5))\n")

    assert trace.count("sorted") == trace.count("sorted", ctf.LEAVE) == 0
    assert trace.count("len") == trace.count("len", ctf.LEAVE) == 2
    assert trace.is_balanced()


def test_every_thread_has_its_own(cunei):
    trace = run(
        cunei,
        """
with cunei.recording("trace", c_calls=True):
    threads = [threading.Thread(target=work, args=(1000 * n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""",
    )

    assert trace.count("str.swapcase") == 10_000
    assert trace.is_balanced()


def test_another_recording_begins_anew(cunei):
    trace = run(
        cunei,
        """
for n in range(1, 4):
    with cunei.recording("trace", c_calls=n != 2):
        work(n)
""",
    )

    counts = [
        {f.qualname: n for f, n in process.count(ctf.ENTER).items() if not f.file}
        for process in trace.processes
    ]
    assert counts == [{"str.swapcase": 1}, {}, {"str.swapcase": 3}]
    assert trace.is_balanced()


CHURN = """
class Base(list):
    pass

def use(number):
    kind = type(f"Kind{number}", (list,), {})
    item = kind()
    item.append(1)
    bound = item.extend
    bound([2])
    kind.fromlist = None
    bound = item.extend
    bound([3])

with cunei.recording("trace", c_calls=True):
    for number in range(500):
        use(number)
"""


def test_types_that_come_and_go(cunei):
    trace = run(cunei, CHURN)

    assert trace.count("list.append") == 500
    assert trace.count("list.extend") == 1000
    (process,) = trace.processes
    assert [
        f.qualname for f in process.functions.values() if "Kind" in f.qualname
    ] == []


REUSED = """
import ctypes

class Definition(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("function", ctypes.c_void_p),
                ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]

new = ctypes.pythonapi.PyCFunction_NewEx
new.restype = ctypes.py_object
new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
call = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)(
    lambda self, argument: argument)
address = ctypes.cast(call, ctypes.c_void_p).value
definition = Definition(None, address, 8, None)  # METH_O
name = ctypes.create_string_buffer(b"first", 20)

def use(text, owner, module):
    name.value = text
    definition.name = ctypes.addressof(name)
    function = new(ctypes.addressof(definition), owner, module)
    for _ in range(3):
        function(1)

with cunei.recording("trace", c_calls=True, exclude=":hidden"):
    use(b"hidden", (), "one")
    use(b"first", (), "one")
    use(b"hidden", (), "one")
    use(b"second", (), "one")
    use(b"second", (), "two")
    use(b"third", {}, None)
"""


def test_a_definition_that_was_freed_and_used_again_is_named_anew(cunei):
    trace = run(cunei, REUSED)

    (process,) = trace.processes
    counts = {
        f"{function.module}:{function.qualname}": count
        for function, count in process.count(ctf.ENTER).items()
        if count == 3 and not function.file
    }
    assert counts == {
        "one:first": 3,
        "one:second": 3,
        "two:second": 3,
        "builtins:dict.third": 3,
    }
    assert process.is_balanced(), process.replay()


RAISING = """
monitoring, events = sys.monitoring, sys.monitoring.events
armed = False

def callback(code, offset, callable, argument):
    if armed and callable is str.swapcase:
        raise LookupError

def once():
    global armed
    armed = True
    try:
        work(1)
    except LookupError:
        pass
    armed = False

for event in (events.CALL, events.C_RETURN):
    for other in (5, 3):
        cunei.start("trace", c_calls=True)
        monitoring.use_tool_id(other, "other")
        monitoring.register_callback(other, event, callback)
        monitoring.set_events(other, events.CALL | events.C_RETURN | events.C_RAISE)
        once()
        once()
        work(2)
        monitoring.set_events(other, 0)
        monitoring.register_callback(other, event, None)
        monitoring.free_tool_id(other)
        cunei.stop()
"""


@needs_monitoring
def test_a_tool_whose_callbacks_raise_between_call_and_return(cunei):
    """What was entered is left at the latest when its caller is."""
    trace = run(cunei, RAISING)

    for process in trace.processes:
        assert process.is_balanced(), process.replay()
        counts = process.count(ctf.ENTER)
        (calls,) = [n for f, n in counts.items() if f.qualname == "str.swapcase"]
        assert 2 <= calls <= 4
    assert len(trace.processes) == 4


def test_greenlets_that_switch_inside_of_c_functions(cunei):
    """Calls that are open belong to frames, and frames to greenlets."""
    pytest.importorskip("greenlet")
    trace = run(
        cunei,
        """
import greenlet

def key(item):
    return main.switch(item) or 0

def pong():
    while True:
        sorted([3, 1], key=key)
        main.switch(0)

def ping():
    for _ in range(15_000):
        max([1], key=lambda item: other.switch(item) or 0)

main, other = greenlet.getcurrent(), greenlet.greenlet(lambda first: pong())
with cunei.recording("trace", c_calls=True):
    ping()
    del other
""",
    )

    assert trace.count("max") == trace.count("max", ctf.LEAVE) == 15_000
    assert trace.count("sorted") == 5000
    report = json.loads(cunei("report", "--json", "trace").stdout)
    assert report["orphans"] == report["appeared"] == 0


def test_a_fork_inside_of_a_c_function(cunei):
    """The child continues without what its parent is in."""
    trace = run(
        cunei,
        """
import os

def key(item):
    if item == 2:
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
    return abs(item)

with cunei.recording("trace", c_calls=True):
    sorted([1, 2, 3], key=key)
""",
    )

    parent, child = trace.processes
    assert parent.is_balanced() and child.is_balanced()
    counts = [
        {f.qualname: n for f, n in process.count(ctf.ENTER).items() if not f.file}
        for process in (parent, child)
    ]
    assert counts[0] == {"sorted": 1, "fork": 1, "waitpid": 1, "abs": 3}
    assert counts[1] == {"abs": 2}


def test_recursion_through_c_to_the_limit(cunei):
    trace = run(
        cunei,
        """
def through_c(n):
    return max([n], key=lambda n: through_c(n + 1))

with cunei.recording("trace", c_calls=True):
    try:
        through_c(0)
    except RecursionError:
        pass
""",
    )

    assert trace.count("max") == trace.count("max", ctf.LEAVE) > 100
    assert trace.is_balanced()


def test_more_functions_than_classes(cunei):
    """Beyond the 20 000th a C function has `call` events like others."""
    trace = run(
        cunei,
        """
with cunei.recording("trace", c_calls=True):
    names = {"__name__": "many"}
    exec("\\n".join(f"def f{i}(): pass" for i in range(20_050)), names)
    for i in range(20_050):
        names[f"f{i}"]()
    for _ in range(100):
        "a".casefold()
""",
    )

    assert trace.count("str.casefold") == trace.count("str.casefold", ctf.LEAVE) == 100
    assert trace.is_balanced()
