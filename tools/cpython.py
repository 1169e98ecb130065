"""CPython's own tests, plain and recorded: the same tests must fail, case by case.

    make cpython                                      every Python that has the tests
    make cpython ARGS="--python 3.13 --jobs 2"        one of them, two modules at a time
    make cpython ARGS="--python 3.13 --only test_gc"  some modules, run again
    make cpython ARGS="--fresh"                       forget earlier results
    make cpython ARGS="--as-installed"                without a new build of cunei

tests/cpython/modules.txt lists the modules; tests/cpython/exemptions.txt the tests that
may change, each with its reason.  Results are kept in build/cpython: an
interrupted run continues where it was, and a new build of cunei repeats only the
recorded runs.  A difference counts unless the plain side, run again,
shows the same outcome: then the test is flaky, and named as such.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import pathlib
import resource
import signal
import subprocess
import sys

import environments
import regrtest
from builds import BUILD, ROOT
from regrtest import PROCESS, Run

LISTS = ROOT / "tests" / "cpython"
MODULES = LISTS / "modules.txt"
SAMPLE = LISTS / "sample.txt"
EXEMPTIONS = LISTS / "exemptions.txt"
RESULTS = BUILD / "cpython"
# All tests of these were checked; the sample runs on the first that is installed.
SAMPLED = ["3.13", "3.12", "3.11"]
TIMEOUT_S = 900
# How often the plain side runs again, to recognise flaky tests.
AGAIN = 3
# Bytes of output that are kept of a run that differs.
KEPT_OUTPUT = 20_000


@dataclasses.dataclass
class Result:
    module: str
    verdict: str  # same, flaky, differs, empty, too slow
    plain: list
    recorded: Run
    differing: dict
    flaky: dict
    exempt: dict

    def row(self):
        cases = len(self.recorded.outcomes) - 1
        ratio = self.recorded.seconds / max(self.plain[0].seconds, 0.001)
        times = f"{self.plain[0].seconds:7.1f} s {self.recorded.seconds:7.1f} s"
        recorded = f"{self.recorded.processes:5} {self.recorded.events:12,}"
        counts = f"{cases:6} {len(self.recorded.failures()):4}"
        return f"{self.module:<34}{counts} {times} ×{ratio:5.2f} {recorded}  " + (
            self.verdict.upper() if self.verdict == "differs" else self.verdict
        )

    def details(self):
        for title, tests in {"differs": self.differing, "flaky": self.flaky}.items():
            for name, (plain, recorded) in tests.items():
                yield f"    {title}: {name}: plain {plain}, recorded {recorded}"
        if self.exempt:
            yield f"    exempt: {len(self.exempt)} tests, see tests/cpython"

    def explain(self):
        """All details of a difference."""
        return "\n".join([self.module, *self.details(), self.recorded.output])


HEAD = f"{'module':<34} tests fail     plain  recorded        procs       events"


class Comparison:
    """Compares modules under one Python, and keeps the results."""

    def __init__(self, python, version, timeout_s=TIMEOUT_S, remember=True):
        self.python = python
        self.folder = RESULTS / version
        self.timeout_s = timeout_s
        self.remember = remember
        self.stopped = False
        exemptions = regrtest.read_exemptions(EXEMPTIONS)
        series = environments.series(version)
        self.exemptions = [row for row in exemptions if row.holds(series)]
        self.build = fingerprint(python)
        (self.folder / "traces").mkdir(parents=True, exist_ok=True)

    def existing(self, modules):
        """Those that this Python has, without the tests that are not to be run."""
        code = "import os, test; print(*os.listdir(os.path.dirname(test.__file__)))"
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True)
        names = {pathlib.Path(name).stem for name in done.stdout.split()}
        if "libregrtest" not in names:
            return []
        return [self.narrow(module) for module in modules if module.name in names]

    def narrow(self, module):
        rows = (row for row in self.exemptions if row.module == module.name)
        left_out = [row.pattern for row in rows if row.left_out]
        return dataclasses.replace(module, ignore=[*module.ignore, *left_out])

    def file(self, module, side):
        options = " ".join(module.options())
        chosen = f"-{hashlib.sha256(options.encode()).hexdigest()[:8]}"
        return self.folder / f"{module.name}{chosen if options else ''}.{side}.json"

    def known(self, module):
        """What an earlier run with this build found of the module, or None."""
        file = self.file(module, "recorded")
        if not self.remember or not file.exists():
            return None
        saved = json.loads(file.read_text())
        plain = self.known_plain(module)
        if saved["build"] != self.build or not plain:
            return None
        recorded = Run(**saved["run"])
        return self.judge(module, plain, recorded)

    def known_plain(self, module):
        file = self.file(module, "plain")
        if not file.exists():
            return []
        return [Run(**run) for run in json.loads(file.read_text())]

    def save(self, module, side, data):
        """Written whole or not at all, whenever we are interrupted."""
        file = self.file(module, side)
        scratch = file.with_suffix(".tmp")
        scratch.write_text(json.dumps(data, indent=1))
        scratch.replace(file)

    def compare(self, module):
        """Run both sides of a module, the plain one only where it is not known."""
        plain = self.known_plain(module) if self.remember else []
        if not plain:
            plain = [self.run(module)]
        if plain[0].outcomes[PROCESS] == regrtest.TIMED_OUT:
            return Result(module.name, "too slow", plain, plain[0], {}, {}, {})
        recorded = self.run(module, self.folder / "traces")
        for _ in range(AGAIN):
            if self.unexplained(module, plain, recorded):
                plain.append(self.run(module))
        self.save(module, "plain", [dataclasses.asdict(run) for run in plain])
        run = dataclasses.asdict(recorded)
        self.save(module, "recorded", {"build": self.build, "run": run})
        return self.judge(module, plain, recorded)

    def stop(self):
        """What still runs is ended, and nothing of it kept."""
        self.stopped = True
        regrtest.stop()

    def run(self, module, traces=None):
        if self.stopped:
            raise KeyboardInterrupt
        run = regrtest.run(self.python, module, self.timeout_s, traces)
        if self.stopped:
            raise KeyboardInterrupt
        run.output = run.output[-KEPT_OUTPUT:]
        return run

    def unexplained(self, module, plain, recorded):
        found = regrtest.differences(plain, recorded)
        return {
            test: outcomes
            for test, outcomes in found.items()
            if not any(row.covers(module.name, test) for row in self.exemptions)
        }

    def judge(self, module, plain, recorded):
        """What differs from every plain run, from the first one, and may differ."""
        differing = self.unexplained(module, plain, recorded)
        at_first = self.unexplained(module, plain[:1], recorded)
        flaky = {test: at_first[test] for test in at_first.keys() - differing.keys()}
        found = regrtest.differences(plain, recorded)
        exempt = {test: found[test] for test in found.keys() - differing.keys()}
        verdict = "differs" if differing else "flaky" if flaky else "same"
        if verdict == "same" and plain[0].outcomes.keys() == {PROCESS}:
            verdict = "empty"
        return Result(module.name, verdict, plain, recorded, differing, flaky, exempt)


def fingerprint(python):
    """Changes with the cunei that is installed for that Python."""
    code = "import sysconfig; print(sysconfig.get_path('platlib'))"
    library = subprocess.run([python, "-c", code], capture_output=True, text=True)
    package = pathlib.Path(library.stdout.strip()) / "cunei"
    digest = hashlib.sha256()
    files = [file for file in package.rglob("*") if file.suffix != ".pyc"]
    for file in sorted([python.parent / "cunei", *files]):
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()


def compare_all(comparison, modules, jobs, anew=False):
    """A Result for each module as it comes; those that were known come first."""
    waiting = []
    for module in modules:
        known = None if anew else comparison.known(module)
        if known:
            yield known
        else:
            waiting.append(module)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(comparison.compare, module) for module in waiting]
        try:
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            comparison.stop()
            raise


def show(results, count):
    """Print rows as they come; returns them all."""
    shown = []
    for result in results:
        shown.append(result)
        print(f"[{len(shown):3}/{count}] {result.row()}", flush=True)
        for line in result.details():
            print(line, flush=True)
    return shown


def summarize(version, results):
    ran = [row for row in results if row.verdict not in ("empty", "too slow")]
    plain = sum(result.plain[0].seconds for result in ran)
    recorded = sum(result.recorded.seconds for result in ran)
    cases = sum(len(result.recorded.outcomes) - 1 for result in ran)
    failing = sum(len(result.recorded.failures()) for result in ran)
    lost = sum(result.recorded.lost for result in ran)
    events = sum(result.recorded.events for result in ran)
    processes = sum(result.recorded.processes for result in ran)
    print(f"\nPython {version}: {len(ran)} modules, {cases} tests, {failing} fail")
    print(f"  recorded: {processes} processes, {events:,} events, {lost:,} lost")
    print(f"  {plain:.0f} s plain, {recorded:.0f} s recorded")
    slow = [row.module for row in results if row.verdict == "too slow"]
    if slow:
        print(f"  too slow on this machine, even plain: {' '.join(slow)}")
    exempt = sum(len(result.exempt) for result in ran)
    print(f"  {exempt} tests may change and do, see docs/explanation/validation.md")
    show_tests("are flaky", {row.module: row.flaky for row in ran})
    show_tests(
        "end differently when recorded", {row.module: row.differing for row in ran}
    )


def show_tests(title, tests):
    """How many there are, and their names by module."""
    print(f"  {sum(map(len, tests.values()))} tests {title}")
    for module, names in tests.items():
        if names:
            print(f"    {module}: {' '.join(sorted(names))}")


def chosen_pythons(names):
    """The Pythons of that version or series, or all of them."""
    for version, path in environments.pythons():
        if not names or {version, environments.series(version), path} & set(names):
            yield version, path


def refuse(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(2)


def check_pythons(options):
    """The Pythons to compare, as (version, path); each that was named is there."""
    there = environments.pythons()
    names = {name for row in there for name in (*row, environments.series(row[0]))}
    for name in options.python or []:
        if name not in names:
            versions = ", ".join(version for version, _ in there)
            refuse(f"there is no Python {name} here; there are {versions}")
    chosen = list(chosen_pythons(options.python))
    for version, _ in chosen if options.as_installed else []:
        if not python_of(version).exists():
            refuse(
                f"cunei was not installed for the tests of Python {version} before; "
                "without --as-installed it is"
            )
    return chosen


def python_of(version):
    return BUILD / f"cpython-{version}" / "bin" / "python"


def check_compared(options, compared, known):
    """A run that compared nothing, or not what was named, has not succeeded."""
    missing = [name for name in options.only or [] if name not in known]
    if missing:
        refuse(f"no Python that was looked at has the tests {' '.join(missing)}")
    if not compared:
        refuse("nothing was compared: no Python that was looked at has such tests")


def compare_python(version, python, options):
    """Results for its modules, and the names of those that it has."""
    comparison = Comparison(python, version, options.timeout, not options.fresh)
    modules = regrtest.read_modules(SAMPLE if options.sample else MODULES)
    if options.only:
        named = {module.name: module for module in modules}
        modules = [named.get(name, regrtest.Module(name)) for name in options.only]
    modules = comparison.existing(modules)
    if not modules:
        print(f"Python {version} has none of these tests\n")
        return [], set()
    print(f"Python {version}: {len(modules)} modules\n      {HEAD}", flush=True)
    found = compare_all(comparison, modules, options.jobs, bool(options.only))
    results = show(found, len(modules))
    summarize(version, results)
    return results, {module.name for module in modules}


def sample_rank(version):
    """The least for the Python that the sample is to run on."""
    known = environments.series(version) in SAMPLED
    return SAMPLED.index(environments.series(version)) if known else len(SAMPLED)


def compare_sample(version, python, jobs):
    """Results for the modules of tests/cpython/sample.txt; the plain side is kept."""
    set_up_process()
    comparison = Comparison(python, version)
    modules = comparison.existing(regrtest.read_modules(SAMPLE))
    return list(compare_all(comparison, modules, jobs, anew=True))


def at_least_one(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a number from 1, not '{text}'")
    return int(text)


def parse_options():
    parser = argparse.ArgumentParser(prog="make cpython ARGS=", add_help=False)
    parser.add_argument("--python", action="append", help="3.13, 3.13.0 or a path")
    parser.add_argument("--only", nargs="+", metavar="MODULE")
    parser.add_argument("--jobs", type=at_least_one, default=1)
    parser.add_argument(
        "--timeout", type=at_least_one, default=TIMEOUT_S, metavar="SECONDS"
    )
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--as-installed", action="store_true")
    return parser.parse_args()


def set_up_process():
    """What tests inherit is the same however we were started."""
    # A shell's background jobs ignore it, and then no test is interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Tests crash Pythons on purpose.
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def compare_pythons(options):
    """The exit status."""
    results, known = [], set()
    for version, path in check_pythons(options):
        if not options.as_installed:
            environments.install("cpython", version, path)
        found, names = compare_python(version, python_of(version), options)
        results += found
        known |= names
    compared = [row for row in results if row.verdict not in ("empty", "too slow")]
    check_compared(options, compared, known)
    return 1 if any(result.differing for result in results) else 0


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    set_up_process()
    return compare_pythons(parse_options())


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\nstopped; the next run continues here", flush=True)
        sys.exit(130)
