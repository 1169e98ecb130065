"""The programs whose traces the golden tests show."""

from traces import ENTER, LEAVE, RESUME, YIELD, Process, Thread

HOME = "/home/user/tour"
LIB = "/usr/lib/python3.12"

FUNCTIONS = {
    "module": ("__main__", "<module>", f"{HOME}/app.py", 1),
    "main": ("__main__", "main", f"{HOME}/app.py", 30),
    "fib": ("tour.numbers", "fib", f"{HOME}/tour/numbers.py", 8),
    "parse": ("tour.parse", "Parser.parse", f"{HOME}/tour/parse.py", 41),
    "token": ("tour.parse", "Parser.token", f"{HOME}/tour/parse.py", 60),
    "lines": ("tour.pipeline", "lines", f"{HOME}/tour/pipeline.py", 12),
    "retry": ("tour.retry", "retry", f"{HOME}/tour/retry.py", 5),
    "fetch": ("tour.retry", "fetch", f"{HOME}/tour/retry.py", 19),
    "boot": ("threading", "Thread._bootstrap", f"{LIB}/threading.py", 1012),
    "run": ("threading", "Thread.run", f"{LIB}/threading.py", 991),
    "worker": (
        "tour.workers",
        "make_worker.<locals>.a_worker_with_quite_a_long_name_for_a_function",
        f"{HOME}/tour/workers.py",
        22,
    ),
    "wide": ("tour.名前", "数を数える", f"{HOME}/tour/名前.py", 3),
    "evil": ("evil", "clear\x1b[2J", f"{HOME}/evil.py", 1),
}


def fib(thread, n):
    thread.enter("fib")
    thread.work(700)
    if n > 1:
        fib(thread, n - 1)
        fib(thread, n - 2)
        thread.work(300)
    thread.leave()


def parse(thread, count):
    thread.enter("parse")
    for i in range(count):
        thread.work(2_000)
        thread.enter("token")
        thread.work(5_000 + 1_000 * (i % 7))
        thread.leave()
    thread.leave()


def pipeline(thread, count):
    thread.enter("lines")
    thread.work(4_000)
    thread.leave(YIELD)
    for _ in range(count):
        thread.work(500)
        thread.enter("lines", RESUME)
        thread.work(3_000)
        thread.leave(YIELD)
    thread.enter("lines", RESUME)
    thread.work(1_000)
    thread.leave()


def retries(thread):
    thread.enter("retry")
    for _ in range(3):
        thread.work(1_000)
        thread.enter("fetch")
        thread.wait(400_000)
        thread.raise_out()
    thread.enter("fetch")
    thread.wait(350_000)
    thread.leave()
    thread.leave()


def worker(process, serial, stream, start_ns):
    thread = Thread(process, serial, f"worker-{serial - 1}", stream, start_ns)
    thread.enter("boot")
    thread.work(10_000)
    thread.enter("run")
    thread.enter("worker")
    for _ in range(3):
        thread.work(250_000)
        thread.wait(500_000)
        fib(thread, 6)
    thread.leave()
    thread.leave()
    thread.work(2_000)
    thread.leave()
    thread.flush(last=True)


def tour():
    process = Process(4242, FUNCTIONS, [f"{HOME}/app.py", "--fast"])
    process.facts["end_ns"] = process.facts["start_ns"] + 12_000_000
    thread = Thread(process, 1, "MainThread", 0, 1_000)
    thread.enter("module")
    thread.work(50_000)
    thread.enter("main")
    fib(thread, 12)
    thread.flush()
    parse(thread, 40)
    pipeline(thread, 20)
    retries(thread)
    thread.enter("wide")
    thread.work(33_000)
    thread.leave()
    thread.flush()
    thread.wait(2_000_000)
    thread.leave()
    thread.work(5_000)
    thread.leave()
    thread.flush(last=True)
    worker(process, 2, 1, 900_000)
    worker(process, 3, 1, 4_000_000)
    return [process]


