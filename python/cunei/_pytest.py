# SPDX-License-Identifier: MIT
"""Recording a run of pytest; loaded only with ``--cunei`` or ``--cunei-dir``.

With pytest-xdist the tests run in worker processes, which all record to the directory
of the main process.  (PYTEST_DONT_REWRITE)
"""

import itertools
import json
import os
import re

import pytest

import cunei
from cunei import _pytest_table
from cunei._command import ask, report
from cunei._probe import (
    _tool_begin,
    _tool_end,
    _tool_resume,
    _tool_suspend,
    name_process,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any
del TYPE_CHECKING

# The modules that run the tests: they are not tested, and make many calls.
_RUNNERS = (
    "_pytest",
    "pytest",
    "pluggy",
    "xdist",
    "execnet",
    "__channelexec__",  # xdist's code in a worker
    "cunei",
)

# Excluded from each recording made here; traces of pytest are recognized by it.
_OWN = "cunei._pytest"

_MOST_BYTES = 4095  # of a region's name


# The files of a trace: in the folder of each process, and beside these.
_BESIDE = re.compile(r"\.size|\.refused-.*")
_INSIDE = re.compile(r"metadata|s\d+|\.(live|process|(metadata|\.live|\.process)\.new)")


def _find_earlier(path: str) -> "list[str]":
    """The folders of an earlier recording by 'pytest --cunei'.

    ValueError: the directory contains something else, which must stay.
    """
    try:
        processes = json.loads(ask("info", "--json", path))["processes"]
    except (cunei.Error, ValueError):
        processes = []
    folders = [os.path.basename(each["folder"]) for each in processes]
    for entry in sorted(os.listdir(path)):
        inside = os.listdir(os.path.join(path, entry)) if entry in folders else []
        if entry not in folders and not _BESIDE.fullmatch(entry):
            raise ValueError(f"contains {entry!r}")
        if not all(map(_INSIDE.fullmatch, inside)):
            raise ValueError(f"contains other files in {entry!r}")
    for each in processes:
        if each["state"] == "recording":
            raise ValueError(f"is in use by process {each['pid']}, which is recording")
    if not processes or any(f"-{_OWN}" not in each["patterns"] for each in processes):
        raise ValueError("contains a trace that 'pytest --cunei' did not record")
    return folders


def _remove(path: str, folders: "list[str]") -> None:
    """Remove the earlier recording after the new one has started.

    This calls no Python function, so that the new recording does not contain it.
    """
    for folder in folders:
        for name in os.listdir(f"{path}/{folder}"):
            os.unlink(f"{path}/{folder}/{name}")
        os.rmdir(f"{path}/{folder}")


def _new_directory() -> str:
    """A name that nothing has: another user may have guessed the usual one."""
    usual = path = os.path.abspath(f"cunei-pytest-{os.getpid()}")
    for number in itertools.count(1):
        if not os.path.lexists(path):
            break
        path = f"{usual}-{number}"
    return path


def _choose_directory(wanted: "str | None") -> str:
    """The directory to record to; only earlier recordings by pytest are replaced."""
    if not wanted:
        return _new_directory()
    path = os.path.abspath(wanted)
    try:
        entries = os.listdir(path)
    except FileNotFoundError:
        return path
    except OSError as error:
        sentence = f"cannot record to {wanted!r}: {error.strerror}"
        raise pytest.UsageError(f"--cunei-dir {sentence}") from None
    try:
        if entries:
            _find_earlier(path)
    except (OSError, ValueError) as error:
        raise pytest.UsageError(
            "--cunei-dir needs an empty directory, or one of an earlier 'pytest "
            f"--cunei', but {wanted!r} {error}; choose another"
        ) from None
    return path


class Recorder:
    """The plugin of one process: the only one, xdist's controller, or a worker."""

    def __init__(self, config: "pytest.Config") -> None:
        self._config = config
        self._pid = os.getpid()
        self._has_started = False
        self._tests: set[str] = set()  # the names of their regions
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        self._is_worker = worker is not None
        self._worker = ""
        self._directory = ""
        if worker is not None:
            self._worker = worker.get("workerid", "")
            self._directory = worker.get("cunei", "")
        elif not cunei.is_recording():
            self._directory = _choose_directory(config.getoption("cunei_dir"))

    def _start(self) -> None:
        options = self._config.option
        include = list(options.cunei_include)
        exclude = list(options.cunei_exclude)
        if options.cunei_only_project:
            root = os.path.realpath(self._config.rootpath)
            include.append(f"in-project:{root}")
        if not options.cunei_include:
            exclude.extend(_RUNNERS)
        exclude.append(_OWN)
        # An xdist worker may have another working directory.
        started_in = self._config.invocation_params.dir
        filters = [os.path.join(started_in, path) for path in options.cunei_filter]
        cunei.start(
            self._directory,
            include=include,
            exclude=exclude,
            filter=filters,
            budget=options.cunei_budget,
        )
        self._has_started = True

    def _stop(self) -> None:
        # A child process that a test forked may also get here.
        if self._has_started and os.getpid() == self._pid:
            self._has_started = False
            cunei.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if self._directory and not cunei.is_recording():
            self._start_or_fail()
        if self._worker:
            name_process(self._worker)

    def _start_or_fail(self) -> None:
        path = self._directory
        try:
            is_first = not self._is_worker and os.path.isdir(path) and os.listdir(path)
            earlier = _find_earlier(path) if is_first else []
            # Remove the earlier trace only when the new recording has started.
            self._start()
            _remove(path, earlier)
        except (cunei.Error, OSError, ValueError) as error:
            self._stop()
            sentence = f"--cunei cannot record: {error}"
            if not self._is_worker:
                raise pytest.UsageError(sentence) from None
            self._config.issue_config_time_warning(pytest.PytestWarning(sentence), 2)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: "Any") -> None:
        """An xdist worker is about to start."""
        node.workerinput["cunei"] = self._directory

    def pytest_report_header(self) -> str:
        if self._directory:
            return f"cunei: recording to {self._shown()}"
        return "cunei: the tests are regions of the current recording"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: "pytest.Item"
    ) -> "Generator[None, object, None]":
        self._begin(item.nodeid)
        yield
        self._end(item.nodeid)

    # The innermost wrapper: what other plugins do in their wrappers is pytest's time.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(
        self, item: "pytest.Item"
    ) -> "Generator[None, object, None]":
        _resume(item.nodeid)
        yield
        _suspend(item.nodeid)

    pytest_runtest_setup = pytest_runtest_teardown = pytest_runtest_call

    def _begin(self, name: str) -> None:
        _tool_begin(name)
        _suspend(name)

    def _end(self, name: str) -> None:
        # A test may have ended the recording.
        if cunei.is_recording():
            _resume(name)
            _tool_end(name)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember the name: other regions are the program's own."""
        name = nodeid.encode(errors="surrogateescape")[:_MOST_BYTES]
        self._tests.add(name.decode(errors="ignore"))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._stop()

    def pytest_unconfigure(self) -> None:
        self._stop()

    def _rest(self) -> str:
        """The name of the time in which no function was recorded."""
        options = self._config.option
        selects = options.cunei_include or options.cunei_filter
        if selects or options.cunei_only_project or options.cunei_exclude:
            return "not recorded"
        return "pytest itself"

    def _shown(self) -> str:
        """The directory, relative to where pytest was started."""
        path = os.path.relpath(self._directory, self._config.invocation_params.dir)
        return self._directory if path.startswith("..") else path

    def pytest_terminal_summary(
        self, terminalreporter: "pytest.TerminalReporter"
    ) -> None:
        if not self._directory or os.getpid() != self._pid:
            return
        self._stop()
        terminalreporter.section("slowest tests, recorded by cunei")
        try:
            regions = report(self._directory, "--regions")["regions"]
            for line in _pytest_table.lines(
                [each for each in regions if each["name"] in self._tests],
                self._config.option.cunei_slowest,
                terminalreporter._tw.fullwidth,
                self._rest(),
            ):
                terminalreporter.write_line(line)
        except (cunei.Error, ValueError, KeyError) as error:
            terminalreporter.write_line(f"cunei: cannot read the recording: {error}")
        shown = self._shown()
        terminalreporter.write_line(
            f"next: cunei report {shown} --regions | --tree | --callers NAME, "
            f"or cunei export {shown} --to html"
        )


def _resume(name: str) -> None:
    """What follows belongs to the test: fixtures, and the test itself."""
    _tool_resume(name)


def _suspend(name: str) -> None:
    """What follows belongs to pytest: reports, and other plugins."""
    _tool_suspend(name)
