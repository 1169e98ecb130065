# SPDX-License-Identifier: MIT
"""cunei filter: what it proposes leaves out what it says, and saves what it says."""

import json
import re
import sys

import pytest

PROGRAM = """\
import re

class Vector:
    def __getitem__(self, index): return index

def odd(): pass
odd.__code__ = odd.__code__.replace({odd})

def work(vector):
    for i in range(30_000):
        vector[i]
    for i in range(20_000):
        odd()
    for i in range(4_000):
        re.compile("x")
    return sum(i * i for i in range(20))

def main():
    for _ in range(3):
        work(Vector())

main()
"""

# What means something in a pattern, in a filter file, or is a file's name.
ODD = 'co_qualname="o*[d] #?/!\\\\n.py"' if sys.version_info >= (3, 11) else ""


@pytest.fixture(scope="module")
def recorded(shared):
    shared.write("app.py", PROGRAM.format(odd=ODD))
    done = shared("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    return shared


def calls(cunei, directory):
    report = json.loads(cunei("report", "--json", directory).stdout)
    return {f"{f['module']}:{f['qualname']}": f["calls"] for f in report["functions"]}


def events(cunei, directory):
    """Of calls: each piece of a function between two suspensions has two."""
    report = json.loads(cunei("report", "--json", "--limit", "0", directory).stdout)
    return sum(2 * (f["calls"] + f["resumes"]) for f in report["functions"])


def test_the_file_leaves_out_what_costs_most_for_least(recorded):
    done = recorded("filter", "trace", "--max-overhead", "0.1%", "-o", "f")
    assert done.returncode == 0
    assert done.stdout == "" and "to use it: cunei record --filter f …\n" in done.stderr

    again = recorded("record", "-q", "-o", "again", "--filter", "f", "app.py")
    assert (again.returncode, again.stderr) == (0, "")

    before, after = calls(recorded, "trace"), calls(recorded, "again")
    gone = set(before) - set(after)
    assert "__main__:Vector.__getitem__" in gone and "re:compile" in gone
    assert sum(name.startswith("__main__:o") for name in gone) == 1, gone
    assert {"__main__:main", "__main__:work"} <= set(after)
    assert {name: before[name] for name in after} == after


def test_it_saves_what_it_says(recorded):
    # How much it cost depends on the machine, what can be saved of that does not.
    cost = json.loads(recorded("filter", "trace", "--json").stdout)["overhead"]
    wanted = min(cost / 2, 1)
    words = ("filter", "--max-overhead", f"{100 * wanted:.6f}", "trace")
    proposal = json.loads(recorded(*words, "--json").stdout)
    file = recorded.write("g", recorded(*words).stdout)

    recorded("record", "-q", "--force", "-o", "saved", "--filter", file, "app.py")

    patterns = [line.split()[1] for line in file.read_text().splitlines()
                if line.startswith("- ")]  # fmt: skip
    assert [function["pattern"] for function in proposal["functions"]] == patterns
    left = proposal["events"] - proposal["saved_events"]
    assert events(recorded, "trace") == proposal["events"]
    assert events(recorded, "saved") == left
    assert proposal["overhead_left"] <= wanted < proposal["overhead"] == cost
    # What is left is rarer, and an event of it costs more.
    saved = sum(function["cost_ns"] for function in proposal["functions"])
    assert proposal["saved_ns"] <= saved
    for name, cost_ns in (
        ("overhead", proposal["cost_ns"]),
        ("overhead_left", proposal["cost_ns"] - proposal["saved_ns"]),
    ):
        least, most = proposal[f"{name}_least"], proposal[f"{name}_most"]
        assert 0 < least < proposal[name] < most
        assert cost_ns / proposal["run_ns"] == pytest.approx(proposal[name], rel=0.001)


def test_it_says_that_what_it_costs_is_an_estimate(recorded):
    text = recorded("filter", "trace").stdout

    span = r"≈ \d[\d.]* % \(\d[\d.]* to \d[\d.]*\)"
    time = r"[\d.]+ [mµn]?s"
    cost = f"^# Recording cost {time}, {span} of {time} CPU time"
    assert re.search(cost, text, re.M), text
    assert re.search(f"^# Without .* it would cost {span}, with ", text, re.M), text
    assert re.search("; recording them took ≈ ", text), text


def test_a_line_break_in_a_name_adds_no_rule(cunei):
    script = "app\n- re:.\n+ x.py"
    cunei.write(script, PROGRAM.format(odd=""))
    pattern = "json\n- re:."
    cunei("record", "-q", "-o", "trace", "--exclude", pattern, f"./{script}")

    text = cunei("filter", "--max-overhead", "0.1%", "trace").stdout

    assert "from a recording of app\\n- re:.\\n+ x.py.\n" in text
    rules = [line for line in text.splitlines() if not line.startswith("#")]
    assert rules[0] == "- json?- re:."
    assert len(rules) > 1 and not any(rule.startswith("- re:.") for rule in rules)


def test_functions_that_a_filter_cannot_exclude_are_not_proposed(cunei):
    cunei.write(
        "app.py",
        "import cunei\n"
        "@cunei.region\n"
        "def decorated(): pass\n"
        "def plain(): pass\n"
        "for _ in range(20_000):\n"
        "    decorated()\n"
        "    plain()\n",
    )
    assert cunei("record", "-q", "-o", "trace", "app.py").returncode == 0

    listed = json.loads(cunei("filter", "--json", "--max-overhead=0.1", "trace").stdout)
    assert [each["pattern"] for each in listed["functions"]] == ["__main__:plain"]


def test_more_overhead_leaves_out_less(recorded):
    def count(percentage):
        words = ("filter", "trace", "--json", "--max-overhead", percentage)
        return len(json.loads(recorded(*words).stdout)["functions"])

    numbers = [count(percentage) for percentage in ("0.1%", "5", "50 %", "100%")]

    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]


