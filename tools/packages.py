"""The test suites of large packages, plain and recorded: results must be the same.

    make packages                        on the default Python
    make packages ARGS="--python 3.12"   on another

The packages come from the registry as source distributions, which hold their tests, in
the versions below, into build/packages.  Each suite runs once unmeasured, then
plain and recorded; outcomes are compared test by test, as `make cpython` does, and the
times as a ratio.  So is the CPU time of all processes, ours included, which is more
reliable on a busy machine.

Then programs with pandas, scikit-learn and Sphinx are recorded: the function with the
slow loop has to be on the first screen.
"""

import argparse
import dataclasses
import resource
import shutil
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree

import environments
import regrtest
from builds import BUILD, ROOT, path_with, run

SOURCES = BUILD / "packages"
TIMEOUT_S = 1800
# What pytest ends with when it ran all tests, whether they passed or not.
RAN = {"ended with 0", "ended with 1"}


@dataclasses.dataclass
class Package:
    name: str
    version: str
    tests: str
    options: list = dataclasses.field(default_factory=list)


# Those that need duckdb, pandas or setuptools.
WITHOUT = [
    f"--ignore=tests/test_{name}.py" for name in ("executor", "optimizer", "sqlglotc")
]

# Where tests are random they get a seed, where they have a deadline they lose it.
PACKAGES = [
    Package("attrs", "26.1.0", "tests", ["-p", "no:randomly", "--hypothesis-seed=0"]),
    Package("sqlglot", "30.30.0", "tests", WITHOUT),
]


def fetch(python, package):
    """The folder with the sources of a package, which are fetched once."""
    folder = SOURCES / f"{package.name}-{package.version}"
    if folder.is_dir():
        return folder
    SOURCES.mkdir(parents=True, exist_ok=True)
    pip = [python, "-m", "pip", "download", "--quiet", "--no-deps"]
    wanted = f"{package.name}=={package.version}"
    # The wheel is tested; the sources have the tests.
    run(*pip, "--no-binary", ":all:", "--dest", SOURCES, wanted)
    # Pythons of before 2023 have no filters.
    careful = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(f"{folder}.tar.gz") as archive:
        archive.extractall(SOURCES, **careful)
    return folder


def install(version, path):
    python = environments.install("packages", version, path)
    wanted = [f"{package.name}=={package.version}" for package in PACKAGES]
    pip = [python, "-m", "pip", "install", "--quiet"]
    run(*pip, *wanted, PATH=path_with(python.parent))
    return python


def read_report(path):
    marks = {"skipped": "skipped", "failure": "failed", "error": "error"}
    outcomes = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        found = [marks[child.tag] for child in case if child.tag in marks]
        name = f"{case.get('classname')}.{case.get('name')}"
        outcomes[name] = found[0] if found else "passed"
    return outcomes


def cpu_seconds():
    """Of all processes that were started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_suite(python, package, work, recorded=False):
    """Run the tests in a copy that holds nothing but them, so that what is installed
    is tested."""
    report, trace = work / "report.xml", work / "trace"
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *package.options]
    command = [str(python), *words, f"--junitxml={report}", package.tests]
    if recorded:
        cunei = str(python.parent / "cunei")
        limit = ["--max-size", regrtest.MAX_SIZE]
        command = [cunei, "record", "-o", str(trace), *limit, *command]
    log = work / "log"
    began, cpu_began = time.monotonic(), cpu_seconds()
    status = regrtest.execute(command, work, log, TIMEOUT_S)
    seconds, cpu_s = time.monotonic() - began, cpu_seconds() - cpu_began
    outcomes = read_report(report) if report.exists() else {}
    report.unlink(missing_ok=True)
    shutil.rmtree(trace, ignore_errors=True)
    outcomes[regrtest.PROCESS] = f"ended with {status}"
    output = log.read_text(errors="replace")
    return regrtest.Run(outcomes, seconds, output, cpu_s=cpu_s)


def compare(python, package):
    folder = fetch(python, package)
    work = SOURCES / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copytree(folder / package.tests, work / package.tests)
    for name in ("conftest.py", "pyproject.toml"):
        if (folder / name).exists():
            shutil.copy(folder / name, work)
    run_suite(python, package, work)
    plain = [run_suite(python, package, work)]
    recorded = run_suite(python, package, work, recorded=True)
    found = regrtest.differences(plain, recorded)
    if found:
        plain.append(run_suite(python, package, work))
        found = regrtest.differences(plain, recorded)
    shutil.rmtree(work, ignore_errors=True)
    show(package, plain[0], recorded, found)
    return not found and recorded.outcomes[regrtest.PROCESS] in RAN


def show(package, plain, recorded, found):
    cases = len(recorded.outcomes) - 1
    failing = sum(
        outcome in ("failed", "error") for outcome in recorded.outcomes.values()
    )
    ratio = recorded.seconds / plain.seconds
    cpu = f"CPU {plain.cpu_s:.1f} s and {recorded.cpu_s:.1f} s"
    summary = regrtest.SUMMARY.findall(recorded.output)
    events = f", {summary[-1][0]} events, {summary[-1][1]} lost" if summary else ""
    print(
        f"{package.name} {package.version}: {cases} tests, {failing} fail, "
        f"{plain.seconds:.1f} s plain, {recorded.seconds:.1f} s recorded, "
        f"×{ratio:.2f}; {cpu}, ×{recorded.cpu_s / plain.cpu_s:.2f}{events}",
        flush=True,
    )
    for name, (before, after) in found.items():
        print(f"    differs: {name}: plain {before}, recorded {after}", flush=True)
    if found or recorded.outcomes[regrtest.PROCESS] not in RAN:
        print(recorded.output[-4000:], flush=True)


def find_hot_spots(python):
    """The end-to-end test for which make test installs no large packages."""
    tests = ROOT / "tests" / "e2e" / "report" / "test_hot_spots.py"
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    return subprocess.run(command, cwd=ROOT, timeout=TIMEOUT_S).returncode == 0


def main():
    parser = argparse.ArgumentParser(prog="make packages ARGS=", add_help=False)
    parser.add_argument("--python", help="3.13, 3.13.0 or a path")
    parser.add_argument("--only", nargs="+", metavar="PACKAGE")
    options = parser.parse_args()

    for version, path in environments.pythons():
        known = {version, environments.series(version), path}
        if not options.python or options.python in known:
            python = install(version, path)
            print(f"Python {version}", flush=True)
            chosen = [
                package
                for package in PACKAGES
                if not options.only or package.name in options.only
            ]
            passed = [compare(python, package) for package in chosen]
            if not options.only:
                passed.append(find_hot_spots(python))
            return 0 if all(passed) else 1
    print(f"there is no Python {options.python} here", file=sys.stderr)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.SubprocessError as error:
        sys.exit(f"cunei: {error}")