def pool():
    """Two threads that mostly wait, and one function that works."""
    functions = {
        **FUNCTIONS,
        "join": ("threading", "Thread.join", f"{LIB}/threading.py", 1056),
        "get": ("queue", "Queue.get", f"{LIB}/queue.py", 154),
        "slow": ("tour.slow", "slow", f"{HOME}/tour/slow.py", 3),
    }
    process = Process(4400, functions, [f"{HOME}/pool.py"])
    thread = Thread(process, 1, "MainThread", 0, 1_000)
    thread.enter("module")
    thread.work(50_000)
    thread.enter("join")
    thread.wait(9_000_000)
    thread.leave()
    thread.leave()
    thread.flush(last=True)
    for serial in (2, 3):
        thread = Thread(process, serial, f"worker-{serial - 1}", serial - 1, 51_000)
        thread.enter("run")
        for _ in range(4):
            thread.enter("get")
            thread.wait(2_000_000)
            thread.leave()
            thread.enter("slow")
            thread.work(200_000)
            thread.leave()
        thread.leave()
        thread.flush(last=True)
    return [process]


def killed():
    """Killed in the middle of things, after losing some, with an orphan or two."""
    process = Process(77, FUNCTIONS, ["python3", "-X", "dev", "-m", "tour", "x"])
    process.facts.update(ended=0, end_ns=0, lost=12_345, full=1, lost_no_space=12_345)
    thread = Thread(process, 1, "MainThread", 0)
    thread.enter("module")
    thread.work(100_000)
    thread.orphan("fetch")
    thread.enter("main")
    thread.enter("evil")
    thread.work(900_000)
    thread.leave()
    thread.flush()
    thread.process.discarded = 12_345
    thread.words.clear()
    thread.wait(5_000_000)
    thread.begin_packet()
    fib(thread, 4)
    thread.enter("parse")
    thread.work(20_000)
    thread.enter("token")
    thread.work(5_000)
    thread.flush(cpu=False)
    return [process]


def processes():
    parent = tour()[0]
    child = Process(4300, dict(reversed(FUNCTIONS.items())), [f"{HOME}/child.py"])
    child.facts["parent"] = 4242
    thread = Thread(child, 1, "MainThread", 0, 3_000_000)
    thread.enter("module")
    fib(thread, 9)
    parse(thread, 5)
    thread.leave()
    thread.flush(last=True)
    return [parent, child]


DEEP = "/srv/builds/2026/checkout/packages"

ODD_FUNCTIONS = {
    "module": ("__main__", "<module>", f"{DEEP}/app/main.py", 1),
    "main": ("__main__", "main", f"{DEEP}/app/main.py", 9),
    "import": (
        "importlib._bootstrap",
        "_find_and_load",
        "<frozen importlib._bootstrap>",
        1349,
    ),
    "json": ("json.decoder", "<module>", f"{LIB}/json/decoder.py", 1),
    "even": ("parity", "is_even", f"{DEEP}/library/source/parity.py", 3),
    "odd": ("parity", "is_odd", f"{DEEP}/library/source/parity.py", 7),
    "latin": (
        "latin",
        "r\udce9sum\udce9",
        f"{DEEP}/latin\udcff/r\udce9sum\udce9.py",
        2,
    ),
}


def odd():
    """Deep directories, names that are no text, a recursion of two functions; main
    was open when recording began."""
    process = Process(88, ODD_FUNCTIONS, ["python3", f"{DEEP}/run/app.py"])
    process.facts["event_cost_ps"] = 0
    thread = Thread(process, 1, "MainThread", 0)
    thread.words.clear()
    thread.open = ["module", "main"]
    thread.begin_packet()
    thread.enter("import")
    thread.work(70_000)
    thread.enter("json")
    thread.work(30_000)
    thread.leave()
    thread.leave()
    for name in ("even", "odd", "even", "odd"):
        thread.enter(name)
        thread.work(9_000)
    for _ in range(4):
        thread.leave()
    thread.enter("latin")
    thread.work(4_000)
    thread.leave()
    thread.leave()
    thread.leave()
    thread.flush(last=True)
    return [process]


def brief():
    """Calls of a function that takes no longer than it takes to record them."""
    process = Process(77, FUNCTIONS, ["python3", "app.py"])
    thread = Thread(process, 1, "MainThread", 0)
    thread.work(50_000)
    for _ in range(60):
        thread.enter("fib")
        thread.work(10)
        thread.leave()
        thread.work(300)
    thread.flush(last=True)
    return [process]


