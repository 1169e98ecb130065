# SPDX-License-Identifier: MIT
"""What goes with no instrumenter, Python or tool: a sentence, as early as it can be."""

import sys

import pytest
from proof import needs_monitoring

NEW = sys.version_info >= (3, 12)
VERSION = f"3.{sys.version_info[1]}"


def beside(cunei, text):
    """The environment of a Python in which another tool starts first."""
    cunei.write("site/sitecustomize.py", text)
    return {"PYTHONPATH": str(cunei.folder / "site")}


@pytest.mark.core
@pytest.mark.parametrize("hook", ["profile", "trace"])
def test_a_hook_that_is_taken_at_the_start_is_refused_before_the_program(cunei, hook):
    env = beside(cunei, f"import sys\nsys.set{hook}(lambda *_: None)\n")
    words = ["-o", "trace", "-c", "print(1)"]

    done = cunei("record", "--instrumenter", hook, *words, env=env)

    assert (done.returncode, done.stdout) == (1, "")
    sentence = f"cannot be recorded with --instrumenter {hook}: another tool has set"
    assert sentence in done.stderr
    assert "use another --instrumenter" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (cunei.folder / "trace").exists()

    assert cunei("record", "-q", *words, env=env).stdout == "1\n"


@needs_monitoring
def test_without_a_tool_id_another_instrumenter_is_named_and_works(cunei):
    text = "import sys\nfor i in range(6): sys.monitoring.use_tool_id(i, 'other')\n"
    env = beside(cunei, text)
    words = ["-o", "trace", "-c", "print(1)"]

    done = cunei("record", *words, env=env)
    examined = cunei("doctor", env=env)

    assert (done.returncode, done.stdout) == (1, "")
    assert examined.returncode == 1
    for printed in (done.stderr, examined.stdout):
        assert "or use --instrumenter profile" in printed
    done = cunei("record", "--instrumenter", "profile", *words, env=env)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "1 call" in done.stderr


@needs_monitoring
def test_an_audit_hook_that_forbids_is_not_reported_as_another_tool(cunei):
    text = """
import sys

def forbid(name, args):
    if name == "sys.monitoring.register_callback":
        raise RuntimeError("forbidden")

sys.addaudithook(forbid)
"""
    words = ["record", "-o", "trace", "-c", "print(1)"]
    done = cunei(*words, env=beside(cunei, text))
    assert done.stdout == "1\n"
    assert "an audit hook may forbid that" in done.stderr, done.stderr
    assert "other tools" not in done.stderr


def script(cunei):
    return cunei.write("run.sh", f"#!/bin/sh\n{cunei.python} -c 1\n", executable=True)


@pytest.mark.core
def test_a_command_that_starts_another_python_is_reported_all_the_same(cunei):
    lacking = "frame" if NEW else "monitoring"
    versions = "3.11 or older" if NEW else "3.12 or newer"

    done = cunei("record", "-o", "trace", "--instrumenter", lacking, script(cunei))

    printed = done.stderr
    assert printed.startswith("cunei: nothing was recorded: ")
    assert f"--instrumenter {lacking} needs CPython {versions}" in printed
    assert f"is CPython {VERSION}; use " in printed
    assert "profile, trace" in printed
    assert len(printed.splitlines()) == 1


@pytest.mark.core
@pytest.mark.skipif(NEW, reason="what is left out is free there")
@pytest.mark.parametrize("command", ["record", "run"])
def test_what_the_python_of_a_command_lacks_is_reported_at_the_end(cunei, command):
    done = cunei(command, "--exclude", "json", script(cunei))

    lines = [line for line in done.stderr.splitlines() if "on CPython" in line]
    (line,) = lines
    assert line.startswith(f"cunei: on CPython {VERSION}, excluded functions still")


