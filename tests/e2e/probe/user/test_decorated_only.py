# SPDX-License-Identifier: MIT
"""Decorated functions under `--instrumenter none`: they are seen, and no other."""

import json
import textwrap

import ctf
import pytest
from proof import needs_monitoring
from user_events import record

NONE = ("--instrumenter", "none")

PROGRAM = """
    def other(n):
        return n

    @cunei.region
    def work(n):
        other(n)
        if n:
            work(n - 1)

    @cunei.region("numbers")
    def numbers():
        yield 1
        try:
            yield 2
        finally:
            other(3)

    @cunei.region("failing")
    def fail():
        raise KeyError

    def main():
        other(0)
        work(2)
        stream = numbers()
        next(stream)
        next(stream)
        stream.close()
        for _ in range(2):
            try:
                fail()
            except KeyError:
                other(1)
        other(2)
"""

CALLS = [
    *[("work", "enter")] * 3,
    *[("work", "leave")] * 3,
    *(("numbers", "enter"), ("numbers", "yield"), ("numbers", "resume")),
    *(("numbers", "yield"), ("numbers", "resume"), ("numbers", "leave")),
    *[("fail", "enter"), ("fail", "leave")] * 2,
]


def calls(recorded):
    """All that was recorded of functions."""
    names = {each.qualname for each in recorded.process.functions.values()}
    return recorded.phases(*names) if names else []


@pytest.mark.core
def test_decorated_functions_are_all_that_is_recorded(tmp_path):
    recorded = record(tmp_path, PROGRAM + "    main()\n", *NONE)

    assert calls(recorded) == CALLS
    assert recorded.tags() == {"work": "work", "numbers": "numbers", "fail": "failing"}


@pytest.mark.core
def test_functions_that_were_decorated_before_the_recording(tmp_path):
    recorded = record(
        tmp_path,
        PROGRAM
        + """
    cunei.stop()
    with cunei.recording("inside", instrumenter="none"):
        main()
    with cunei.recording("again", instrumenter="none"):
        work(0)
    main()
""",
        *NONE,
    )

    assert calls(recorded) == []
    assert calls(type(recorded)(tmp_path / "inside")) == CALLS
    again = calls(type(recorded)(tmp_path / "again"))
    assert again == [("work", "enter"), ("work", "leave")]


def test_a_pause_is_one_for_decorated_functions_too(tmp_path):
    recorded = record(
        tmp_path,
        PROGRAM
        + """
    work(0)
    with cunei.disable():
        work(0)

        @cunei.region
        def late():
            other(4)
        late()
    late()
    work(0)
""",
        *NONE,
    )

    pair = [("work", "enter"), ("work", "leave")]
    late = [("late", "enter"), ("late", "leave")]
    assert [(name.split(".")[-1], phase) for name, phase in calls(recorded)] == [
        *pair,
        *late,
        *pair,
    ]


def test_a_function_that_is_decorated_after_it_was_called(tmp_path):
    recorded = record(
        tmp_path,
        """
    def twice():
        with cunei.region("inner"):
            pass

    twice()
    cunei.region("outer")(twice)
    twice()
""",
        *NONE,
    )

    assert recorded.regions() == "inner -inner inner -inner"
    assert recorded.phases("twice") == [("twice", "enter"), ("twice", "leave")]


def test_children_of_a_fork(tmp_path):
    recorded = record(
        tmp_path,
        PROGRAM
        + """
    import os
    pid = os.fork()
    work(0)
    if pid:
        os.waitpid(pid, 0)
    else:
        os._exit(0)
""",
        *NONE,
    )

    assert len(recorded.trace.processes) == 2
    for process in recorded.trace.processes:
        names = [each.qualname for each in process.functions.values()]
        assert names == ["work"]