def again():
    """One process that recorded twice; its disk was full the second time."""
    recordings = [Process(99, FUNCTIONS, ["python3", "app.py"]) for _ in range(2)]
    recordings[1].facts.update(lost=1_234_567, lost_no_space=1_234_567)
    recordings[1].facts.update(full=1, stop_errno=28)
    for number, process in enumerate(recordings):
        process.number = number
        thread = Thread(process, 1, "MainThread", 0, number * 5_000_000)
        fib(thread, 5)
        thread.flush(last=True)
    return recordings


SERVER_FUNCTIONS = {
    "module": ("__main__", "<module>", f"{HOME}/server.py", 1),
    "run": ("asyncio.runners", "run", f"{LIB}/asyncio/runners.py", 160),
    "once": (
        "asyncio.base_events",
        "BaseEventLoop._run_once",
        f"{LIB}/asyncio/base_events.py",
        1922,
    ),
    "serve": ("__main__", "serve", f"{HOME}/server.py", 40),
    "handle": ("__main__", "handle", f"{HOME}/server.py", 12),
    "query": ("db", "Pool.query", f"{HOME}/db.py", 30),
    "append": ("builtins", "list.append", "", 0),
    "sleep": ("time", "sleep", "", 0),
    "hub": ("gevent.hub", "Hub.run", "/venv/lib/python3.12/site-packages/g/hub.py", 7),
    "green": ("__main__", "green", f"{HOME}/server.py", 60),
}


def step(thread, number, name, phase=RESUME):
    """A step of a handler: a query, an exception now and then, a suspension."""
    thread.task(number, name, "handle", phase)
    thread.work(20_000)
    thread.enter("query")
    if phase == ENTER:
        thread.argument(ENTER, "query", 0, "self", "<db.Pool at 0x7f00>")
        thread.argument(ENTER, "query", 1, "sql", "'select \\'?\\''")
    thread.work(30_000)
    if number % 2:
        raised, handler = ("query", 33), ("handle", 17)
        thread.exception(ENTER, "db.Busy", raised)
        thread.raise_out()
        thread.exception(LEAVE, "db.Busy", raised, handler, 1)
        if phase == RESUME:
            thread.exception(RESUME, "db.Busy", raised, handler, 1)
    else:
        thread.argument(LEAVE, "query", 0, "", "[1, 2]")
        thread.leave()
    thread.enter("append")
    thread.work(100)
    thread.leave()


def tasks(thread):
    names = {2: "handle-2", 3: "handle-3"}
    for number, name in names.items():
        step(thread, number, name, ENTER)
        thread.leave(YIELD)
        thread.wait(5_000)
    thread.gc(ENTER, 2)
    thread.work(700_000)
    thread.gc(LEAVE, 2, 1_234, 1)
    thread.flush()
    step(thread, 2, "", RESUME)
    thread.leave()
    step(thread, 3, "handle-3 again", RESUME)
    thread.raise_out()


def greenlets(thread):
    """The hub and a greenlet take turns."""
    thread.enter("hub")
    thread.work(5_000)
    thread.switch(2, [])
    thread.enter("green")
    thread.work(40_000)
    thread.enter("sleep")
    thread.work(1_000)
    thread.switch(1, ["module", "hub"])
    thread.work(9_000)
    thread.switch(2, ["green", "sleep"])
    thread.leave()
    thread.work(2_000)
    thread.leave()
    thread.switch(1, ["module", "hub"])
    thread.leave()


def server():
    """Tasks, exceptions, collections, arguments, greenlets, C functions, a new name."""
    process = Process(500, SERVER_FUNCTIONS, [f"{HOME}/server.py"])
    process.facts.update(c_calls=1, exited=1, exit_status=1, interpreters=2)
    process.facts.update(instrumenter="trace", taken=3)
    thread = Thread(process, 1, "MainThread", 0)
    thread.enter("module")
    thread.enter("run")
    thread.enter("once")
    thread.task(1, "Task-1", "serve")
    thread.work(10_000)
    thread.leave(YIELD)
    tasks(thread)
    thread.leave()
    thread.leave()
    thread.rename("loop's end?")
    greenlets(thread)
    thread.gc(ENTER, 0)
    thread.work(9_000)
    thread.gc(LEAVE, 0, 7)
    thread.exception(ENTER, "__main__.Stop", ("module", 80))
    thread.raise_out()
    thread.exception(LEAVE, "__main__.Stop", ("module", 80), None, 1)
    thread.flush(last=True)
    return [process]


