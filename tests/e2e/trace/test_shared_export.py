# SPDX-License-Identifier: MIT
"""An export into a folder that another user may change, and changes meanwhile."""

import contextlib
import signal
import subprocess

import pytest
from proof import CUNEI, DEADLINE_S, cunei, wait_for, write_program
from test_shared_machine import (
    SECRET,
    attack,
    needs_second_user,
    shared,  # noqa: F401
)

# Long enough for an attack while its only stream is written.
PROGRAM = """
def f():
    pass
for _ in range(2_000_000):
    f()
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    program = write_program(folder, PROGRAM)
    cunei("record", "-q", "-o", folder / "trace", program)
    return folder / "trace"


@contextlib.contextmanager
def halted(trace, target, place):
    """An export that waits, as the body of `with` runs, while it writes the stream."""
    words = [CUNEI, "export", trace, "--to", "ctf", "-o", target, "--force"]
    exporting = subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE)
    try:
        wait_for(lambda: list(place.glob("out.*/*/s0")), exporting)
        exporting.send_signal(signal.SIGSTOP)
        yield exporting
        exporting.send_signal(signal.SIGCONT)
        exporting.communicate(timeout=DEADLINE_S)
    finally:
        exporting.kill()
        exporting.communicate()


def make_private(folder):
    """A folder of root with a folder of the same name as the export, and a file."""
    (folder / "out").mkdir(parents=True)
    folder.chmod(0o700)
    secret = folder / "out" / "secret"
    secret.write_text(SECRET)
    return secret


@needs_second_user
def test_a_link_in_the_place_of_the_folder_leads_to_no_removal(trace, tmp_path, shared):  # noqa: F811
    secret = make_private(tmp_path / "private")
    place = shared / "place"
    attack('mkdir -m 777 "$1"', place)
    cunei("export", trace, "--to", "ctf", "-o", place / "out")

    with halted(trace, place / "out", place):
        attack(
            'mv "$1" "$2"; ln -s "$3" "$1"', place, shared / "moved", secret.parents[1]
        )

    assert secret.read_text() == SECRET
    assert [path.name for path in secret.parents[1].iterdir()] == ["out"]
    # The export is where it began, in the folder that was moved.
    assert [path.name for path in (shared / "moved").iterdir()] == ["out"]
    assert cunei("info", shared / "moved" / "out").returncode == 0


@needs_second_user
@pytest.mark.parametrize("name", ["out", "out.*"])
def test_a_folder_in_the_place_of_another_is_not_removed(trace, tmp_path, shared, name):  # noqa: F811
    """All three are folders of root, in a folder in which another user renames them."""
    place = shared / "place"
    attack('mkdir -m 777 "$1"', place)
    precious = make_private(place / "precious")
    cunei("export", trace, "--to", "ctf", "-o", place / "out")

    with halted(trace, place / "out", place):
        attack('cd "$1"; set -- $2; mv "$1" aside; mv precious "$1"', place, name)

    (kept,) = place.glob(f"**/{precious.name}")
    assert kept.read_text() == SECRET
