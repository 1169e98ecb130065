# SPDX-License-Identifier: MIT
"""``pytest --cunei[=DIR]``: every test is a region of one trace.

pytest loads this in every run: it names the options, and no more is loaded unless one
asks for a recording.  (PYTEST_DONT_REWRITE: there is no assertion of a test here.)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest
del TYPE_CHECKING


def _count(text: str) -> int:
    import argparse

    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"wants a number from 0 on, not {text!r}")
    return int(text)


def pytest_addoption(parser: "pytest.Parser") -> None:
    group = parser.getgroup("cunei", "recording by cunei")
    group.addoption(
        "--cunei",
        nargs="?",
        const="",
        default=None,
        metavar="DIR",
        help="record the run into DIR, else into cunei-pytest-PID: every test is a "
        "region; write --cunei=DIR, or put --cunei behind the tests",
    )
    group.addoption(
        "--cunei-include",
        action="append",
        default=[],
        metavar="PATTERN",
        help="record these functions alone, as 'cunei record --include'",
    )
    group.addoption(
        "--cunei-exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave these functions out; pytest's own are left out already",
    )
    group.addoption(
        "--cunei-filter",
        action="append",
        default=[],
        metavar="FILE",
        help="the same from a file, as 'cunei record --filter'",
    )
    group.addoption(
        "--cunei-only-project",
        action="store_true",
        help="record the functions below the root directory, and nothing of the "
        "standard library or site-packages",
    )
    group.addoption(
        "--cunei-budget",
        metavar="PCT",
        help="let recording cost about that share of the time",
    )
    group.addoption(
        "--cunei-slowest",
        type=_count,
        default=10,
        metavar="N",
        help="show so many of the slowest tests; 0: all",
    )


def pytest_configure(config: "pytest.Config") -> None:
    is_wanted = config.getoption("cunei") is not None
    if is_wanted and not config.getoption("collectonly"):  # else no test runs
        from cunei._pytest import Recorder

        config.pluginmanager.register(Recorder(config), "cunei-recorder")
