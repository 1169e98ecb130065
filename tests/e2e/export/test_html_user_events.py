# SPDX-License-Identifier: MIT
"""User events on the page of `--to html`: marks, counters, regions,
parameters, metadata, tokens."""

import pytest
from browser import EXECUTABLE, MISSING, Browser
from exported import export, page_of, record, report, slices_of

PROGRAM = """\
import cunei

def work(n):
    return sum(range(n))

@cunei.region("refill")
def tagged():
    work(3000)

@cunei.region("request")
def request(n):
    cunei.parameter("kind", "read" if n % 3 else "write")
    work(n)
    cunei.parameter("late", n)

def reply():
    return "because"

def answer(question, *more):
    cunei.parameter("a", "x" * 300)
    cunei.parameter("b", "y" * 200)
    cunei.parameter("c", 1)
    cunei.parameter("d", 1)
    return [question, work(3)]

def main():
    cunei.metadata("version", 1.5)
    cunei.metadata("<i>key", "\u202eodd")
    for i in range(6):
        request(i)
    answer("why")
    reply()
    with cunei.tokens("decode") as tokens:
        for i in range(5):
            tokens.tick()
    cunei.tokens("none").end()
    level = cunei.counter("level")
    share = cunei.counter("share <b>")
    cunei.mark("begun")
    for i in range(40):
        with cunei.region("load"):
            work(1000)
            level.set(i % 7 - 2)
            share.set(i / 8)
        if i % 10 == 0:
            cunei.mark("tenth", i)
            tagged()
    share.set(float("nan"))
    cunei.mark("</script>", "\\u202eodd")
    cunei.region_end()

main()
"""

MANY = """\
import cunei

up = cunei.counter("up")
for i in range(50_000):
    up.set(-5 if i == 30_000 else i)
    if i % 2 == 0:
        cunei.mark(f"name {i}")
for i in range(100):
    cunei.counter(f"other {i}").add()
"""

# Its stream is cut into pieces in the middle of it.
LASTING = """\
import cunei

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@cunei.region
def whole(n):
    cunei.parameter("first", n)
    fib(2)
    cunei.parameter("second", n)
    for i in range(4):
        fib(23)
        cunei.parameter("step", i)
    return 7

whole(1)
"""


@pytest.fixture(scope="module")
def recorded(shared):
    words = ["--args", ":answer", "--return", ":answer", "--return", ":reply"]
    record(shared, *words, program=PROGRAM)
    return shared


def marks(page):
    """(time, name, value or None, whether it is an error)."""
    found = []
    for thread in page["threads"]:
        for time, name, value, error in zip(*(iter(thread["user_marks"]),) * 4):
            text = page["texts"][value - 1] if value else None
            found.append((time, page["texts"][name - 1], text, error))
    return found


def track(page, name):
    (found,) = [each for each in page["counters"] if each["name"] == name]
    return list(zip(*(iter(found["points"]),) * 2))


def test_marks_are_those_of_the_report(recorded):
    page = page_of(export(recorded, "html"))

    reported = report(recorded)["marks"]
    assert [(name, value) for _, name, value, error in marks(page) if not error] == [
        (mark["name"], None if mark["value"] is None else str(mark["value"]))
        for mark in reported
        if not mark.get("error")
    ]
    assert [error for *_, error in marks(page)][-1] == 1
    times = [time for time, *_ in marks(page)]
    assert times == sorted(times) and times[-1] <= page["duration_ns"]


def details_of(page, name):
    """The texts at the calls of a function, in the order of time."""
    (thread,) = page["threads"]
    slices = slices_of(thread)
    texts = dict(zip(*(iter(thread["values"]),) * 2))
    found = [
        (start, page["texts"][texts[i] - 1])
        for i, (start, _, _, function) in enumerate(slices)
        if i in texts and page["functions"][function][0] == name
    ]
    return [text for _, text in sorted(found)]


def test_calls_have_their_parameters_arguments_and_results(recorded):
    page = page_of(export(recorded, "html"))

    kinds = ["write", "read", "read"] * 2
    assert details_of(page, "request") == [
        f"kind={kind}, late={n}" for n, kind in enumerate(kinds)
    ]
    arguments = f"question='why', more=(), a={'x' * 200}…, b={'y' * 200}"
    assert details_of(page, "answer") == [f"{arguments}, …"]
    assert details_of(page, "reply") == ["→ 'because'"]
    assert details_of(page, "work") == []


