# SPDX-License-Identifier: MIT
"""What a person finds in the page: the hot spot, its callers, its source, a thread."""

import pytest
from browser import EXECUTABLE, MISSING, Browser
from exported import export, report

# A library that calls back through many frames of its own.
LIBRARY = """\
def down(n, target):
    return up(n - 1, target) if n else target()

def up(n, target):
    return down(n - 1, target) if n else target()
"""
# What takes the time is below the library, in a thread, while others wait.
PROGRAM = """\
import sys
import threading
sys.path.insert(0, "lib/python3.99/site-packages")
import deep
import json.tool

def slow_loop():
    total = 0
    for i in range(300_000):
        total += i * i
    return total

def handle():
    return slow_loop()

def wait():
    end.wait()

def serve():
    for i in range(5):
        deep.down(40, handle)

end = threading.Event()
threads = [threading.Thread(target=wait, name=f"idle-{i}") for i in range(3)]
threads.append(threading.Thread(target=serve, name="server"))
for thread in threads:
    thread.start()
threads[-1].join()
end.set()
for thread in threads:
    thread.join()
"""


@pytest.fixture(scope="module")
def opened(shared, tmp_path_factory):
    if not EXECUTABLE:
        pytest.skip(MISSING)
    shared.write("lib/python3.99/site-packages/deep.py", LIBRARY)
    shared.write("app.py", PROGRAM)
    done = shared("record", "-q", "-o", "trace", "--lines", ":slow_loop", "app.py")
    assert done.returncode == 0, done.stderr
    path = export(shared, "html")
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser, path, shared


@pytest.fixture(params=[1400, 700])
def page(opened, request):
    browser, path, _ = opened
    browser.errors.clear()
    browser.resize(request.param, 900)
    browser.prefer("light")
    browser.open(path)
    browser.settle()
    yield browser
    assert browser.run("document.documentElement.scrollWidth") <= request.param
    assert browser.errors == []


def texts(page, selector):
    return page.run(
        f"[...document.querySelectorAll({selector!r})].map((e) => e.textContent)"
    )


def index_of(page, name):
    return page.run(f"functions.findIndex((f) => f.name === {name!r})")


def title_of_view(page):
    return page.run("$('func-title').querySelector('h2').textContent")


def choose(page, name):
    page.run(f"func.show({index_of(page, name)})")
    page.settle()


def test_the_hot_spot_is_in_the_first_view(page):
    card, *_ = texts(page, ".card")
    assert card.startswith("slow_loop") and "app.py:7" in card
    box = page.run(
        "(({top, bottom}) => [top, bottom])($('hot').getBoundingClientRect())"
    )
    assert 0 < box[0] < box[1] < 300
    # And in the flame graph, as its library is folded.
    level, share = page.run(
        "(() => { const index = functions.findIndex((f) => f.name === 'slow_loop');"
        " const node = flame.tree.function.indexOf(index);"
        " return [flame.level[node], flame.total[node] / flame.total[0]]; })()"
    )
    assert level < 10 and share > 0.5
    rows = page.run(
        "flame.tree.function.map((i) => functions[i].name)"
        ".filter((name) => name.startsWith('['))"
    )
    assert any(row.endswith("frames in deep]") for row in rows), rows


def test_a_card_leads_to_the_function(page):
    page.run("document.querySelector('.card').click()")
    page.settle()

    assert page.run("current") == "func"
    assert title_of_view(page) == "slow_loop"


def test_switches_unfold(page):
    def levels():
        return page.run("flame.level.reduce((a, b) => Math.max(a, b))")

    folded = levels()
    assert page.run("[shown.imports, shown.libraries, shown.waiting]") == [
        *(True, True, False)
    ]
    page.key("l")
    assert levels() > folded + 30
    page.run(
        "[...$('flame-switches').children].find((b) => b.dataset.name === 'libraries')"
        ".click()"
    )
    page.settle()
    assert levels() == folded
    pressed = page.run(
        "[...$('flame-switches').children].map((b) => b.getAttribute('aria-pressed'))"
    )
    assert pressed == ["true", "true", "false"]


