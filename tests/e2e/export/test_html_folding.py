# SPDX-License-Identifier: MIT
"""The timeline of the page opens with a few levels, under a strip of the whole run."""

import pytest
from browser import EXECUTABLE, MISSING, Browser
from exported import export, record

PROGRAM = """\
import threading

def down(n):
    return down(n - 1) if n else 0

def flat():
    pass

down(20)
thread = threading.Thread(target=down, args=(60,), name="deep")
thread.start()
thread.join()
for i in range(100):
    flat()
"""


@pytest.fixture(scope="module")
def opened(shared, tmp_path_factory):
    if not EXECUTABLE:
        pytest.skip(MISSING)
    record(shared, program=PROGRAM)
    path = export(shared, "html")
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser, path


@pytest.fixture(params=[1400, 700])
def page(opened, request):
    browser, path = opened
    browser.errors.clear()
    browser.resize(request.param, 900)
    browser.open(path)
    browser.settle()
    browser.key("4")
    yield browser
    assert browser.errors == []


def rows(page):
    return page.run("timeline.lanes.map((lane) => lane.rows)")


def levels(page):
    return page.run("data.threads.map((thread) => thread.levels.length)")


def corner(page, name):
    return page.run(f"(({{x, y}}) => [x, y])($('{name}').getBoundingClientRect())")


def span(page):
    return page.run("[timeline.from, timeline.until]")


def x_of(page, part):
    """The position of a part of the whole run in the strip."""
    return corner(page, "overview")[0] + page.run(
        f"timeline.label + {part} * (overview.clientWidth - timeline.label)"
    )


def drag(page, x, to, y):
    page.mouse("mouseMoved", x, y)
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseMoved", to, y, button="left", buttons=1)
    page.mouse("mouseReleased", to, y, button="left", clickCount=1)
    page.settle()


def test_a_thread_opens_with_eight_levels(page):
    assert rows(page) == [8, 8]
    assert all(deep > 20 for deep in levels(page))


def test_the_row_below_shows_the_other_levels(page):
    left, top = corner(page, "time-canvas")
    x, y = page.run("[timeline.label + 40, timeline.row(timeline.lanes[0], 8) + 8]")
    more = levels(page)[0] - 8
    page.mouse("mouseMoved", left + x, top + y)
    assert page.run("$('tip').firstChild.textContent") == f"▾ {more} more levels"

    page.click(left + x, top + y)

    assert rows(page) == [levels(page)[0], 8]
    page.run("timeline.unfold(0)")
    assert rows(page) == [8, 8]


def test_a_button_shows_all_levels_of_all_threads(page):
    assert page.run("$('time-unfold').textContent") == "Unfold all"

    page.run("$('time-unfold').click()")
    page.settle()

    assert rows(page) == levels(page)
    assert page.run("$('time-unfold').textContent") == "Fold all"
    page.run("$('time-unfold').click()")
    assert rows(page) == [8, 8]


def test_keys_show_the_levels_of_the_selected_thread(page):
    page.key("ArrowDown")
    page.key("ArrowDown")
    page.key("u")

    assert rows(page) == [8, levels(page)[1]]
    page.key("Enter")
    assert rows(page)[1] == 1
    page.key("u")
    assert rows(page)[1] == levels(page)[1]


def test_a_drag_over_the_strip_shows_that_part(page):
    begin, end = span(page)
    y = corner(page, "overview")[1] + 20

    drag(page, x_of(page, 0.25), x_of(page, 0.75), y)

    pixel = (end - begin) / page.run("overview.clientWidth - timeline.label")
    from_, until = span(page)
    assert from_ == pytest.approx(begin + 0.25 * (end - begin), abs=2 * pixel)
    assert until == pytest.approx(begin + 0.75 * (end - begin), abs=2 * pixel)
    # The frame moves as a whole, up to the end.
    drag(page, x_of(page, 0.5), x_of(page, 0.625), y)
    moved = span(page)
    assert moved[1] - moved[0] == pytest.approx(until - from_)
    assert moved[0] == pytest.approx(begin + 0.375 * (end - begin), abs=3 * pixel)
    drag(page, x_of(page, 0.6), x_of(page, 1.0), y)
    assert span(page)[1] == pytest.approx(end)


def test_a_click_beside_the_frame_moves_it_there(page):
    begin, end = span(page)
    drag(page, x_of(page, 0.1), x_of(page, 0.2), corner(page, "overview")[1] + 20)

    page.click(x_of(page, 0.6), corner(page, "overview")[1] + 20)

    from_, until = span(page)
    assert (from_ + until) / 2 == pytest.approx(begin + 0.6 * (end - begin), rel=0.02)


def test_the_strip_is_a_slider_for_keys(page):
    begin, end = span(page)
    page.run("$('overview').focus()")
    page.key("+")
    page.key("Home")
    part = span(page)
    page.key("ArrowRight")

    moved = span(page)
    assert moved[0] > part[0] == begin and part[1] < end
    assert moved[1] - moved[0] == pytest.approx(part[1] - part[0])
    assert page.run("timeline.selected") is None
    assert " to " in page.run("$('overview').getAttribute('aria-valuetext')")
    page.key("Escape")
    assert span(page) == [begin, end]


def test_the_strip_shows_where_calls_are_deep(page):
    depths = page.run("[...timeline.depths(100)]")

    whole = page.run(
        "data.threads.flatMap((t) => t.levels).reduce((sum, { took }) =>"
        " sum + took.reduce((a, b) => a + b, 0), 0) / (timeline.end - timeline.begin)"
    )
    assert sum(depths) / 100 == pytest.approx(whole, rel=0.01)
    assert min(depths) > -1e-6