@needs_monitoring
def test_only_their_code_has_events(tmp_path):
    recorded = record(
        tmp_path,
        PROGRAM
        + """
    import sys
    from sys import monitoring
    (tool,) = [i for i in range(6) if monitoring.get_tool(i) == "cunei"]
    events = monitoring.events
    here = monitoring.get_events(tool)
    print(here & (events.PY_START | events.PY_RETURN | events.PY_RESUME | events.CALL))
    print(monitoring.get_local_events(tool, other.__code__))
    print(monitoring.get_local_events(tool, work.__code__) & events.PY_START)
    codes = [work.__code__, numbers.__code__, fail.__code__]
    main()
    cunei.stop()
    print([i for i in range(6) if monitoring.get_tool(i)])
    monitoring.use_tool_id(tool, "test")
    print([monitoring.get_local_events(tool, code) for code in codes])
""",
        *NONE,
    )

    assert recorded.out.split("\n")[:2] == ["0", "0"]
    assert recorded.out.split("\n")[2:5] == ["1", "[]", "[0, 0, 0]"]


@needs_monitoring
def test_nothing_is_taken_where_nothing_is_decorated(tmp_path):
    recorded = record(
        tmp_path,
        """
    from sys import monitoring
    with cunei.region("block"):
        print([i for i in range(6) if monitoring.get_tool(i)])
""",
        *NONE,
    )

    assert recorded.out == "[]\n" and recorded.regions() == "block -block"


@needs_monitoring
def test_where_all_ids_are_taken_the_rest_is_recorded(tmp_path):
    recorded = record(
        tmp_path,
        """
    from sys import monitoring
    for i in range(6):
        monitoring.use_tool_id(i, "other")

    @cunei.region
    def work():
        cunei.mark("there")

    work()
    with cunei.region("block"):
        pass
""",
        *NONE,
    )

    assert recorded.tags() == {} and recorded.regions() == "block -block"
    assert recorded.marks() == [("there", None)]


TAKEN = """
    from sys import monitoring
    for i in range(6):
        monitoring.use_tool_id(i, "other")

    @cunei.region
    def work():
        pass

    work()
"""
NOT_RECORDED = "decorated functions were not recorded: other tools use all tool ids"


@needs_monitoring
def test_where_all_ids_are_taken_that_is_reported(cunei):
    cunei.write("app.py", "import cunei\n" + textwrap.dedent(TAKEN))

    done = cunei("record", "-o", "trace", *NONE, "app.py")
    report = cunei("report", "trace")
    (process,) = json.loads(cunei("report", "--json", "trace").stdout)["processes"]

    (line,) = [line for line in done.stderr.splitlines() if "decorated" in line]
    assert line.startswith(f"cunei: {NOT_RECORDED}") and "--instrumenter" not in line
    assert NOT_RECORDED in " ".join(report.stdout.split())
    assert process["decorated_lost"] is True
    (process,) = json.loads(cunei("info", "--json", "trace").stdout)["processes"]
    assert process["decorated_lost"] is True
    assert "none, missing in decorated functions" in cunei("info", "trace").stdout


@needs_monitoring
def test_the_processes_are_counted_where_there_are_several(cunei):
    fork = "import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n"
    cunei.write("app.py", "import cunei\n" + textwrap.dedent(TAKEN) + fork)

    done = cunei("record", "-o", "trace", *NONE, "app.py")

    assert "decorated functions of 2 processes were not recorded" in done.stderr


@needs_monitoring
def test_an_id_that_becomes_free_brings_all_of_them(cunei):
    cunei.write(
        "app.py",
        "import cunei\n"
        + textwrap.dedent(TAKEN)
        + textwrap.dedent("""
            monitoring.free_tool_id(4)

            @cunei.region
            def late():
                work()

            late()
        """),
    )

    done = cunei("record", "-o", "trace", *NONE, "app.py")

    assert done.returncode == 0 and "decorated" not in done.stderr
    trace = ctf.read(cunei.folder / "trace")
    assert (trace.count("work"), trace.count("late")) == (1, 1)
