# SPDX-License-Identifier: MIT
"""`--to html` and `compare --to html`: one page, driven in a browser."""

import re

import pytest
from browser import EXECUTABLE, MISSING, Browser
from exported import (
    PROGRAM,
    RECORDED,
    export,
    page_of,
    record,
    report,
    slices_of,
    visible,
)

HOSTILE = "</script><script>document.title='owned'</script><!--\u202e\"'&amp;\\"
TASKS = """
import asyncio
import gc

async def step(n):
    await asyncio.sleep(0)

async def several():
    jobs = [asyncio.create_task(step(i), name=f"job-{i}") for i in range(3)]
    await asyncio.gather(*jobs)

asyncio.run(several())
gc.collect()

def hostile():
    pass

hostile.__code__ = hostile.__code__.replace(co_name=NAME, **(
    {"co_qualname": NAME} if sys.version_info >= (3, 11) else {}))
hostile()
"""


def test_functions_and_times_are_those_of_the_report(cunei):
    record(cunei)

    page = page_of(export(cunei, "html"))

    facts = report(cunei)
    rows = {(row[1], row[0], row[2], row[3]): row[4:] for row in page["functions"]}
    for f in facts["functions"]:
        row = rows[f["module"], f["qualname"], f["file"], f["line"]]
        assert row[:6] == [
            f["calls"],
            f["resumes"],
            f["self_ns"],
            f["total_ns"],
            f["mean_ns"] or 0,
            f["max_ns"] or 0,
        ]
    tree = page["tree"]
    assert len(tree.pop("threads")) == 2 * 2
    assert len({len(column) for column in tree.values()}) == 1
    assert all(parent < node for node, parent in enumerate(tree["parent"]) if node)
    total = sum(f["self_ns"] for f in facts["functions"])
    # Each node is rounded by itself.
    assert abs(sum(tree["self"]) - total) <= len(tree["self"])
    assert sum(tree["calls"]) == facts["calls"]


