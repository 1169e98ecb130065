# SPDX-License-Identifier: MIT
"""A program behaves the same with and without cunei, however it is named."""

import shutil
import sys
import venv
import zipapp

import ctf
import pytest
from proof import ROOT

pytestmark = pytest.mark.core

PACKAGE = ROOT / "python"

SHOW = """\
import os, pickle, sys

class Thing:
    pass

main = sys.modules["__main__"]
print("name", __name__)
print("argv", sys.argv)
print("original", getattr(sys, "orig_argv", None))
print("path", sys.path[0])
print("flags", sys.flags)
print("options", sorted(sys._xoptions.items()), sys.warnoptions)
print("executable", sys.executable)
print("file", getattr(main, "__file__", None))
print("package", main.__package__, main.__spec__ and main.__spec__.name)
print("globals", sorted(name for name in vars(main) if name != "__cached__"))
print("class", type(pickle.loads(pickle.dumps(Thing()))).__module__)
print("input", sys.stdin.read())
print("directory", os.getcwd())
print("error", file=sys.stderr)
sys.exit(7)
"""


def test_the_program_is_the_same_in_every_form(cunei, form):
    words, plain = form(cunei)

    expected = cunei.run(*plain, stdin=None, input="typed")
    recorded = cunei("record", "-q", "-o", "trace", *words, stdin=None, input="typed")

    assert recorded.stdout == expected.stdout
    assert recorded.stderr == expected.stderr
    assert recorded.returncode == expected.returncode == 7
    assert "typed" in recorded.stdout
    assert list((cunei.folder / "trace").glob("*-*-*/metadata"))


def script(cunei):
    cunei.write("app.py", SHOW)
    words = ["app.py", "a b", "--json", "-o", "x"]
    return words, [python3(cunei), *words]


def script_elsewhere(cunei):
    path = cunei.write("inner/app.py", SHOW)
    return [path, "1"], [python3(cunei), path, "1"]


def script_behind_dashes(cunei):
    cunei.write("app.py", SHOW)
    return ["--", "app.py", "--", "-x"], [python3(cunei), "app.py", "--", "-x"]


def module(cunei):
    cunei.write("package/__init__.py", "")
    cunei.write("package/show.py", SHOW)
    words = ["-m", "package.show", "-q"]
    return words, [python3(cunei), *words]


def module_joined(cunei):
    cunei.write("show.py", SHOW)
    return ["-mshow", "-q"], [python3(cunei), "-mshow", "-q"]


def package(cunei):
    cunei.write("package/__init__.py", "")
    cunei.write("package/__main__.py", SHOW)
    return ["-m", "package"], [python3(cunei), "-m", "package"]


def code(cunei):
    words = ["-c", SHOW, "-o", "x"]
    return words, [python3(cunei), *words]


def named_python(cunei):
    cunei.write("app.py", SHOW)
    words = [cunei.python, "-X", "dev", "-BOW", "ignore", "-s", "-u", "app.py", "-S"]
    return words, words


def isolated_python(cunei):
    path = cunei.write("app.py", SHOW)
    words = [cunei.python, "-I", path]
    return words, words


def python_with_code(cunei):
    words = [cunei.python, "-Ec", SHOW, "x"]
    return words, words


def zip_application(cunei):
    cunei.write("source/__main__.py", SHOW)
    zipapp.create_archive(cunei.folder / "source", cunei.folder / "app.pyz")
    return ["app.pyz", "1"], [python3(cunei), "app.pyz", "1"]


def executable_zip_application(cunei):
    cunei.write("source/__main__.py", SHOW)
    target = cunei.folder / "tool"
    zipapp.create_archive(cunei.folder / "source", target, cunei.python)
    return ["./tool", "1"], ["./tool", "1"]


def folder(cunei):
    cunei.write("program/__main__.py", SHOW)
    return ["program", "1"], [python3(cunei), "program", "1"]


def file_without_ending(cunei):
    cunei.write("tool", SHOW)
    return ["./tool", "1"], [python3(cunei), "./tool", "1"]


def executable_script(cunei):
    cunei.write("tool", f"#!{cunei.python} -B\n{SHOW}", executable=True)
    return ["./tool", "-m", "1"], ["./tool", "-m", "1"]


def shell_script(cunei):
    cunei.write("app.py", SHOW)
    text = f'#!/bin/sh\n"{cunei.python}" -B app.py "$@"\n'
    cunei.write("run.sh", text, executable=True)
    return ["./run.sh", "1"], ["./run.sh", "1"]


def command_in_path(cunei):
    cunei.write("bin/show", f"#!{cunei.python}\n{SHOW}", executable=True)
    path = f"{cunei.folder}/bin:{cunei.environment['PATH']}"
    cunei.environment["PATH"] = path
    return ["show", "1"], ["show", "1"]


def chosen_python(cunei):
    cunei.write("app.py", SHOW)
    words = ["--python", cunei.python, "app.py", "1"]
    return words, [cunei.python, "app.py", "1"]


