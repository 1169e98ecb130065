"""One module of CPython's own tests: run plain, run recorded, and both compared.

A run gives an outcome for each test case (passed, failed, error, skipped), and one for
the process itself, under the name `(process)`: whether it ended, crashed, took too
long, or changed what regrtest looks after, such as threads and files left behind.
"""

import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree

PROCESS = "(process)"
TIMED_OUT = "timed out"
# A trace of more than that is not written; the tests run on.
MAX_SIZE = "4G"
# What regrtest calls resources: none that needs a network, a screen or an hour.
RESOURCES = "subprocess,decimal"
# Between regrtest's own deadline, which shows where it hangs, and ours.
GRACE_S = 60

SUMMARY = re.compile(r"^cunei: ([\d ]+) events?, [\d ]+ calls?, ([\d ]+) lost", re.M)
# What regrtest prints at its deadline, before it exits with status 1.
DEADLINE = re.compile(r"^Timeout \(\d+:\d\d:\d\d\)!$", re.M)
# Exit statuses of regrtest with a complete report.
REPORTED = {0, 2, 4, 5}
ENV_CHANGED = 3

running = set()


@dataclasses.dataclass
class Module:
    """A line of tests/cpython/*.txt: a name and which of its tests to run."""

    name: str
    match: list = dataclasses.field(default_factory=list)
    ignore: list = dataclasses.field(default_factory=list)

    def options(self):
        chosen = [word for pattern in self.match for word in ("-m", pattern)]
        return chosen + [word for pattern in self.ignore for word in ("-i", pattern)]


@dataclasses.dataclass
class Run:
    outcomes: dict
    seconds: float
    output: str = ""
    events: int = 0
    lost: int = 0
    processes: int = 0
    cpu_s: float = 0.0

    def failures(self):
        bad = ("passed", "skipped", "ended")
        return {name for name, outcome in self.outcomes.items() if outcome not in bad}


@dataclasses.dataclass(frozen=True)
class Exemption:
    """A test whose outcome may change, and why; not even run where `left_out`."""

    module: str
    pattern: str
    left_out: bool
    reason: str
    # The series of CPython that it holds for; empty: all.
    series: tuple = ()

    def holds(self, series):
        return not self.series or series in self.series

    def covers(self, module, test):
        # A crash of the whole is covered by its name alone, not by `*`.
        if test == PROCESS and self.pattern != PROCESS:
            return False
        return module == self.module and fnmatch.fnmatchcase(test, self.pattern)


def read_modules(path):
    """The modules in a file: `NAME [PATTERN] [!PATTERN]` a line."""
    modules = []
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            match = [word for word in words[1:] if word[0] != "!"]
            ignore = [word[1:] for word in words[1:] if word[0] == "!"]
            modules.append(Module(words[0], match, ignore))
    return modules


def read_exemptions(path):
    """Paragraphs of `[!]MODULE PATTERN [SERIES]` lines and, indented, their reason."""
    exemptions = []
    for paragraph in re.split(r"\n\s*\n", path.read_text()):
        lines = [line for line in paragraph.splitlines() if line[:1] != "#"]
        reason = " ".join(line.strip() for line in lines if line[:1] == " ")
        for line in (line for line in lines if line[:1] not in ("", " ")):
            module, pattern, *series = line.split()
            left_out = module[0] == "!"
            name = module[1:] if left_out else module
            row = Exemption(name, pattern, left_out, reason, tuple(series))
            exemptions.append(row)
    return exemptions


def read_report(path):
    """The outcome of each test in a JUnit report; the worst of its subtests."""
    ranks = ["passed", "skipped", "failed", "error"]
    marks = {"skipped": "skipped", "failure": "failed", "error": "error"}
    outcomes = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        found = [marks[child.tag] for child in case if child.tag in marks]
        name = case.get("name")
        known = outcomes.get(name, "passed")
        outcomes[name] = max(known, *found, "passed", key=ranks.index)
    return outcomes


def describe_end(status, outcomes):
    """How a process ended that has this status, in words; None: it was stopped."""
    if status is None:
        return TIMED_OUT
    if status == ENV_CHANGED:
        return "environment changed"
    if status in REPORTED:
        bad = any(outcome in ("failed", "error") for outcome in outcomes.values())
        return "ended" if bad or status != 2 else "failed outside of tests"
    if status < 0:
        return f"crashed by {signal.Signals(-status).name}"
    return f"ended with {status}"


def environment(folder):
    ours = ("CUNEI_", "PYTHON", "PYTEST_", "COVERAGE")
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(ours)
    }
    return {**kept, "TMPDIR": str(folder)}


def execute(command, folder, log, timeout_s):
    """Run in a session of its own; the exit status, or None when it took too long."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running.add(process)
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            kill(process)
            process.wait()
            return None
        finally:
            running.discard(process)


def kill(process):
    """End the leader of a session, which was not waited for yet, and its group."""
    os.killpg(process.pid, signal.SIGKILL)


def stop():
    """End what runs in any thread."""
    for process in list(running):
        if process.poll() is None:
            kill(process)


def run(python, module, timeout_s, traces=None):
    """Run a module with that Python, recorded if there is a folder for traces."""
    # Short, since tests bind sockets in there.
    work = pathlib.Path(tempfile.mkdtemp(prefix="cp"))
    folder = work / "t"
    folder.mkdir()
    report, log, trace = work / "report.xml", work / "log", None
    words = ["-m", "test", f"--timeout={timeout_s}", f"--junit-xml={report}"]
    words += ["--fail-env-changed", "-u", RESOURCES, *module.options(), module.name]
    command = [str(python), *words]
    if traces:
        trace = traces / module.name
        shutil.rmtree(trace, ignore_errors=True)
        cunei = str(python.parent / "cunei")
        command = [cunei, "record", "-o", str(trace), "--max-size", MAX_SIZE, *command]
    began = time.monotonic()
    try:
        status = execute(command, folder, log, timeout_s + GRACE_S)
        seconds = time.monotonic() - began
        return collect(status, seconds, report, log, trace)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if trace:
            shutil.rmtree(trace, ignore_errors=True)


def collect(status, seconds, report, log, trace):
    output = log.read_text(errors="replace")
    outcomes = read_report(report) if report.exists() else {}
    if status == 1 and not report.exists() and DEADLINE.search(output):
        status = None
    outcomes[PROCESS] = describe_end(status, outcomes)
    result = Run(outcomes, seconds, output)
    found = SUMMARY.findall(result.output)
    if found:
        result.events, result.lost = (int(text.replace(" ", "")) for text in found[-1])
    if trace and trace.is_dir():
        result.processes = sum(entry.is_dir() for entry in trace.iterdir())
    if trace and not result.processes:
        outcomes[PROCESS] += ", not recorded"
    return result


def differences(runs, recorded):
    """Tests whose outcome when recorded is that of no plain run: name to both."""
    names = set(recorded.outcomes).union(*(run.outcomes for run in runs))
    found = {}
    for name in sorted(names):
        plain = {run.outcomes.get(name, "absent") for run in runs}
        outcome = recorded.outcomes.get(name, "absent")
        if outcome not in plain:
            found[name] = ("/".join(sorted(plain)), outcome)
    return found
