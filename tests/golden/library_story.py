"""A program of which most is libraries and imports."""

from stories import FUNCTIONS, HOME, LIB
from traces import ENTER, LEAVE, Process, Thread

SITE = f"{HOME}/venv/lib/python3.12/site-packages"

LIBRARY_FUNCTIONS = {
    **{key: FUNCTIONS[key] for key in ("module", "main", "retry")},
    "find": (
        "_frozen_importlib",
        "_find_and_load",
        "<frozen importlib._bootstrap>",
        1349,
    ),
    "frames": ("frames", "<module>", f"{SITE}/frames/__init__.py", 1),
    "frames.io": ("frames.io", "<module>", f"{SITE}/frames/io.py", 1),
    "json": ("json", "<module>", f"{LIB}/json/__init__.py", 1),
    "tour": ("tour.retry", "<module>", f"{HOME}/tour/retry.py", 1),
    "compile": ("re", "_compile", f"{LIB}/re/__init__.py", 330),
    "cli": ("click.core", "Command.__call__", f"{SITE}/click/core.py", 1160),
    "invoke": ("click.core", "Command.invoke", f"{SITE}/click/core.py", 1250),
    "loop": ("asyncio.runners", "run", f"{LIB}/asyncio/runners.py", 160),
    "select": ("selectors", "EpollSelector.select", f"{LIB}/selectors.py", 435),
    "read": ("frames.io", "read", f"{SITE}/frames/io.py", 70),
}


def imports(thread, name, ns, inside=()):
    thread.enter("find")
    thread.work(40_000)
    thread.enter(name)
    thread.work(ns)
    for each in inside:
        imports(thread, each, ns // 2)
    thread.enter("compile")
    thread.work(20_000)
    thread.leave()
    thread.leave()
    thread.leave()


def library():
    """A program that imports a lot, and whose functions are called by libraries."""
    process = Process(5200, LIBRARY_FUNCTIONS, [f"{HOME}/app.py"])
    process.facts["project"] = HOME
    thread = Thread(process, 1, "MainThread", 0, 1_000)
    thread.enter("module")
    imports(thread, "frames", 900_000, ["frames.io", "json"])
    imports(thread, "tour", 100_000)
    for name in ("cli", "invoke", "loop"):
        thread.enter(name)
        thread.work(50_000)
    thread.enter("select")
    thread.wait(3_000_000)
    thread.leave()
    for _ in range(3):
        thread.enter("main")
        thread.work(150_000)
        thread.enter("read")
        thread.work(100_000)
        thread.exception(ENTER, "KeyError", ("read", 72))
        thread.exception(LEAVE, "KeyError", ("read", 72), ("read", 75))
        thread.leave()
        thread.enter("retry")
        thread.work(400_000)
        thread.leave()
        thread.leave()
    thread.exception(ENTER, "ValueError", ("main", 33))
    thread.exception(LEAVE, "ValueError", ("main", 33), ("main", 35))
    for _ in range(4):
        thread.leave()
    thread.flush(last=True)
    return [process]
