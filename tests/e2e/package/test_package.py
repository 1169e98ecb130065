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


def test_a_recording_is_added_to_what_is_there(cunei):
    cunei.write(
        "app.py",
        "import cunei\n"
        "def during(): pass\n"
        "for _ in range(2):\n"
        "    with cunei.record('trace'): during()\n",
    )

    cunei.run(cunei.python, "app.py")
    assert calls(cunei)["during"] == 2
    assert "2 recordings of app.py" in cunei("report", "trace").stdout
    cunei.run(cunei.python, "app.py")
    assert calls(cunei)["during"] == 4
    assert "app.py and 1 more process" in cunei("report", "trace").stdout


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("'t', max_size='0'", "ValueError: max_size must be positive, not 0"),
        (
            "'t', max_size='much'",
            "ValueError: max_size must be a size such as '500M' or '2G', not 'much'",
        ),
        (
            "'t', max_size=[]",
            "TypeError: max_size must be an int or a str such as '2G', not list",
        ),
        (
            "'t', only_project=3",
            "TypeError: only_project must be True or False, not 3",
        ),
        (
            "'t', c_calls='yes'",
            "TypeError: c_calls must be True or False, not 'yes'",
        ),
        (
            "'t', children=None",
            "TypeError: children must be True or False, not None",
        ),
        (
            "'t', max_size=True",
            "TypeError: max_size must be an int or a str such as '2G', not bool",
        ),
        (
            "'t', budget=True",
            "ValueError: budget must be a percentage from 0.1 to 100, "
            "such as 5 or '5%', not True",
        ),
        (
            r"'t', exclude='a\0b'",
            r"ValueError: a pattern cannot contain a NUL character: 'a\x00b'",
        ),
        (
            r"'t', lines=[':\ud800']",
            r"ValueError: a pattern cannot contain a lone surrogate: ':\ud800'",
        ),
        ("''", "ValueError: directory must not be empty"),
        ("b''", "ValueError: directory must not be empty"),
    ],
)
def test_meaningless_arguments_are_reported(cunei, words, message):
    code = f"""\
import cunei
try: cunei.start({words})
except (TypeError, ValueError) as error: print(f"{{type(error).__name__}}: {{error}}")
else: print("recording")
"""

    assert run(cunei, code).stdout == message + "\n"


def test_sizes_are_those_of_the_command_line(cunei):
    sizes = {
        "1": 1, "7b": 7, "1.5K": 1536, ".5kib": 512, "1M": 2**20, "2mb": 2**21,
        "1e3": 1000, "1G": 2**30, "1GiB": 2**30, "3T": 3 * 2**40, 5: 5,
        2**64: 2**63 - 1,
    }  # fmt: skip
    wrong = ["", "M", "1 M", " 1M", "1M ", "1_0", "-1M", "0x10", "1e", "1I", "1BB"]
    code = f"""\
import cunei
print([cunei._bytes(size) for size in {list(sizes)}])
for size in {wrong}:
    try: print(size, cunei._bytes(size))
    except ValueError: pass
"""

    assert run(cunei, code).stdout == f"{list(sizes.values())}\n"
    for size in wrong:
        done = cunei("record", "--max-size", size, "-o", "trace", "-c", "pass")
        assert done.returncode == 2, size


def test_a_limit_as_text_holds(cunei):
    code = (
        "import cunei\n"
        "def f(): pass\n"
        "with cunei.recording('trace', max_size='1M'):\n"
        "    for _ in range(200_000): f()\n"
    )
    run(cunei, code)

    assert sum(p.stat().st_size for p in cunei.folder.glob("trace/*/s*")) <= 2**20


@pytest.mark.parametrize("children", [True, False])
def test_forked_children_may_be_left_out(cunei, children):
    code = f"""\
import cunei, os
def during(): pass
def child():
    during()
    print(cunei.is_recording(), flush=True)
    os._exit(0)
with cunei.recording("trace", children={children}):
    if os.fork() == 0:
        child()
    os.wait()
    during()
"""

    assert run(cunei, code).stdout == f"{children}\n"
    assert calls(cunei)["during"] == (2 if children else 1)
    assert len(list(cunei.folder.glob("trace/*-*"))) == (2 if children else 1)


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
def test_a_bad_environment_does_no_harm(cunei, value):
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