def test_every_stretch_is_in_the_timeline(cunei):
    record(cunei)

    page = page_of(export(cunei, "html"))

    facts = report(cunei)
    stretches = sum(f["calls"] + f["resumes"] for f in facts["functions"])
    assert page["hidden_ns"] == 0
    assert sum(len(thread["slices"]) // 4 for thread in page["threads"]) == stretches
    assert [thread["name"] for thread in page["threads"]] == ["MainThread", "workér"]
    assert sum(len(thread["raises"]) // 3 for thread in page["threads"]) >= 2
    assert "ValueError" in page["types"]


def test_it_takes_nothing_from_elsewhere(cunei):
    record(cunei)

    text = export(cunei, "html").read_text(encoding="utf-8")

    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert not re.search(r"""(?:src|href)=["']?(?!data:)[a-z]+:""", text)
    assert "http://" not in text and "https://" not in text
    assert "@import" not in text and "fetch(" not in text


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not EXECUTABLE:
        pytest.skip(MISSING)
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


kept = {}


@pytest.fixture
def page(cunei, browser):
    """A browser with a page of a program that has a bit of everything."""
    if not kept:  # one for all tests
        program = PROGRAM + TASKS.replace("NAME", repr(HOSTILE))
        record(cunei, program=program)
        kept["path"] = export(cunei, "html")
    browser.requests.clear()
    browser.errors.clear()
    browser.resize(1400, 900)
    browser.prefer("light")
    browser.open(kept["path"])
    browser.settle()
    yield browser
    assert browser.errors == []
    assert [
        url for url in browser.requests if not url.startswith(("file:", "data:"))
    ] == []


def shown(browser, selector):
    return browser.run(f"document.querySelector({selector!r}).textContent")


def test_names_do_nothing_but_stand_there(page):
    assert page.run("document.title") == "app.py · cunei"
    names = page.run("functions.map((f) => f.name)")
    assert HOSTILE.replace("\u202e", "\\u202e") in names
    assert visible(RECORDED) in names
    assert page.run("document.scripts.length") == 2


def test_a_click_zooms_and_escape_goes_back(page):
    page.run("document.querySelector('#flame-canvas').scrollIntoView()")
    box = page.run("(({x, y}) => ({x, y}))(flame.canvas.getBoundingClientRect())")

    page.click(box["x"] + 30, box["y"] + 20 * 2 + 10)

    node = page.run("flame.root")
    assert page.run("flame.level[flame.root]") == 2
    assert page.run("[flame.from, flame.until]") == page.run(
        "[flame.left[flame.root], flame.left[flame.root] + flame.total[flame.root]]"
    )
    assert page.run("crumbs.children.length") == 3
    page.key("Escape")
    assert page.run("flame.root") == page.run(f"flame.tree.parent[{node}]")
    page.key("Home")
    assert page.run("flame.root") == 0


def test_keys_lead_through_the_flame_graph(page):
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"):
        page.key(key)

    selected = page.run("flame.selected")
    assert page.run(f"flame.level[{selected}]") == 1
    assert page.run(f"title(functions[flame.tree.function[{selected}]])") in shown(
        page, "#detail"
    )
    page.key("Enter")
    assert page.run("flame.root") == selected


def test_search_shows_what_matches_and_how_much_it_took(page):
    page.key("/")
    for letter in "pong":
        page.key(letter)
    page.settle()

    assert page.run("matches.filter(Boolean).length") == 1
    assert re.fullmatch(r"1 function · \d+\.\d %", shown(page, "#found"))
    page.key("Enter")
    page.key("2")
    rows = page.run(
        "[...document.querySelectorAll('#body tr')].map((r) => r.innerText)"
    )
    assert [row for row in rows if row.strip()] and all(
        "pong" in row for row in rows if row.strip()
    )
    page.key("/")
    page.key("Escape")
    assert page.run("matches") is None


def column(browser, head):
    """What stands under a head, row by row."""
    return browser.run(
        "(() => { const heads = [...document.querySelectorAll('#columns th')];"
        f" const at = heads.findIndex((th) => th.textContent.startsWith({head!r}));"
        " const rows = [...document.querySelectorAll('#body tr')];"
        " return rows.filter((tr) => tr.children.length > 1)"
        ".map((tr) => tr.children[at].textContent); })()"
    )


def test_the_table_sorts_by_any_column(page):
    page.key("2")
    heads = page.run(
        "[...document.querySelectorAll('#columns th')].map((th) => th.textContent)"
    )
    assert heads[0] == "Self ▾" and "Function" in heads and "Where" in heads

    def sort(head):
        page.run(
            "[...document.querySelectorAll('#columns th button')]"
            f".find((b) => b.textContent.startsWith({head!r})).click()"
        )
        page.settle()

    sort("Calls")
    calls = [int(text.replace("\u2009", "")) for text in column(page, "Calls")]
    assert calls == sorted(calls, reverse=True)
    sort("Calls")
    calls = [int(text.replace("\u2009", "")) for text in column(page, "Calls")]
    assert calls == sorted(calls)
    # Files of the program without its folder, those of the library without theirs.
    places = page.run("functions.map((f) => place(f))")
    assert "app.py:4" in places
    assert any(place.startswith("threading.py:") for place in places)


def test_the_timeline_zooms_and_moves(page):
    page.key("4")
    whole = page.run("[timeline.from, timeline.until]")
    page.key("+")
    page.key("ArrowRight")

    part = page.run("[timeline.from, timeline.until]")
    assert part[1] - part[0] < whole[1] - whole[0] and part[0] > whole[0]
    page.key("Escape")
    assert page.run("[timeline.from, timeline.until]") == whole
    assert page.run("timeline.lanes.map((l) => l.thread.title)") == [
        "MainThread",
        "workér",
    ]
    lane = page.run("timeline.lanes[0].begin")
    box = page.run("(({x, y}) => ({x, y}))(timeline.canvas.getBoundingClientRect())")
    page.click(box["x"] + 40, box["y"] + lane + 8)
    assert page.run("timeline.lanes[0].rows") == 1


def test_keys_select_in_the_timeline(page):
    page.key("4")
    page.key("ArrowDown")
    assert shown(page, "#detail").startswith("MainThread · ")
    page.key("ArrowRight")
    page.key("ArrowDown")
    level = page.run("[timeline.selected.lane, timeline.selected.level]")
    assert level == [0, 1]
    index = page.run("data.threads[0].levels[1].index[timeline.selected.i]")
    assert page.run(f"title(functions[{index}])") in shown(page, "#detail")
    page.key("Enter")
    start, took = page.run(
        "[data.threads[0].levels[1].start[timeline.selected.i],"
        " data.threads[0].levels[1].took[timeline.selected.i]]"
    )
    part = page.run("[timeline.from, timeline.until]")
    assert part[0] <= start and start + took <= part[1]
    page.key("ArrowUp")
    page.key("ArrowUp")
    page.key("Enter")
    assert page.run("timeline.lanes[0].rows") == 1
    assert "folded" in shown(page, "#detail")
    page.key("ArrowDown")
    assert shown(page, "#detail").startswith("workér · ")


def press(page, key, count):
    """What is reported after each of many keys, which the page presses by itself."""
    return page.run(
        "(async () => { const details = [];"
        f" for (let i = 0; i < {count}; i++) {{"
        " document.body.dispatchEvent(new KeyboardEvent('keydown',"
        f" {{ key: {key!r}, bubbles: true, cancelable: true }}));"
        " do await new Promise((drawn) => requestAnimationFrame(drawn));"
        " while (isWaiting);"
        " details.push($('detail').textContent); } return details; })()"
    )


def test_keys_reach_what_is_no_call(page):
    marks = page.run(
        "data.threads.map((thread) =>"
        " timeline.marksOf(thread).map((m) => timeline.markLines(thread, m.kind, m.i)))"
    )
    lines = [" · ".join(each) for thread in marks for each in thread]
    assert any("raised at" in each for each in lines)
    assert any(" · step of " in each for each in lines)
    page.key("4")
    page.key("n")
    assert shown(page, "#detail") == lines[0]
    assert press(page, "n", len(lines) - 1) == lines[1:]
    page.key("n")
    assert shown(page, "#detail") == lines[-1]
    press(page, "p", len(marks[1]) - 1)
    page.key("p")
    assert shown(page, "#detail") == lines[len(marks[0]) - 1]


def test_a_mark_leads_to_where_it_was(page):
    at = page.run(
        "timeline.marksOf(data.threads[0]).findIndex((mark) => mark.kind === 'raises')"
    )
    page.key("4")
    for _ in range(at + 1):
        page.key("n")
    time = page.run("timeline.markOf(timeline.selected).start")
    whole = page.run("timeline.until - timeline.from")
    page.key("Enter")
    begin, end = page.run("[timeline.from, timeline.until]")
    assert begin <= time <= end and end - begin < whole / 5
    page.key("ArrowDown")
    start, took = page.run(
        "(({ start, took }) => [start, took])(timeline.stretch(timeline.selected))"
    )
    assert start <= time <= start + took
    page.key("n")
    assert page.run("timeline.markOf(timeline.selected).start") >= start


def test_arrows_lead_from_tab_to_tab(page):
    page.run("$('tab-flame').focus()")
    page.key("ArrowRight")
    page.key("ArrowRight")
    page.key("ArrowRight")

    assert page.run("[current, document.activeElement.id]") == ["time", "tab-time"]
    assert page.run(
        "[...document.querySelectorAll('[role=tab]')].map((tab) => tab.tabIndex)"
    ) == [-1, -1, -1, 0, -1]


def test_a_part_is_where_it_was_in_the_whole(cunei, browser):
    record(cunei)
    whole = page_of(export(cunei, "html"))
    half = whole["duration_ns"] // 2

    path = export(cunei, "html", "--from", f"{half}ns")

    part = page_of(path)
    begin, end = part["begin_ns"], part["begin_ns"] + part["duration_ns"]
    assert whole["begin_ns"] == 0 and half <= begin < end
    # The clock's ticks are not nanoseconds.
    assert abs(end - whole["duration_ns"]) < 100
    for start, took, *_ in (s for t in part["threads"] for s in slices_of(t)):
        assert begin - 100 <= start and start + took <= end + 100
    assert begin <= part["processes"][0][3] and part["processes"][0][4] <= end + 100
    browser.errors.clear()
    browser.open(path)
    browser.settle()
    browser.key("4")
    assert browser.run("[timeline.from, timeline.until]") == [begin, end]
    for key in ("+", "+", "End"):
        browser.key(key)
    assert browser.run("timeline.from") > begin
    assert abs(browser.run("timeline.until") - end) < 1
    assert browser.errors == []


THREADS = """\
import threading

def work(*waits):
    for wait in waits:
        wait.wait()

def start(name, *waits):
    thread = threading.Thread(target=work, args=waits, name=name)
    thread.start()
    return thread

end = threading.Event()
start("z").join()
late = start("late", end)
threads = [start("c", end), start("a", end)]
end.set()
for thread in (late, *threads):
    thread.join()
start("b").join()
"""


def test_threads_are_in_the_order_of_their_starts(cunei, browser):
    record(cunei, program=THREADS)

    browser.open(export(cunei, "html"))
    browser.settle()

    assert browser.run("data.threads.map((thread) => thread.name)") == [
        "MainThread",
        *("z", "late", "c", "a", "b"),
    ]


def test_no_label_of_the_axis_is_cut_off(page):
    page.key("4")
    ends = page.run(
        "(() => { const ends = [], { prototype } = CanvasRenderingContext2D,"
        " before = prototype.fillText;"
        " prototype.fillText = function (text, x, y) {"
        " ends.push(x + this.measureText(text).width); };"
        " const width = timeline.canvas.clientWidth;"
        " const g = timeline.canvas.getContext('2d');"
        " for (let x = width - 90; x <= width; x++)"
        " timeline.drawRuler(g, [[1.5e9, x]], 1e8, width);"
        " prototype.fillText = before; return ends.map((end) => end - width); })()"
    )

    assert len(ends) == 91 and max(ends) < 0


def test_events_other_than_calls_are_reported(page):
    page.key("5")

    details = shown(page, "#details-scroll")
    for word in ("Processes", "ValueError", "job-1", "Garbage collection"):
        assert word in details
    assert page.run("data.threads[0].gc.length") > 0
    assert page.run("data.threads[0].steps.length") > 0


def test_light_and_dark(page):
    light = page.run("[theme.page, palette[0]]")
    page.key("t")

    dark = page.run("[theme.page, palette[0]]")
    assert page.run("document.documentElement.dataset.theme") == "dark"
    assert light[0] != dark[0] and light[1] != dark[1]
    page.prefer("light")
    page.key("t")
    assert page.run("[theme.page, palette[0]]") == light


def test_a_narrow_window_shows_all_of_it(page):
    page.resize(400, 700)
    page.settle()

    assert page.run("document.documentElement.scrollWidth") <= 400
    assert page.run("flame.canvas.clientWidth") <= 400


WIDE = """\
def leaf():
    pass

# Four ways at each of many places: as many stacks as there are nodes.
source = "".join(
    f"def f{i}(n):\\n"
    f"    for g in ways[n]: g(n - 1)\\n"
    f"    leaf()\\n"
    for i in range(7)
)
exec(source)
sevens = [f0, f1, f2, f3, f4, f5, f6]
ways = [[]] + [sevens] * 6
f0(6)
"""


# Zooms a few times, and returns what lies between pictures, in ms, the least first.
ZOOMING = """
(async () => {
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const gaps = [];
  for (let node = 0, i = 0; i < 8; i++) {
    node = flame.children[node][i % 7] ?? 0;
    flame.zoom(node);
    let last = await next();
    for (let k = 0; k < 12; k++) {
      const now = await next();
      gaps.push(now - last);
      last = now;
    }
  }
  return gaps.sort((a, b) => a - b);
})()
"""


def test_a_hundred_thousand_nodes_are_drawn_smoothly(cunei, browser, record_property):
    record(cunei, program=WIDE)
    path = export(cunei, "html")
    browser.errors.clear()
    browser.resize(1400, 900)
    browser.open(path)
    browser.settle()

    nodes = browser.run("flame.tree.parent.length")
    gaps = browser.run(ZOOMING)

    record_property("nodes", nodes)
    record_property("frame_ms", gaps)
    assert nodes > 100_000
    # 60 pictures a second; a machine that does other things may have less of them.
    assert gaps[len(gaps) // 2] < 50, gaps
    assert browser.errors == []
