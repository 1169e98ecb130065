# SPDX-License-Identifier: MIT
"""Which processes are armed by `cunei arm`, and what it says if it cannot."""

import subprocess

import pytest
from attaching import (
    SERVE,
    Program,
    armed,
    attached,
    calls,
    environment,
    interrupt,
    running,
    status,
)


@pytest.mark.core
def test_a_python_that_is_started_by_an_armed_one_is_armed_as_well(cunei):
    script = cunei.write("child.py", SERVE)
    start = (
        "import subprocess; child = subprocess.Popen("
        f"[sys.executable, {str(script)!r}], stdin=subprocess.PIPE, "
        "stdout=subprocess.PIPE, text=True)"
    )
    tell = "child.stdin.write({!r}); child.stdin.flush(); say(child.stdout.readline())"
    with armed(cunei) as program:
        program.do(start)
        program.do(tell.format("say('ready')\n"))
        parent = program.pid
        program.pid = program.get("child.pid")
        assert status(program, cunei)["armed_by"] == "cunei arm"
        program.pid = parent
        program.do("child.kill(); child.communicate() and None")


@pytest.mark.core
def test_a_variable_arms_as_the_command_does(cunei):
    script = cunei.write("app.py", SERVE)
    variables = environment(cunei, CUNEI_RECORD="v=1 arm=1")
    with running([cunei.python, script], variables, cwd=cunei.folder) as process:
        program = Program(process, variables)
        program.do("work(1)")
        with attached(program, cunei) as controller:
            program.do("work(4)")
            interrupt(controller)

    assert calls(cunei, "leaf") == 4


@pytest.mark.core
def test_a_process_that_ends_at_that_moment_is_no_trouble(cunei):
    """Whichever comes first: it is recorded, or a sentence says that it has ended."""
    for i in range(12):
        with armed(cunei) as program:
            command = [cunei.executable, "attach", program.pid, "-o", f"trace{i}"]
            with running(command, program.environment, cwd=cunei.folder) as controller:
                program.begin(f"sum(range({i * 200_000})) and None")
                code, out, err = program.end()
                _, said = controller.communicate(timeout=30)

        assert (code, out, err) == (0, "done\n", "")
        assert controller.returncode in (0, 1)
        lines = said.splitlines()
        assert lines and all(line.startswith("cunei: ") for line in lines), said


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "missing program"),
        (["nowhere.py"], "nowhere.py"),
        (["--python", "/nowhere/python", "app.py"], "/nowhere/python"),
        (["--include", "x", "app.py"], "--include"),
    ],
)
def test_a_wrong_command_is_refused_in_a_sentence(cunei, words, said):
    cunei.write("app.py", "print('runs')\n")
    done = cunei("arm", *words)

    assert done.returncode in (1, 2) and said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("status_wanted", [0, 3])
def test_the_status_of_the_program_is_that_of_the_command(cunei, status_wanted):
    cunei.write("app.py", f"import sys; print(sys.argv); sys.exit({status_wanted})")
    done = cunei("arm", "app.py", "--one", "two", env=environment(cunei))

    assert done.returncode == status_wanted
    assert (done.stdout, done.stderr) == ("['app.py', '--one', 'two']\n", "")


def test_no_such_process_is_said_in_a_sentence(cunei):
    with subprocess.Popen(["true"]) as process:
        process.wait()
    done = cunei("attach", process.pid)

    assert done.returncode == 1
    assert done.stderr.startswith(f"cunei: there is no process {process.pid}") or (
        done.stderr.startswith(f"cunei: There is no process {process.pid}")
    )


def test_a_process_that_is_no_python_is_named_as_such(cunei):
    with subprocess.Popen(["sleep", "60"]) as process:
        done = cunei("attach", process.pid)
        process.kill()

    assert done.returncode == 1 and "is not a Python" in done.stderr


def test_a_controller_cannot_attach_itself(cunei):
    done = cunei.run("sh", "-c", f'exec "{cunei.executable}" attach $$')

    assert done.returncode == 2 and "is this cunei itself" in done.stderr