def test_waiting_is_apart(page, opened):
    facts = {
        (f["qualname"], f["line"]): f
        for f in report(opened[2])["functions"]
        if f["waits"]
    }
    waited = sum(f["self_ns"] for f in facts.values())
    assert page.run("calls.waited") == waited > 0
    page.key("2")
    names = texts(page, "#body td:has(.swatch)")
    assert names[0] == "slow_loop" and "Condition.wait" not in names
    note = page.run("$('table-note').textContent")
    assert "Waiting: " in note and "Imports: " in note and ": json " in note
    percents = page.run(
        "functions.filter((f, i) => table.isRow(i)).map((f) => f.own / calls.base)"
    )
    page.key("w")
    assert "Condition.wait" in texts(page, "#body td:has(.swatch)")
    assert max(percents) <= 1
    page.key("w")


def self_of_rows(page):
    return page.run(
        "functions.filter((f, i) => table.isRow(i)).reduce((sum, f) => sum + f.own, 0)"
    )


def test_imports_are_modules(page):
    page.key("2")
    page.run("seek('json.tool:|:_find_and_load$')")
    page.settle()
    names = texts(page, "#body td:has(.swatch)")
    assert "import json.tool" in names and "_find_and_load" not in names

    page.key("i")

    names = texts(page, "#body td:has(.swatch)")
    assert "<module json.tool>" in names and "_find_and_load" in names
    # The time of the import system is only moved.
    whole = self_of_rows(page)
    page.key("i")
    assert self_of_rows(page) == pytest.approx(whole, rel=0.05)


def test_the_timeline_folds_imports(page):
    def names():
        return page.run(
            "data.threads[0].levels.map((l) => [...l.index]"
            ".map((i) => functions[i].name)).flat()"
        )

    assert "_find_and_load" not in names()
    below = page.run(
        "data.threads[0].levels.findIndex((l) => [...l.index]"
        ".some((i) => title(functions[i]) === 'import json.tool'))"
    )
    assert below == 1
    page.key("i")
    assert "_find_and_load" in names()
    page.key("i")


def test_a_thread_can_be_chosen(page):
    options = texts(page, "#scope option")
    assert options[0] == "All threads" and len(options) == 6
    assert options[1].startswith("server · ")

    page.run(
        "(() => { const select = $('scope');"
        " const [idle] = [...select.options].filter((o) => /^idle-1/.test(o.text));"
        " select.value = idle.value;"
        " select.onchange(); })()"
    )
    page.settle()

    assert page.run("flame.total[0]") < page.run("data.threads_ns") / 4
    assert "slow_loop" not in page.run(
        "flame.tree.function.map((i) => functions[i].name)"
    )
    page.key("2")
    assert "slow_loop" not in texts(page, "#body td:has(.swatch)")
    assert "idle-1" in page.run("$('table-note').textContent")


def test_the_table_of_threads_leads_to_one(page):
    page.key("5")
    assert "Threads" in texts(page, "#details-scroll h2")
    page.run(
        "[...document.querySelectorAll('#details-scroll .link')]"
        ".find((b) => b.textContent === 'server').click()"
    )
    page.settle()

    assert page.run("current") == "flame"
    assert page.run("$('scope').selectedOptions[0].text").startswith("server")
    assert index_of(page, "slow_loop") in page.run("[...flame.tree.function]")


def test_callers_are_above_and_callees_below(page):
    choose(page, "handle")

    boxes = page.run(
        "func.boxes.map((b) => [b.level, functions[b.index].name, b.total])"
    )
    assert boxes[0][:2] == [0, "handle"]
    levels = {name: level for level, name, _ in boxes}
    assert levels["slow_loop"] == 1
    assert {name for level, name, _ in boxes if level == -1} == {"down"}
    assert {name for level, name, _ in boxes if level < 0} >= {"serve", "Thread.run"}
    for level in range(-40, 0):
        above = sum(total for at, _, total in boxes if at == level)
        assert above == pytest.approx(boxes[0][2], rel=1e-6)
    assert texts(page, "#func-callers button") == ["down"]
    assert texts(page, "#func-callees button") == ["slow_loop"]


