# SPDX-License-Identifier: MIT
"""The Python package: recording part of a process, and nothing before it is asked."""

import json
import sys

import pytest

pytestmark = pytest.mark.core

PART = """\
import cunei

def before(): pass
def during(): pass
def after(): pass

before()
with cunei.recording("trace"):
    assert cunei.is_recording()
    during()
    during()
assert not cunei.is_recording()
after()
"""


def run(cunei, code, **options):
    result = cunei.run(cunei.python, "-c", code, **options)
    assert result.returncode == 0, result.stderr
    return result


def calls(cunei, directory="trace"):
    result = cunei("report", "--json", directory)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    return {f["qualname"]: f["calls"] for f in report["functions"]}


def test_a_part_of_a_program_is_recorded(cunei):
    run(cunei, PART)

    seen = calls(cunei)
    assert seen["during"] == 2
    assert "before" not in seen and "after" not in seen


def test_start_and_stop(cunei):
    code = (
        "import cunei, pathlib\n"
        "def f(): pass\n"
        "cunei.stop()\n"
        "cunei.start(pathlib.Path('trace'))\n"
        "f()\n"
        "cunei.stop()\n"
        "cunei.stop()\n"
        "f()\n"
    )

    run(cunei, code)

    assert calls(cunei)["f"] == 1


def test_each_recording_gets_a_folder_of_its_own(cunei):
    code = (
        "import cunei\n"
        "def f(): pass\n"
        "for _ in range(3):\n"
        "    with cunei.recording('trace'):\n"
        "        f()\n"
    )

    run(cunei, code)

    assert len(list((cunei.folder / "trace").glob("*-*-*"))) == 3
    assert calls(cunei)["f"] == 3


def test_patterns_select_what_is_recorded(cunei):
    code = (
        "import cunei\n"
        "def one(): pass\n"
        "def two(): pass\n"
        "with cunei.recording('trace', include='__main__', exclude=['re:two$']):\n"
        "    one()\n"
        "    two()\n"
    )

    run(cunei, code)

    seen = calls(cunei)
    assert seen["one"] == 1
    assert "two" not in seen


@pytest.mark.parametrize(
    ("start", "part"),
    [
        ("cunei.start('/proc/trace')", "/proc/trace"),
        ("cunei.start('t', include=['re:('])", "re:("),
        ("cunei.start('t'); cunei.start('t')", "already"),
    ],
)
def test_what_cannot_be_recorded_is_an_error_with_a_sentence(cunei, start, part):
    code = f"import cunei\ntry: {start}\nexcept cunei.Error as error: print(error)\n"

    result = run(cunei, code)

    assert part in result.stdout


def test_a_size_must_be_positive(cunei):
    code = (
        "import cunei\n"
        "try: cunei.start('trace', max_size=0)\n"
        "except ValueError as error: print(error)\n"
    )

    assert run(cunei, code).stdout == "max_size must be positive, not 0\n"


def test_importing_starts_nothing(cunei):
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import cunei\n"
        "print(sorted(set(sys.modules) - before), cunei.is_recording())\n"
        "tools = getattr(sys, 'monitoring', None)\n"
        "print([tools and tools.get_tool(i) for i in range(6)])\n"
    )

    result = run(cunei, code)

    loaded = "[]" if sys.version_info >= (3, 18) else "['cunei']"
    assert result.stdout.startswith(loaded)
    assert result.stdout.endswith(f"False\n{[None] * 6}\n")


def test_versions_agree(cunei):
    code = "import cunei, cunei._probe as p; print(cunei.__version__, p.__version__)"

    version = cunei("--version").stdout.split()[1]

    assert run(cunei, code).stdout == f"{version} {version}\n"


@pytest.mark.parametrize("value", ["nonsense", "v=1 dir=relative", "", "/proc/trace"])
def test_a_bad_environment_harms_nobody(cunei, value):
    result = run(cunei, "print('fine')", env={"CUNEI_RECORD": value})

    assert (result.stdout, result.stderr) == ("fine\n", "")


def test_the_bootstrap_says_why_it_failed_when_asked(cunei):
    variables = {"CUNEI_RECORD": "nonsense", "CUNEI_DEBUG": "1"}

    result = run(cunei, "print('fine')", env=variables)

    assert result.stdout == "fine\n"
    assert result.stderr.startswith("cunei: not recording: ")


def test_a_directory_alone_in_the_environment_records(cunei):
    variables = {"CUNEI_RECORD": str(cunei.folder / "trace")}

    run(cunei, "def f(): pass\nf()", env=variables)

    assert calls(cunei)["f"] == 1
