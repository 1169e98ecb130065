"""Every test and quick check, with `N passed, N failed` as the last line.

Lint without clang-tidy; gcc and clang builds with -Werror; unit tests and fuzz corpora
in both, under ASan and UBSan in the second; the unit tests again under TSan; then the
end-to-end and golden tests on each Python found, with cunei installed in an environment
of its own: all of them on the newest Python, those marked `core` on the others, among
them free-threaded ones.  Last, a sample of CPython's own tests on one of them.
"""

import concurrent.futures
import os
import signal
import subprocess
import sys

import builds
import cpython
import environments
import lint
from builds import BUILD, Failed, run
from steps import Count, Steps, count_junit

# Of end-to-end tests; some of them measure times.
MOST_WORKERS = 4
MARKERS = {"all tests": "not soak", "core tests": "core and not soak"}


def counted(report, *command, **variables):
    """Run a test runner that leaves a JUnit report, and count what is in it."""
    report.unlink(missing_ok=True)
    try:
        output = run(*command, **variables)
    except Failed as error:
        if report.exists():
            error.count = count_junit(report)
        raise
    if not report.exists():
        raise Failed(f"{output}\nno test ran\n")
    return count_junit(report)


def compile(name):
    builds.compile(name)


def meson_test(name, *options, before=()):
    folder = BUILD / name
    command = ["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs"]
    report = folder / "meson-logs" / "testlog.junit.xml"
    return counted(report, *before, *command, *options)


def thread_tests():
    # TSan of older compilers does not know every address space layout.
    fixed = ["setarch", "-R"]
    works = subprocess.run([*fixed, "true"], stderr=subprocess.DEVNULL).returncode == 0
    return meson_test("tsan", "--suite", "unit", before=fixed if works else ())


def with_more(pythons):
    """The first one, which all tests run on, needs more than the others."""
    return [
        (*python, "newest") if python is pythons[0] else python for python in pythons
    ]


def install_all(steps, pythons):
    """Install cunei for each, several at once; returns those that succeeded."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        began = [
            (version, pool.submit(environments.install, "e2e", version, path, *more))
            for version, path, *more in with_more(pythons)
        ]
        return [
            version
            for version, installed in began
            if steps.run(f"install: Python {version}", finish, installed)
        ]


def finish(installed):
    installed.result()


def end_to_end(version, markers):
    report = BUILD / f"e2e-{version}.xml"
    python = BUILD / f"e2e-{version}" / "bin" / "python"
    command = [python, "-m", "pytest", "-q", "tests", f"--junitxml={report}"]
    # The tests of a file stay together: some share a slow fixture.
    parallel = ["-n", str(min(os.cpu_count(), MOST_WORKERS)), "--dist", "loadfile"]
    return counted(report, *command, *parallel, "-m", markers, timeout=1800)


def sample_tests(version):
    """A sample of CPython's own tests, plain and recorded; a module counts as one."""
    python = BUILD / f"e2e-{version}" / "bin" / "python"
    results = cpython.compare_sample(version, python, os.cpu_count())
    bad = [result for result in results if result.differing]
    count = Count(passed=len(results) - len(bad), failed=len(bad))
    if bad:
        error = Failed("\n".join(result.explain() for result in bad))
        error.count = count
        raise error
    return count if results else Count(skipped=1)


def test_pythons(steps):
    """All tests on the first Python, core tests on the others."""
    pythons = environments.one_of_each()
    titles = {version: "not tested" for version, _ in pythons}
    tested = install_all(steps, pythons)
    for version in tested:
        titles[version] = "core tests" if version != tested[0] else "all tests"
        name = f"end to end: Python {version}"
        steps.run(name, end_to_end, version, MARKERS[titles[version]])
    if tested:
        version = min(tested, key=cpython.sample_rank)
        steps.run(f"CPython's tests: Python {version}", sample_tests, version)
    show_coverage(titles)


def show_coverage(titles):
    """Print which Pythons were tested and how, and which are missing."""
    print()
    for title in dict.fromkeys(titles.values()):
        versions = [version for version in titles if titles[version] == title]
        print(f"Pythons, {title:<13}{' '.join(versions)}")
    absent = environments.absent(titles)
    if absent:
        print(f"Pythons, missing      {' '.join(absent)} (make pythons installs most)")


def main():
    # SIGTERM stops the running step, as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    steps = Steps()
    for name, check in lint.QUICK.items():
        steps.run(f"lint: {name}", check)
    for name, title in (("gcc", "gcc"), ("clang", "clang, ASan and UBSan")):
        if steps.run(f"build: {title}", compile, name):
            steps.run(f"unit tests: {title}", meson_test, name)
    if steps.run("build: clang, TSan", compile, "tsan"):
        steps.run("unit tests: TSan", thread_tests)
    test_pythons(steps)
    return steps.finish()


if __name__ == "__main__":
    sys.exit(main())