def test_callers_and_callees_can_be_walked(page):
    choose(page, "handle")
    page.key("ArrowDown")
    assert page.run("$('detail').textContent").startswith("slow_loop")
    page.key("Enter")
    assert title_of_view(page) == "slow_loop"
    page.run("document.querySelector('#func-callers button').click()")
    page.settle()
    assert title_of_view(page) == "handle"
    page.key("Escape")
    page.key("Backspace")
    assert title_of_view(page) == "handle"
    box = page.run("(({x, y}) => [x, y])(func.canvas.getBoundingClientRect())")
    y = page.run("func.y(func.boxes[0]) - func.canvas.parentElement.scrollTop")
    assert 0 < y < page.run("func.canvas.parentElement.clientHeight") - 40
    page.click(box[0] + 30, box[1] + y + 20 + 12)
    assert title_of_view(page) == "slow_loop"


def test_the_table_leads_to_callers_and_to_the_flame_graph(page):
    page.key("2")
    page.key("ArrowDown")
    page.key("Enter")
    assert [page.run("current"), title_of_view(page)] == ["func", "slow_loop"]
    page.key("f")
    assert page.run("current") == "flame"
    assert page.run("matches.filter(Boolean).length") >= 1
    page.run("seek('')")


def test_a_search_leads_to_a_function(page):
    page.key("3")
    page.key("/")
    for letter in "handle$":
        page.key(letter)
    page.key("Enter")

    assert title_of_view(page) == "handle"
    page.run("seek('')")


def test_a_call_of_the_timeline_leads_to_its_function(page):
    page.key("4")
    page.key("ArrowDown")
    page.key("ArrowRight")
    page.key("c")

    assert [page.run("current"), title_of_view(page)] == ["func", "<module>"]


def test_source_has_hits_where_lines_were_recorded(page):
    choose(page, "slow_loop")

    heads = texts(page, "#source thead th")
    assert heads == ["Line", "Hits", "Time", "Per hit", "%", ""]
    rows = page.run(
        "[...document.querySelectorAll('#source tbody tr')].map((tr) =>"
        " [...tr.children].map((td) => td.textContent))"
    )
    lines = {row[0]: row for row in rows}
    assert lines["10"][1] == "1\u2009500\u2009000"
    assert lines["10"][5] == "        total += i * i"
    assert lines["7"][1] == "" and lines["7"][5] == "def slow_loop():"
    assert page.run("document.querySelectorAll('#source .word').length") >= 4
    assert page.run("$('source').scrollWidth") > 0


def test_other_functions_have_plain_source(page):
    choose(page, "handle")

    assert texts(page, "#source thead") == []
    inside = texts(page, "#source tr:not(.around) .code")
    assert inside == ["def handle():", "    return slow_loop()"]
    assert texts(page, "#source .around .code")[0] == "    return total"


def test_what_has_no_source_says_why(page):
    index = page.run("functions.findIndex((f) => f.file.startsWith('<frozen'))")
    page.run(f"func.show({index})")
    page.settle()

    assert texts(page, "#source p") == ["The source of this function is not a file."]


def test_the_numbers_of_a_function_are_those_of_the_report(page, opened):
    (facts,) = (
        f for f in report(opened[2])["functions"] if f["qualname"] == "slow_loop"
    )
    choose(page, "slow_loop")

    shown = dict(zip(texts(page, "#func-facts dt"), texts(page, "#func-facts dd")))
    assert shown["Calls"] == "5"
    index = index_of(page, "slow_loop")
    assert page.run(f"[functions[{index}].p50, functions[{index}].p99]") == [
        facts["p50_ns"],
        facts["p99_ns"],
    ]
    assert set(shown) == {"Self", "Total", "Calls", "Mean", "≈p50", "≈p99", "Longest"}


def test_without_scripts_the_page_shows_functions(opened, tmp_path):
    browser, path, _ = opened
    text = path.read_text(encoding="utf-8")
    bare = tmp_path / "bare.html"
    bare.write_text(text[: text.index("<script ")] + "</body></html>", encoding="utf-8")

    browser.open(bare)

    shown = browser.run("document.body.innerText")
    assert "app.py" in shown and "slow_loop" in shown
    assert browser.run(
        "getComputedStyle(document.querySelector('header')).display"
    ) == ("none")


def test_buttons_and_views_have_names(page):
    for key in "12345":
        page.key(key)
        nameless = page.run(
            "[...document.querySelectorAll('button, canvas, select, input')]"
            ".filter((e) => e.offsetParent && !(e.textContent.trim() || e.ariaLabel"
            " || e.labels?.length)).map((e) => e.outerHTML)"
        )
        assert nameless == []