@pytest.mark.core
@pytest.mark.parametrize("hook", ["profile", "trace"])
def test_a_hook_that_the_program_took_is_reported_at_the_end(cunei, hook):
    text = f"import sys\nsys.set{hook}(lambda *_: None)\n"

    done = cunei("record", "--instrumenter", hook, "-c", text)

    counts, taken = done.stderr.splitlines()[-2:]
    assert " 0 lost" in counts
    assert taken.startswith("cunei: 1 thread was not recorded to the end")
    assert "another --instrumenter" in taken


@pytest.mark.parametrize("option", ["include", "exclude", "args", "return", "lines"])
def test_nothing_goes_with_none_that_is_about_functions(cunei, option):
    words = ["--instrumenter", "none", "--" + option, ":f", "-c", "print(1)"]

    done = cunei("record", "-o", "trace", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert f"--{option} cannot be used with --instrumenter none" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_report_of_none_says_how_long_it_took_and_what_there_is_to_see(cunei):
    sleeps = "import time\ntime.sleep(0.05)"
    cunei("record", "-q", "-o", "trace", "--instrumenter", "none", "-c", sleeps)

    shown = cunei("report", "trace")
    rows = cunei("report", "trace", "--processes").stdout

    title, after = shown.stdout.split("\n\n", 1)
    assert " ms wall" in title and " CPU" in title and "thread" not in title
    (following,) = (line for line in after.splitlines() if line.startswith("next"))
    assert following.split() == ["next", "cunei", "report", "trace", "--processes"]
    assert " +0 ns " in rows


API = """
import cunei
try:
    cunei.start("trace", {arguments})
except {error} as error:
    print(error)
print(cunei.is_recording())
"""

REFUSED = {
    "instrumenter='none', args=':f'": (
        "ValueError",
        "args cannot be used with instrumenter 'none', which records no calls; use "
        "only one of them",
    ),
    "instrumenter='none', return_=':f'": ("ValueError", "return_ cannot be used with"),
    "instrumenter='none', exclude='x'": ("ValueError", "exclude cannot be used with"),
    "instrumenter='profile', lines=':f'": (
        "ValueError",
        "lines cannot be used with instrumenter 'profile'; use ",
    ),
    "instrumenter='trace', c_calls=True": (
        "ValueError",
        "c_calls cannot be used with instrumenter 'trace'; use ",
    ),
    "lines=''": ("ValueError", "lines must not contain an empty pattern"),
    "include=['']": ("ValueError", "include must not contain an empty pattern"),
    "lines=3": ("TypeError", "lines must be a pattern or a list of patterns, not int"),
    "args=b'f'": (
        "TypeError",
        "args must be a pattern or a list of patterns, not bytes",
    ),
    "lines=[3]": ("TypeError", "a pattern in lines must be a str, not int"),
    "lines='re:('": ("ValueError", "lines 're:(' is not a valid pattern: "),
    "lines='re:((a{99}){99}){99}'": (
        "ValueError",
        "lines 're:((a{99}){99}){99}' is not a valid pattern: it needs too much memory",
    ),
    "exclude='re:('": ("ValueError", "exclude 're:(' is not a valid pattern: "),
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_the_package_refuses_what_the_command_line_does(cunei, arguments):
    error, sentence = REFUSED[arguments]

    done = cunei.run(cunei.python, "-c", API.format(arguments=arguments, error=error))

    assert (done.returncode, done.stderr) == (0, "")
    message, recording = done.stdout.splitlines()
    assert message.startswith(sentence)
    assert recording == "False"


@pytest.mark.core
@pytest.mark.skipif(NEW, reason="every instrumenter may be there")
def test_the_package_names_what_is_there(cunei):
    arguments = "instrumenter='monitoring'"

    done = cunei.run(
        cunei.python, "-c", API.format(arguments=arguments, error="ValueError")
    )

    assert done.stdout.splitlines() == [
        "instrumenter 'monitoring' needs CPython 3.12 or newer, and this is CPython "
        f"{VERSION}; use profile, trace, frame or none",
        "False",
    ]
