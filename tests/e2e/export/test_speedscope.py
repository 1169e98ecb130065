# SPDX-License-Identifier: MIT
"""`--to speedscope`: every stretch of every thread, in order and nested."""

import base64
import json
import shutil
import subprocess
import tarfile
from collections import Counter

import pytest
from browser import EXECUTABLE, MISSING, Browser
from exported import DEEP, RECORDED, export, record, report

# The version whose schema was looked at.
PACKAGE = "speedscope@1.25.0"


def read(path):
    return json.loads(path.read_text())


def stretches(profile):
    """The begins of each frame; raises where it is not nested, or goes back in time."""
    begins, above, now = Counter(), [], profile["startValue"]
    for event in profile["events"]:
        assert event["at"] >= now
        now = event["at"]
        if event["type"] == "O":
            begins[event["frame"]] += 1
            above.append(event["frame"])
        else:
            assert event["type"] == "C"
            assert above.pop() == event["frame"]
    assert above == []
    assert profile["endValue"] >= now
    return begins


def key(function):
    return f"{function['module']}:{function['qualname']}", function["file"]


@pytest.mark.parametrize("program", [None, DEEP], ids=["threads", "long"])
def test_each_thread_is_a_profile_of_nested_events(cunei, program):
    record(cunei, **({"program": program} if program else {}))

    document = read(export(cunei, "speedscope"))

    facts = report(cunei)
    assert len(document["profiles"]) == len(facts["threads"])
    frames, counts = document["shared"]["frames"], Counter()
    for profile in document["profiles"]:
        for frame, count in stretches(profile).items():
            counts[frames[frame]["name"], frames[frame]["file"]] += count
    wanted = Counter()
    for function in facts["functions"]:
        wanted[key(function)] += function["calls"] + function["resumes"]
    assert counts == +wanted


def test_threads_and_frames_have_their_names(cunei):
    record(cunei)

    document = read(export(cunei, "speedscope"))

    names = [profile["name"] for profile in document["profiles"]]
    assert any(name.startswith("app.py (") and "MainThread" in name for name in names)
    assert any("workér" in name for name in names)
    frames = {frame["name"]: frame for frame in document["shared"]["frames"]}
    path = str(cunei.folder / "app.py")
    odd = frames["__main__:" + RECORDED]
    assert (odd["file"], odd["line"]) == (path, 4)
    assert "__main__:naïve.<locals>.<lambda>" in frames


def test_a_selection_of_threads_and_processes_is_whole(cunei):
    record(cunei)

    document = read(export(cunei, "speedscope", "--thread", "workér"))

    (profile,) = document["profiles"]
    assert "workér" in profile["name"]
    assert stretches(profile)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of speedscope's own app, as npm brings it."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("speedscope")
    done = subprocess.run(
        ["npm", "pack", "--silent", PACKAGE],
        cwd=folder,
        capture_output=True,
        timeout=300,
    )
    if done.returncode != 0:
        pytest.skip("there is no registry of packages for npm")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as files:
        # Older ones have no filters, newer ones ask for one.
        has_filters = hasattr(tarfile, "data_filter")
        files.extractall(folder, **({"filter": "data"} if has_filters else {}))
    return folder / "package" / "dist" / "release"


def test_it_is_what_the_schema_of_speedscope_wants(cunei, package):
    jsonschema = pytest.importorskip("jsonschema")
    record(cunei)

    document = read(export(cunei, "speedscope"))

    schema = json.loads((package / "file-format-schema.json").read_text())
    jsonschema.validate(document, schema)


@pytest.mark.skipif(not EXECUTABLE, reason=MISSING)
def test_the_app_of_speedscope_opens_it(cunei, package):
    record(cunei)
    path = export(cunei, "speedscope")
    profile = base64.b64encode(path.read_bytes()).decode()
    script = cunei.write(
        "profile.js", f'speedscope.loadFileFromBase64("app.json", "{profile}")'
    )

    with Browser(cunei.folder / "browser") as browser:
        page = (package / "index.html").as_uri()
        browser.open(f"{page}#localProfilePath={script}")
        title = browser.wait(
            r"document.body.innerText.match(/app\.py \(\d+\), MainThread \(\d+\)/)?.[0]"
        )
        shown = browser.run("document.body.innerText")

    assert title
    assert "(1/2)" in shown
