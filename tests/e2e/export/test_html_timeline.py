# SPDX-License-Identifier: MIT
"""The timeline of `--to html` holds what replay and dump show."""

from itertools import groupby

import packets
import pytest
import timeline
from browser import EXECUTABLE, MISSING, Browser
from exported import export, page_of, record, slices_of


@pytest.fixture(scope="module")
def page(rich):
    return page_of(export(rich, "html"))


def marks(page, kind, size):
    """(pid, tid, numbers of the mark …) of all threads."""
    return [
        (thread["pid"], thread["tid"], *mark)
        for thread in page["threads"]
        for mark in zip(*(iter(thread[kind]),) * size)
    ]


def drawn(page):
    """As replay's, without what a page does not show."""
    return [
        timeline.Slice(
            thread["pid"],
            thread["tid"],
            page["functions"][function][1],
            page["functions"][function][0],
            *(start, took, depth),
            *(None, None),
        )
        for thread in page["threads"]
        for start, took, depth, function in slices_of(thread)
    ]


def replayed(cunei):
    slices = timeline.replayed(cunei)
    return [each._replace(resumed=None, outcome=None) for each in slices]


def by_level(thread):
    key = lambda each: each[2]  # noqa: E731
    return groupby(sorted(slices_of(thread), key=key), key)


def test_every_call_is_that_of_replay(rich, page):
    timeline.compare(drawn(page), replayed(rich))


def test_events_other_than_calls_are_those_of_dump(rich, page):
    start = timeline.origin(rich)

    pauses = [
        (pid, tid, t - start, took) for pid, tid, t, took, _ in timeline.pauses(rich)
    ]
    assert [mark[:4] for mark in marks(page, "gc", 3)] == pauses
    raised = timeline.happenings(rich, "exception", "enter")
    types = [page["types"][mark[3]] for mark in marks(page, "raises", 3)]
    assert sorted(types) == sorted(payload["type"] for *_, payload in raised)
    steps = timeline.happenings(rich, "task", "enter", "resume")
    assert sorted(mark[:3] + mark[4:] for mark in marks(page, "steps", 3)) == sorted(
        (pid, tid, time - start, payload["task"]) for pid, tid, time, payload in steps
    )


def test_tasks_that_were_named_before_a_window_have_their_names(rich):
    window, names = timeline.after_names(rich)

    page = page_of(export(rich, "html", *window))

    assert {(row[0], row[1]): row[2] for row in page["tasks"]} == names


def test_a_stream_in_pieces_is_reported_as_one(cunei):
    record(cunei, program=timeline.LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    assert path.stat().st_size > 1 << 20  # a piece's size

    page = page_of(export(cunei, "html"))

    timeline.compare(drawn(page), replayed(cunei))
    for _, level in by_level(page["threads"][0]):
        starts = [start for start, *_ in level]
        assert starts == sorted(starts)


def test_losses_between_pieces_are_a_mark(cunei):
    record(cunei, program=timeline.LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    packets.drop(path, {1, 4})

    page = page_of(export(cunei, "html"))

    lost = marks(page, "lost", 3)
    assert [number for *_, number in lost] == [0, 0]
    ends = {each.begin for each in drawn(page)} | {
        each.begin + each.duration for each in drawn(page)
    }
    for _, _, begin, took, _ in lost:
        # From the last that is known to the first that is known again.
        assert took > 0 and {begin, begin + took} <= ends
        assert not any(begin < end < begin + took for end in ends)
    # Replay does not say when something began that was found open.
    known = [each for each in replayed(cunei) if each.begin is not None]
    assert len(drawn(page)) == len(timeline.replayed(cunei)) > len(known)
    begins = {(each.begin, each.depth) for each in drawn(page)}
    assert begins >= {(each.begin, each.depth) for each in known}


# Notes the texts that end beyond the right edge of what they are drawn on.
NOTE_CUT = """
window.cut = [];
const inner = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const end = x + this.measureText(text).width;
    if (end > this.canvas.clientWidth) window.cut.push([text, y]);
    return inner.call(this, text, x, y);
};
"""


@pytest.mark.skipif(not EXECUTABLE, reason=MISSING)
def test_no_label_is_cut_off_at_the_right_edge(rich, tmp_path):
    path = export(rich, "html")
    with Browser(tmp_path / "browser") as browser:
        browser.open(path)
        browser.key("3")
        browser.run(NOTE_CUT)
        # In some of these widths, a time of the axis is close to the edge.
        for width in range(700, 1000, 20):
            browser.resize(width, 700)
            browser.settle()
            browser.run("redraw()")
        assert browser.run("cut") == []
        assert browser.errors == []