def member(pid, start_ns, **facts):
    process = Process(pid, FUNCTIONS, [f"{HOME}/app.py"])
    start = process.facts["start_ns"] + start_ns
    process.facts.update(start_ns=start, end_ns=start + 10_000_000 - pid * 1_000)
    process.facts.update(facts)
    thread = Thread(process, 1, "MainThread", 0, start_ns)
    fib(thread, 2 + pid % 5)
    thread.flush(last=process.facts["ended"])
    return process


def family():
    """A tree of processes: forked, started, replaced, killed, and many small ones."""
    first = member(100, 0, exited=1, exit_status=0, cpu_ns=90_000_000)
    forked = {"forked": 1, "parent": 100, "parent_folder": "golden-100-0"}
    relatives = [first]
    for number in range(3):
        relatives.append(
            member(
                110 + number,
                1_000_000 + number * 1_000,
                name=f"ForkPoolWorker-{number + 1}",
                left=1,
                exit_status=0,
                cpu_ns=5_000_000,
                **forked,
            )
        )
    relatives.append(member(120, 2_000_000, ended=0, end_ns=0, signal=9, **forked))
    relatives.append(member(130, 2_500_000, parent=111, cpu_ns=30_000_000))
    relatives.append(member(131, 2_600_000, parent=130, left=1, exit_status=3))
    for pid in range(200, 240):
        relatives.append(member(pid, pid * 20_000, parent=100, cpu_ns=pid * 10))
    stranger = member(900, 9_000_000, parent=1, python="CPython 3.14.0")
    return [*relatives, stranger]


def newer():
    process = Process(1, FUNCTIONS, ["app.py"], version=2)
    return [process]


def empty():
    process = Process(5, FUNCTIONS, ["app.py"])
    thread = Thread(process, 1, "MainThread", 0)
    thread.flush(last=True)
    return [process]


LINED_FUNCTIONS = {
    "module": ("__main__", "<module>", "lined.py", 1),
    "solve": ("__main__", "Solver.solve", "lined.py", 6),
    "numbers": ("__main__", "numbers", "lined.py", 1),
    "gone": ("gone", "f", f"{HOME}/gone.py", 7),
}

LINED = """\
def numbers():
    yield 1  # \x1b[2J
    yield 2

class Solver:
    @staticmethod
    def solve():
        total = sum(numbers(), start=some_quite_long_name + another_quite_long_name)
        if total < 0:
            raise ValueError("never")
        return total


def after():
    pass
"""


def lined():
    """Lines of some functions; their file lies where the report is made, or nowhere."""
    process = Process(600, LINED_FUNCTIONS, ["lined.py"])
    process.facts.update(directory=".", exited=1, exit_status=0)
    thread = Thread(process, 1, "MainThread", 0)
    thread.enter("module")
    thread.enter("solve")
    thread.line(8)
    thread.work(3_000)
    thread.enter("numbers")
    thread.line(2)
    thread.work(400)
    thread.leave(YIELD)
    thread.work(100)
    thread.enter("numbers", RESUME)
    thread.line(2, RESUME)
    thread.work(50)
    thread.line(3, YIELD)  # of an instruction …
    thread.line(3, YIELD)  # … and another one of the same line
    thread.work(25)
    thread.leave()
    thread.line(9)
    thread.work(40)
    thread.line(11)
    thread.work(10)
    thread.leave()
    thread.enter("gone")
    thread.line(8)
    thread.work(1_000)
    thread.line(300)
    thread.leave()
    thread.leave()
    thread.flush(last=True)
    return [process]


ALL = {
    "tour": tour,
    "pool": pool,
    "killed": killed,
    "processes": processes,
    "odd": odd,
    "brief": brief,
    "again": again,
    "server": server,
    "family": family,
    "lined": lined,
    "newer": newer,
    "empty": empty,
}
