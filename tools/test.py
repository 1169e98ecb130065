"""Every check and test, with `N passed, N failed` as the last line.

Lint; gcc and clang builds with -Werror; unit tests, golden tests and fuzz corpora in
both, under ASan and UBSan in the second; the unit tests again under TSan; then the
end-to-end tests on each Python found, with cunei installed in an environment of
its own: all of them on the newest Python, those marked `core` on the others, among
them free-threaded ones.
"""

import concurrent.futures
import signal
import subprocess
import sys

import builds
import environments
import lint
from builds import BUILD, Failed, run
from steps import Steps, count_junit

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


def install(version, path):
    environments.install("e2e", version, path)


def end_to_end(version, only):
    report = BUILD / f"e2e-{version}.xml"
    python = BUILD / f"e2e-{version}" / "bin" / "python"
    marker = ["-m", only]
    command = [python, "-m", "pytest", "-q", "tests", f"--junitxml={report}", *marker]
    return counted(report, *command, timeout=1800)


def test_python(steps, version, path, title):
    """The end-to-end tests with that Python; what became of them, in words."""
    if not steps.run_beside(f"install: Python {version}", install, version, path):
        return "not tested"
    name = f"end to end: Python {version}"
    steps.run_beside(name, end_to_end, version, MARKERS[title])
    return title


def test_pythons(steps):
    """All tests on the first Python, core tests on the others, two at a time."""
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        try:
            for version, path in environments.pythons():
                title = "core tests" if jobs else "all tests"
                jobs[version] = pool.submit(test_python, steps, version, path, title)
            concurrent.futures.wait(jobs.values())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            builds.stop_all()
            raise
    show_coverage({version: job.result() for version, job in jobs.items()})


def show_coverage(titles):
    """Say which Pythons were tested and how, and which are not here."""
    print()
    for title in dict.fromkeys(titles.values()):
        versions = [version for version in titles if titles[version] == title]
        print(f"Pythons, {title:<14}{' '.join(versions)}")
    absent = environments.absent(titles)
    if absent:
        print(f"Pythons, not here      {' '.join(absent)}   (make pythons brings them)")


def main():
    # What runs is stopped with us, as it is by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    steps = Steps()
    for name, check in lint.CHECKS.items():
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