def test_what_lasts_longer_than_a_piece_has_all_of_its_values(cunei):
    record(cunei, "--return", ":whole", program=LASTING)

    page = page_of(export(cunei, "html"))

    steps = ", ".join(f"step={i}" for i in range(4))
    assert details_of(page, "whole") == [f"first=1, second=1, {steps} → 7"]


def test_the_numbers_add_up_to_those_of_the_report(recorded):
    page, whole = page_of(export(recorded, "html")), report(recorded)

    assert page["metadata"] == [["version", "1.5"], ["<i>key", "\u202eodd"]]
    assert page["regions"] == [
        [
            region["name"],
            region["count"],
            *(region[f"{fact}_ns"] for fact in ("total", "mean", "p50", "p99", "max")),
        ]
        for region in whole["regions"]
    ]
    assert sorted(page["parameters"]) == sorted(
        [
            each["name"],
            str(each["value"]),
            each["region"] or each["function"],
            int(each["region"] is not None),
            each["count"],
            each["total_ns"],
        ]
        for each in whole["parameters"]
    )
    gaps = ("p50_ns", "p90_ns", "p99_ns", "max_ns")
    for row, stream in zip(page["tokens"], whole["tokens"]):
        assert row[:4] == [
            *(stream["name"], stream["process"]),
            *(stream["stream"], stream["count"]),
        ]
        first, rate, *rest = row[5:]
        assert first == (-1 if stream["first_ns"] is None else stream["first_ns"])
        assert rate == pytest.approx(stream["per_s"], rel=1e-5)
        assert rest == [-1 if stream[gap] is None else stream[gap] for gap in gaps]
    assert len(page["tokens"]) == len(whole["tokens"]) == 2


def test_excluded_events_are_not_added_up(recorded):
    page = page_of(
        export(recorded, "html", "--exclude", ":load", "--exclude", ":request")
    )

    assert [row[0] for row in page["regions"]] == ["refill"]
    begun = marks(page)[0][0]
    page = page_of(export(recorded, "html", "--from", f"{begun}ns"))
    assert page["metadata"] == page["tokens"] == []
    assert "load" in [row[0] for row in page["regions"]]
    assert "request" not in [row[0] for row in page["regions"]]


def test_counters_have_all_of_few_values(recorded):
    page = page_of(export(recorded, "html"))

    assert [value for _, value in track(page, "level")] == [
        i % 7 - 2 for i in range(40)
    ]
    assert [value for _, value in track(page, "share <b>")] == [
        i / 8 for i in range(40)
    ]
    (pid,) = {each["pid"] for each in page["counters"]}
    assert pid == page["threads"][0]["pid"]


def test_of_many_values_the_extremes_stay_and_a_page_stays_small(cunei):
    record(cunei, program=MANY)
    path = export(cunei, "html")
    page = page_of(path)

    points = track(page, "up")
    assert points == sorted(points, key=lambda point: point[0])
    assert min(value for _, value in points) == -5
    assert max(value for _, value in points) == points[-1][1] == 49_999
    assert len(points) <= 4096
    assert len(page["counters"]) == 64 and page["uncharted"] == 37
    thread = page["threads"][0]
    assert len(marks(page)) + thread["left_out"] == 25_000
    assert 1000 < len(marks(page)) <= 20_000
    assert path.stat().st_size < 2_000_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory, recorded):
    if not EXECUTABLE:
        pytest.skip(MISSING)
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        browser.open(export(recorded, "html"))
        browser.key("4")
        yield browser
        assert browser.errors == []


def over(browser, x, y):
    """What is shown beside the pointer there, of all that the timeline has."""
    box = browser.run("(({x, y}) => [x, y])(timeline.canvas.getBoundingClientRect())")
    browser.mouse("mouseMoved", box[0] + x, box[1] + y)
    return browser.run(
        "$('tip').hidden ? null :"
        " [...$('tip').children].map((line) => line.textContent)"
    )


