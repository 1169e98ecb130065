# SPDX-License-Identifier: MIT
"""A character of a name is one to patterns, whatever the locale is."""

import json

import ctf
import pytest

PROGRAM = """\
import threading

def naïve_ü(): pass
def other(): pass

thread = threading.Thread(target=naïve_ü, name="wörker-1")
thread.start()
thread.join()
other()
"""

pytestmark = [
    pytest.mark.core,
    pytest.mark.parametrize("locale", ["C", "C.UTF-8", "POSIX"]),
]


def names(trace):
    return {f.qualname for p in trace.processes for f in p.count(ctf.ENTER)}


@pytest.mark.parametrize(
    "pattern", [":na?ve_ü", ":na[ï]ve_[ä-ü]", "re-name:^na.ve_.$", "re::na[ï]ve_.$"]
)
def test_functions_are_chosen(cunei, locale, pattern):
    cunei.write("app.py", PROGRAM)
    words = ["record", "-q", "-o", "trace", "--include", pattern, "app.py"]

    done = cunei(*words, env={"LC_ALL": locale})

    assert (done.returncode, done.stderr) == (0, "")
    assert names(ctf.read(cunei.folder / "trace")) == {"naïve_ü"}


def test_a_program_chooses_its_functions(cunei, locale):
    source = """\
import cunei

def naïve_ü(): pass
def plain(): pass

with cunei.record("trace", exclude=[":p?ain", ":na?ve_?"]):
    naïve_ü()
    plain()
    cunei.include(":n[a]?ve_[ü]")
    naïve_ü()
"""
    cunei.write("app.py", source)

    done = cunei.run(cunei.python, "app.py", env={"LC_ALL": locale})

    assert (done.returncode, done.stderr) == (0, "")
    trace = ctf.read(cunei.folder / "trace")
    assert (trace.count("naïve_ü"), trace.count("plain")) == (1, 0)


def test_threads_and_functions_are_found(cunei, locale):
    cunei.write("app.py", PROGRAM)
    env = {"LC_ALL": locale}
    assert cunei("record", "-q", "-o", "trace", "app.py", env=env).returncode == 0

    for words in (
        ["replay", "trace", "-t", "w?rker-1"],
        ["dump", "trace", "--thread", "w[ö]rker-1"],
        ["report", "trace", "--callers", "na?ve_ü"],
        ["export", "trace", "--to", "folded", "-o", "-", "-t", "w?rker-1"],
        ["export", "trace", "--to", "folded", "-o", "-", "--include", "re::na.ve_ü$"],
    ):
        done = cunei(*words, env=env)
        assert (done.returncode, done.stderr) == (0, ""), words
        assert "naïve_ü" in done.stdout, words

    done = cunei("report", "trace", "--json", "--callers", "re::na.ve_.$", env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["callers"]
