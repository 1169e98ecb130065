# SPDX-License-Identifier: MIT
"""The report of functions fits on the terminal, if nothing else was asked for."""

import pytest
from screen import Terminal


def program(functions):
    return "".join(
        f"def function_{i}():\n    return sum(range({2000 + i}))\nfunction_{i}()\n"
        for i in range(functions)
    )


def shown(cunei, *words, rows):
    command = [cunei.executable, *words]
    environment = {**cunei.environment, "PAGER": "cat"}
    with Terminal(command, rows=rows, cwd=cunei.folder, env=environment) as terminal:
        assert terminal.end() == 0
        return terminal.raw.decode().splitlines()


def count_rows(lines):
    return sum("function_" in line and "app.py:" in line for line in lines)


@pytest.fixture
def app(cunei):
    cunei.write("app.py", program(40))
    return cunei


@pytest.mark.parametrize("rows", [24, 30])
def test_all_of_it_is_on_the_screen_when_the_program_has_ended(app, rows):
    lines = shown(app, "run", "app.py", rows=rows)

    assert rows - 4 < len(lines) < rows, lines
    assert count_rows(lines) >= 10, lines


def test_a_high_terminal_has_25_rows(app):
    assert count_rows(shown(app, "run", "app.py", rows=60)) == 24  # and <module>


def test_a_table_of_few_functions_is_cut_as_well(cunei):
    cunei.write("app.py", program(18))

    lines = shown(cunei, "run", "app.py", rows=20)

    assert len(lines) < 20 and count_rows(lines) >= 10, lines


def test_a_low_terminal_has_8_rows(app):
    assert count_rows(shown(app, "run", "app.py", rows=9)) == 7


RAISES = """
import gc, threading
gate = threading.Lock()
gate.acquire()
threading.Thread(target=gate.__enter__, daemon=True).start()
for i in range(3):
    gc.collect()
    try:
        function_1(None)
    except TypeError:
        pass
try:
    max(function_1() for i in range(3) if 1 / 0)
except ZeroDivisionError:
    pass
"""


@pytest.mark.parametrize(("rows", "has_notes"), [(16, False), (60, True)])
def test_a_low_terminal_has_fewer_notes(cunei, rows, has_notes):
    cunei.write("app.py", program(30) + RAISES)

    lines = shown(cunei, "run", "app.py", rows=rows)

    labels = {line.split(" ")[0] for line in lines}
    some = {"raised", "gc", "open"}
    assert labels & some == (some if has_notes else set())


def test_a_limit_that_was_asked_for_holds(app):
    assert count_rows(shown(app, "run", "--limit", "30", "app.py", rows=24)) == 29


def test_a_stored_trace_fits_too(app):
    assert app("record", "-q", "-o", "trace", "app.py").returncode == 0

    lines = shown(app, "report", "trace", rows=24)

    assert len(lines) < 24, lines
    assert "--limit 0" in "".join(lines), lines


def test_in_a_file_there_are_25_rows(app):
    assert app("run", "-o", "report", "app.py").returncode == 0

    assert count_rows((app.folder / "report").read_text().splitlines()) == 24
