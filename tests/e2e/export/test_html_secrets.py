# SPDX-License-Identifier: MIT
"""What the page has of the program's source and values, and what it never has."""

import os
import time

import pytest
from exported import export, page_of, record

PROGRAM = """\
import cunei

API_KEY = "secret-key"

class Account:
    def __init__(self, user, password):
        self.user = user
        self.password = password

    def __repr__(self):
        return f"Account(user={self.user!r}, password={self.password!r})"

def login(user, password, headers):
    cunei.parameter("auth_token", "secret-token")
    cunei.parameter("user", user)
    cunei.mark("signed in", "password=secret-mark")
    return {"user": user, "session_id": "secret-session"}

def get_token():
    return "secret-result"

def work():
    with cunei.region("GET https://ann:secret-url@host/"):
        pass
    cunei.metadata("client_secret", "secret-metadata")
    cunei.metadata("place", "here")

word = "secret-" + "word"
login("ann", word, {"Authorization": "Bearer secret-header", "Accept": "all"})
get_token()
work()
"""
OPTIONS = ("--args", "__main__:*", "--return", "__main__:*")


@pytest.fixture
def recorded(cunei):
    cunei.write("app.py", PROGRAM)
    done = cunei(
        *("record", "-q", "-o", "trace", *OPTIONS, "app.py"),
        *("--password", "secret-option", "--token=secret-joined", "--user", "ann"),
    )
    assert done.returncode == 0, done.stderr
    return cunei


def test_no_secret_is_in_the_page(recorded):
    path = export(recorded, "html", "--hide-source")

    text = path.read_text(encoding="utf-8")
    assert "secret-" not in text
    page = page_of(path)
    assert page["metadata"] == [["client_secret", "•••"], ["place", "here"]]
    parameters = {row[0]: row[1] for row in page["parameters"]}
    assert parameters == {"auth_token": "•••", "user": "ann"}
    assert page["processes"][0][2] == "app.py --password ••• --token=••• --user ann"
    values = [page["texts"][i - 1] for t in page["threads"] for i in t["values"][1::2]]
    assert any("user='ann', password=•••" in value for value in values), values
    assert any("→ •••" in value for value in values), values


def test_source_has_no_secrets(recorded):
    page = page_of(export(recorded, "html"))

    ((_, has_changed, parts),) = (
        row for row in page["sources"] if row[0].endswith("app.py")
    )
    assert not has_changed
    first, text = parts[0]
    lines = text.split("\n")
    assert first == 1 and lines[2] == 'API_KEY = "•••"'
    assert lines[13] == '    cunei.parameter("auth_token", "•••")'
    assert len(lines) == len(PROGRAM.splitlines())
    assert "secret-header" not in text and "secret-session" not in text


def test_hide_source_leaves_all_source_out(recorded):
    path = export(recorded, "html", "--hide-source")

    page = page_of(path)
    assert page["sources"] == [] and page["blocks"] == []
    assert "def login" not in path.read_text(encoding="utf-8")


def test_hide_source_is_for_pages(recorded):
    done = recorded("export", "trace", "--to", "chrome", "--hide-source")
    assert done.returncode == 2
    assert "--hide-source needs --to html" in done.stderr

    done = recorded("record", "-o", "other", "--hide-source", "app.py")
    assert done.returncode == 2
    assert "--hide-source needs --to html" in done.stderr


def test_a_recording_exports_without_source(recorded):
    done = recorded(
        *("record", "-q", "-o", "other", "--to", "html:page.html", "--hide-source"),
        "app.py",
    )

    assert done.returncode == 0, done.stderr
    assert page_of(recorded.folder / "page.html")["sources"] == []


LINED = """\
def loop(n):
    total = 0
    for i in range(n):
        total += i
    return total

loop(10)
"""


def lines_of(page, name):
    index = [row[0] for row in page["functions"]].index(name)
    rows = zip(*(iter(page["lines"]),) * 4)
    return {line: hits for function, line, hits, _ in rows if function == index}


def test_lines_have_their_hits(cunei):
    record(cunei, "--lines", ":loop", program=LINED)

    page = page_of(export(cunei, "html"))

    assert lines_of(page, "loop") == {2: 1, 3: 11, 4: 10, 5: 1}
    index = [row[0] for row in page["functions"]].index("loop")
    blocks = list(zip(*(iter(page["blocks"]),) * 4))
    ((_, _, first, last),) = (row for row in blocks if row[0] == index)
    assert (first, last) == (1, 5)


def test_a_part_has_no_lines(cunei):
    record(cunei, "--lines", ":loop", program=LINED)

    assert page_of(export(cunei, "html", "--from", "1ns"))["lines"] == []


def test_a_file_that_changed_is_named(cunei):
    record(cunei, program=LINED)
    later = time.time() + 60
    os.utime(cunei.folder / "app.py", (later, later))

    page = page_of(export(cunei, "html"))

    assert [row[1] for row in page["sources"] if row[0].endswith("app.py")] == [1]


def test_a_stamp_counts_more_than_the_time(cunei):
    record(cunei, "--lines", ":loop", program=LINED)
    later = time.time() + 60
    os.utime(cunei.folder / "app.py", (later, later))

    page = page_of(export(cunei, "html"))

    assert [row[1] for row in page["sources"] if row[0].endswith("app.py")] == [0]


def test_only_python_source_is_read(cunei):
    (cunei.folder / "notes.txt").write_text("private notes\n" * 9)
    program = (
        "code = compile('def f():\\n    pass\\nf()', NAME, 'exec')\n"
        "for i in range(1000): exec(code, {'__name__': 'notes'})\n"
    )
    record(
        cunei, program=program.replace("NAME", repr(str(cunei.folder / "notes.txt")))
    )

    path = export(cunei, "html")

    names = [row[:3] for row in page_of(path)["functions"]]
    assert ["f", "notes", str(cunei.folder / "notes.txt")] in names
    assert "private notes" not in path.read_text(encoding="utf-8")
