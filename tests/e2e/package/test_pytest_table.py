# SPDX-License-Identifier: MIT
"""The table of pytest --cunei: what it shows of a test, in terminals of any width."""

import pytest
from cunei._pytest_table import lines


def region(test, total_ms, **functions):
    return {
        "name": test,
        "count": 1,
        "max_ns": total_ms * 1_000_000,
        "total_ns": total_ms * 1_000_000,
        "functions": [
            {"qualname": None if name == "rest" else name, "self_ns": ms * 1_000_000}
            for name, ms in functions.items()
        ],
    }


FOLDER = "tests/of_a_package/in_a_folder"
SLOW = region(
    f"{FOLDER}/test_shared.py::test_all_of_these[a b]",
    100,
    first_function_of_a_longish_name=40,
    second_function_of_a_longish_name=30,
    third_function_of_a_longish_name=20,
    fourth_function_of_a_longish_name=10,
)
QUICK = region("test_it.py::test_quick", 10, rest=8, prepare=2)


def shown(width, *regions, limit=10):
    return lines(list(regions), limit, width, "pytest itself")


def test_a_wide_terminal_shows_three_functions_and_the_whole_path():
    assert shown(210, QUICK, SLOW) == [
        f"    time  {'test':69}  spent in",
        f"  100 ms  {FOLDER}/test_shared.py::test_all_of_these[a b]  "
        "first_function_of_a_longish_name 40 %, "
        "second_function_of_a_longish_name 30 %, "
        "third_function_of_a_longish_name 20 %, others 10 %",
        f" 10.0 ms  {'test_it.py::test_quick':69}  pytest itself 80 %, prepare 20 %",
    ]


def test_a_narrower_one_shows_less_of_the_path_and_then_two_functions():
    assert shown(194, SLOW)[1] == (
        "  100 ms  …/in_a_folder/test_shared.py::test_all_of_these[a b]  "
        "first_function_of_a_longish_name 40 %, "
        "second_function_of_a_longish_name 30 %, "
        "third_function_of_a_longish_name 20 %, others 10 %"
    )
    assert shown(150, SLOW)[1] == (
        "  100 ms  …/test_shared.py::test_all_of_these[a b]  "
        "first_function_of_a_longish_name 40 %, "
        "second_function_of_a_longish_name 30 %, others 30 %"
    )


def test_a_narrow_one_has_lines_for_the_functions():
    assert shown(80, QUICK, SLOW) == [
        "    time  test, and what it spent its time in",
        f"  100 ms  {FOLDER}/test_shared.py::test_all_of_these[a b]",
        "            first_function_of_a_longish_name 40 %,",
        "            second_function_of_a_longish_name 30 %, others 30 %",
        " 10.0 ms  test_it.py::test_quick",
        "            pytest itself 80 %, prepare 20 %",
    ]


@pytest.mark.parametrize("width", [52, 60, 80, 100, 120, 160, 240])
def test_names_are_whole_in_every_width(width):
    table = shown(width, QUICK, SLOW)

    assert max(map(len, table)) <= width
    words = " ".join(table).split()
    assert sum(word.startswith("…") for word in words) <= 1
    assert any(word.endswith("::test_all_of_these[a") for word in words)
    for function in SLOW["functions"][:2]:
        assert function["qualname"] in words


def test_values_of_parameters_may_be_cut():
    table = shown(80, region(f"a/test_it.py::test_text[{'x' * 200}]", 1))

    assert table[1:] == [f" 1.00 ms  test_text[{'x' * 58}…]"]


def test_the_rest_is_counted():
    assert shown(80, QUICK, SLOW, limit=1)[-1] == "          … and 1 more"
    assert shown(80) == ["No test was recorded."]