def test_a_mark_shows_what_it_was(browser):
    at = browser.run(
        "timeline.marked.filter((m) => m[5] === 'user_marks')"
        ".map(([x, y]) => [x + 3, y + 3])"
    )

    assert over(browser, *at[0])[0] == "begun"
    assert over(browser, *at[1])[:2] == ["tenth", "0"]
    # The last two are as close as one pixel; keys lead to each.
    browser.run("timeline.selected = timeline.markAt(0, 5)")
    browser.key("n")
    detail = browser.run("detail.textContent")
    assert "region_end" in detail and "error at" in detail
    browser.key("p")
    assert "</script> · \\u202eodd" in browser.run("detail.textContent")


def test_a_counter_shows_what_it_stood_at(browser):
    top = browser.run("timeline.tracks.find((t) => t.title === 'level').top")
    width = browser.run("timeline.canvas.clientWidth")

    name, value, since = over(browser, width - 2, top + 10)
    assert (name, value) == ("level", "2") and since.startswith("since ")
    assert over(browser, 180, top + 10)[1] == "not set yet"
    assert over(browser, 40, top + 10)[2] == "from -2 to 4"
    details = browser.run("$('details-scroll').textContent")
    assert "Counters" in details and "-242" in details  # least, greatest, last


def test_a_call_shows_its_parameters(browser):
    lines = browser.run(
        """(() => {
            const lane = timeline.lanes[0],
                level = lane.thread.levels.findIndex(({ index }) =>
                    index.some((i) => functions[i].name === "request")),
                { index } = lane.thread.levels[level],
                i = index.findIndex((each) => functions[each].name === "request");
            return timeline.callLines({ lane: 0, level, i });
        })()"""
    )

    assert lines[0] == "request" and lines[2] == "kind=write, late=0"


def test_details_show_what_was_reported(browser):
    tables = browser.run(
        """Object.fromEntries([...$("details-scroll").querySelectorAll("h2")].map(
            (h) => [h.textContent, [...h.nextSibling.querySelectorAll("tbody tr")].map(
                (row) => [...row.children].map((cell) => cell.textContent))]))"""
    )

    assert tables["Metadata"] == [["version", "1.5"], ["<i>key", "\\u202eodd"]]
    assert {row[-1] for row in tables["Regions"]} == {"load", "refill", "request"}
    assert ["2", "kind = write", "region request"] in [
        [times, name, owner] for _, times, _, name, owner in tables["Parameters"]
    ]
    assert [(row[0], row[-1]) for row in tables["Tokens"]] == [
        ("5", "decode"),
        ("0", "none"),
    ]


def test_regions_are_distinguished(browser):
    found = browser.run(
        "functions.filter((f) => f.region).map((f) => [f.name, origin(f)])"
    )

    assert ["load", "region"] in found
    (tagged,) = [origin for name, origin in found if name == "tagged"]
    assert tagged.endswith("· region refill")
    assert len(found) == 3
    legend = browser.run("$('time-legend').innerText")
    assert "Region" in legend and "Mark" in legend


def test_all_of_it_is_drawn_in_both_themes(browser):
    # A pixel of a counter's chart, of a mark's tick and of a region's stripe.
    look = """(() => {
        const g = timeline.canvas.getContext("2d"),
            ratio = window.devicePixelRatio,
            pixel = (x, y) => [...g.getImageData(x * ratio, y * ratio, 1, 1).data],
            track = timeline.tracks[1],
            lane = timeline.lanes[0],
            [x, y] = timeline.marked.find((m) => m[5] === "user_marks"),
            level = lane.thread.levels.findIndex(({ index }) =>
                index.some((i) => functions[i].isRegion)),
            { start, took } = lane.thread.levels[level],
            scale = (timeline.canvas.clientWidth - timeline.label) /
                (timeline.until - timeline.from),
            middle = timeline.label + (start[0] + took[0] / 2 - timeline.from) * scale;
        return [pixel(timeline.canvas.clientWidth - 4, track.top + 28),
            pixel(x + 4, y + 1), pixel(middle, timeline.row(lane, level) + 1)];
    })()"""
    seen = []
    for theme in ("light", "dark"):
        browser.run(f"setTheme({theme!r})")
        browser.settle()
        seen.append(browser.run(look))
    assert all(pixel[3] > 0 for pixels in seen for pixel in pixels)
    assert all(one != other for one, other in zip(*seen))