def test_excluded_functions_stay_excluded(recorded):
    recorded.write("own", "- :odd\n- re:^re\n")
    words = ("--filter", "own", "--exclude", "json")
    recorded("record", "-q", "--force", "-o", "part", *words, "app.py")

    text = recorded("filter", "part").stdout

    assert "# The patterns of the recording:\n- :odd\n- re:^re\n- json\n" in text
    assert "- __main__:Vector.__getitem__ " in text


def test_a_recording_that_is_cheap_needs_none(cunei):
    cunei.write("app.py", "def f(): return sum(range(3_000_000))\nf()\n")
    cunei("record", "-q", "-o", "trace", "app.py")

    text = cunei("filter", "trace").stdout

    assert "# That is within 5.0 %: nothing is excluded.\n" in text
    assert [line for line in text.splitlines() if not line.startswith("#")] == []


def test_a_filter_that_gains_nothing_is_not_proposed(cunei):
    """What a program of one call costs is its first sight."""
    cunei("record", "-q", "-o", "trace", "-c", "pass")

    done = cunei("filter", "--max-overhead=0.1%", "-o", "f", "trace")

    text = (cunei.folder / "f").read_text()
    assert (
        "# 0.1 % is not possible: the cost is in first calls, which no filter" in text
    )
    assert [line for line in text.splitlines() if not line.startswith("#")] == []
    message = "cunei: no function is worth excluding; see 'f'\n"
    assert (done.returncode, done.stderr) == (0, message)


def test_meaningless_arguments_are_reported(recorded):
    for words, status, message in (
        ([], 2, "missing trace directory, which 'cunei record' creates: cunei filter"),
        (["trace", "--max-overhead", "x"], 2,
         "--max-overhead needs a percentage from 0.1 to 100, for example 5%, not 'x'"),
        (["trace", "--max-overhead", "0"], 2, "from 0.1 to 100"),
        (["trace", "--max-overhead", "101%"], 2, "from 0.1 to 100"),
        (["missing"], 1, "'missing'"),
        (["trace", "-o", "app.py"], 1, "app.py"),
    ):  # fmt: skip
        done = recorded("filter", *words)
        assert done.returncode == status and message in done.stderr, done.stderr


def test_a_recording_without_calls_is_reported(cunei):
    cunei.write("app.py", "")
    cunei("record", "-q", "-o", "trace", "--instrumenter", "none", "app.py")

    done = cunei("filter", "trace")

    message = "cunei: 'trace' has no calls, so there is nothing to exclude\n"
    assert (done.returncode, done.stderr) == (1, message)
