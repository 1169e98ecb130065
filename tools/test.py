"""Every check and test, with `N passed, N failed` as the last line.

Lint; gcc and clang builds with -Werror; unit tests, golden tests and fuzz corpora in
both, under ASan and UBSan in the second; the unit tests again under TSan; then the
end-to-end tests on each Python found, with cunei installed in an environment of
its own: all of them on the newest Python, those marked `core` on the others, among
them free-threaded ones.
"""

import subprocess
import sys
import tempfile

import builds
import environments
import lint
from builds import BUILD, Failed, run
from steps import Steps, count_junit

# What is said of a selection of the end-to-end tests, and the markers it is made by.
ALL = ("all tests", "not soak")
CORE = ("core tests", "core and not soak")


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


def is_refused(version):
    """Whether the probe does not know how to record in that Python."""
    python = BUILD / f"e2e-{version}" / "bin" / "python"
    code = "import cunei, sys; cunei.start(sys.argv[1]); cunei.stop()"
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(python, "-c", code, f"{folder}/trace")
        except Failed as error:
            return "cannot be recorded yet" in str(error)
    return False


def test_python(steps, version, path, only):
    """The end-to-end tests with that Python; whether they ran."""
    if not steps.run(f"install: Python {version}", install, version, path):
        return False
    name = f"end to end: Python {version}"
    if is_refused(version):
        steps.leave_out(name, "cunei cannot record in it yet")
        return False
    steps.run(name, end_to_end, version, only)
    return True


def show_coverage(covered, found):
    """Say which Pythons the end-to-end tests ran with, and which they did not."""
    print()
    for only in dict.fromkeys(covered.values()):
        versions = [version for version in covered if covered[version] == only]
        print(f"Pythons, {only:<15}{' '.join(versions)}")
    left = [version for version in found if version not in covered]
    if left:
        print(f"Pythons, not tested    {' '.join(left)}")
    absent = environments.absent(found)
    if absent:
        print(f"Pythons, not here      {' '.join(absent)}   (make pythons)")


def main():
    steps = Steps()
    for name, check in lint.CHECKS.items():
        steps.run(f"lint: {name}", check)
    for name, title in (("gcc", "gcc"), ("clang", "clang, ASan and UBSan")):
        if steps.run(f"build: {title}", compile, name):
            steps.run(f"unit tests: {title}", meson_test, name)
    if steps.run("build: clang, TSan", compile, "tsan"):
        steps.run("unit tests: TSan", thread_tests)
    found = environments.pythons()
    covered = {}
    for version, path in found:
        title, only = CORE if covered else ALL
        if test_python(steps, version, path, only):
            covered[version] = title
    show_coverage(covered, [version for version, _ in found])
    return steps.finish()


if __name__ == "__main__":
    sys.exit(main())