FORMS = [
    script,
    script_elsewhere,
    script_behind_dashes,
    module,
    module_joined,
    package,
    code,
    named_python,
    isolated_python,
    python_with_code,
    zip_application,
    executable_zip_application,
    folder,
    file_without_ending,
    executable_script,
    shell_script,
    command_in_path,
    chosen_python,
]


@pytest.fixture(params=FORMS, ids=lambda form: form.__name__)
def form(request):
    return request.param


def python3(cunei):
    """The Python that runs scripts by default: the one beside the executable."""
    return cunei.executable[: -len("cunei")] + "python3"


def test_a_script_is_given_to_another_python_when_asked(cunei):
    cunei.write("tool", f"#!/nowhere/python3\n{SHOW}", executable=True)

    recorded = cunei("record", "-q", "--python", cunei.python, "./tool", "1")

    assert recorded.returncode == 7
    if sys.version_info >= (3, 10):
        assert f"original ['{cunei.python}', './tool', '1']" in recorded.stdout


def test_python_m_cunei_records_with_that_python(cunei):
    cunei.write("app.py", "import sys; print(sys.executable)")

    words = [cunei.python, "-m", "cunei", "record", "-o", "trace", "app.py"]
    recorded = cunei.run(*words)

    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout.strip() == cunei.python
    assert "0 lost" in recorded.stderr


def test_child_pythons_record_into_folders_of_their_own(cunei):
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass'])"

    recorded = cunei("record", "-o", "trace", "-c", child)

    assert recorded.returncode == 0, recorded.stderr
    assert len(list((cunei.folder / "trace").glob("*-*-*/metadata"))) == 2


def test_the_trace_is_for_its_owner_alone(cunei):
    cunei("record", "-q", "-o", "trace", "-c", "pass")

    trace = cunei.folder / "trace"
    modes = {path.stat().st_mode & 0o777 for path in [trace, *trace.iterdir()]}
    inside = {path.stat().st_mode & 0o777 for path in trace.glob("*-*-*/*")}
    assert modes <= {0o700, 0o600}
    assert inside == {0o600}


def test_a_command_without_python_says_that_nothing_was_recorded(cunei):
    recorded = cunei("record", "-o", "trace", "true")

    assert recorded.returncode == 0
    assert recorded.stderr == (
        "cunei: nothing was recorded: 'true' started no Python with cunei installed\n"
    )
    assert not (cunei.folder / "trace").exists()


def test_the_line_at_the_end_shows_how_much_there_is(cunei):
    recorded = cunei("record", "-o", "trace", "-c", "def f(): pass\nf(); f(); f()")

    # One stack event, then <module> and three calls of f, each entered and left.
    assert recorded.stderr.startswith("cunei: 9 events, 4 calls, 0 lost, ")
    assert recorded.stderr.endswith(" in trace\n")
    assert recorded.stderr.count("\n") == 1


def test_recording_begins_with_the_program_unless_asked_otherwise(cunei):
    code = "pass"

    usual = cunei("record", "-o", "usual", "-c", code)
    early = cunei("record", "--startup", "-o", "early", "-c", code)

    assert "1 call," in usual.stderr
    assert "1 call," not in early.stderr
    assert "0 lost" in early.stderr


def test_environment_and_site_hooks_cost_nothing_when_off(cunei):
    code = "import sys; print([name for name in sys.modules if 'cunei' in name])"

    plain = cunei.run(cunei.python, "-c", code)

    # What a .start file names is imported, whether it has something to do or not.
    wanted = "[]" if sys.version_info < (3, 18) else "['cunei', 'cunei._boot']"
    assert plain.stdout.strip() == wanted


@pytest.mark.skipif(sys.version_info < (3, 15), reason="reads no .start files")
def test_a_start_file_arms_the_probe_once(cunei):
    venv.create(cunei.folder / "other", symlinks=True)
    (site,) = (cunei.folder / "other").glob("lib/python*/site-packages")
    for name in ("cunei.pth", "cunei.start"):
        shutil.copy(PACKAGE / name, site)
    where = "import cunei; print(cunei.__path__[0])"
    package = cunei.run(cunei.python, "-c", where).stdout.strip()
    (site / "cunei").symlink_to(package)
    code = "import cunei._boot as b, sys; print(b.outcome, 'pkgutil' in sys.modules)"

    python = cunei.folder / "other" / "bin" / "python"
    done = cunei("record", "-q", "--python", python, "-o", "trace", "-c", code)

    assert (done.returncode, done.stdout, done.stderr) == (0, " True\n", "")
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.is_balanced()
    # It was this file that did it: the line in cunei.pth needs no pkgutil.
    (site / "cunei.start").unlink()
    alone = cunei("record", "-q", "--python", python, "-o", "alone", "-c", code)
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, " False\n", "")


def test_closed_files_stay_closed(cunei):
    code = "import os; print(os.path.exists('/proc/self/fd/0'))"
    shell = 'exec "$0" "$@" <&-'

    plain = cunei.run("sh", "-c", shell, cunei.python, "-c", code)
    words = ["record", "-q", "-o", "trace", "-c", code]
    recorded = cunei.run("sh", "-c", shell, cunei.executable, *words)

    assert recorded.stdout == plain.stdout == "False\n"
    assert recorded.returncode == 0, recorded.stderr
