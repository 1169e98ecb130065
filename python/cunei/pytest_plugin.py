# SPDX-License-Identifier: MIT
"""``pytest --cunei``: every test is a region of one trace.

pytest loads this in every run: it defines the options, and loads the rest only with
``--cunei`` or ``--cunei-dir``.  (PYTEST_DONT_REWRITE: it contains no assertions of
tests.)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest
del TYPE_CHECKING


def _count(text: str) -> int:
    import argparse

    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"needs a number from 0 on, not {text!r}")
    return int(text)


def _directory(text: str) -> str:
    import argparse

    if not text:
        raise argparse.ArgumentTypeError("needs the name of a directory")
    return text


def pytest_addoption(parser: "pytest.Parser") -> None:
    group = parser.getgroup("cunei", "recording by cunei")
    group.addoption(
        "--cunei",
        action="store_true",
        help="record the run, every test as a region, and show the slowest tests",
    )
    group.addoption(
        "--cunei-dir",
        type=_directory,
        metavar="DIR",
        help="the same, recorded to DIR (default cunei-pytest-PID)",
    )
    group.addoption(
        "--cunei-include",
        action="append",
        default=[],
        metavar="PATTERN",
        help="record only these functions, as 'cunei record --include' does",
    )
    group.addoption(
        "--cunei-exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="do not record these functions; pytest's own are never recorded",
    )
    group.addoption(
        "--cunei-filter",
        action="append",
        default=[],
        metavar="FILE",
        help="read patterns from a file, as 'cunei record --filter' does",
    )
    group.addoption(
        "--cunei-only-project",
        action="store_true",
        help="record only functions below the root directory, not the standard library "
        "or site-packages",
    )
    group.addoption(
        "--cunei-budget",
        metavar="PCT",
        help="limit the cost of recording to about PCT of run time, for example 5%%",
    )
    group.addoption(
        "--cunei-slowest",
        type=_count,
        default=10,
        metavar="N",
        help="show the N slowest tests (default 10); 0 shows all",
    )


def pytest_configure(config: "pytest.Config") -> None:
    is_wanted = config.getoption("cunei") or config.getoption("cunei_dir")
    if is_wanted and not config.getoption("collectonly"):  # else no test runs
        from cunei._pytest import Recorder

        config.pluginmanager.register(Recorder(config), "cunei-recorder")
