"""Regions, counters, marks and the like: the cost of each, recorded and not."""

import threading

from variants import Plain, Recording


def calls():
    """Programs that repeat one call; each returns how often."""
    import cunei

    items, tokens = cunei.counter("items"), cunei.tokens("decode")

    def nothing(count):
        for _ in range(count):
            pass
        return count

    def empty():
        pass

    def call(count):
        for _ in range(count):
            empty()
        return count

    lock = threading.Lock()

    def with_lock(count):
        for _ in range(count):
            with lock:
                pass
        return count

    def with_region(count):
        for _ in range(count):
            with cunei.region("region"):
                pass
        return count

    def begin_and_end(count):
        for _ in range(count):
            cunei.region_begin("region")
            cunei.region_end()
        return count

    def begin_and_end_once():
        cunei.region_begin("region")
        cunei.region_end()

    def call_begin_and_end(count):
        for _ in range(count):
            begin_and_end_once()
        return count

    @cunei.region
    def decorated():
        pass

    def call_decorated(count):
        for _ in range(count):
            decorated()
        return count

    def add(count):
        for _ in range(count):
            items.add(1)
        return count

    def mark(count):
        for _ in range(count):
            cunei.mark("mark")
        return count

    def parameter(count):
        for _ in range(count):
            cunei.parameter("size", 3)
        return count

    def metadata(count):
        for _ in range(count):
            cunei.metadata("model", "tiny")
        return count

    def tick(count):
        for _ in range(count):
            tokens.tick()
        return count

    def make_tokens(count):
        for _ in range(count):
            cunei.tokens("decode")
        return count

    def is_recording(count):
        for _ in range(count):
            cunei.is_recording()
        return count

    return {
        "nothing": nothing,
        "a call of an empty function, for comparison": call,
        "with lock: pass, for comparison": with_lock,
        "with region(name): pass": with_region,
        "region_begin(name) and region_end()": begin_and_end,
        "a call of a function with both and no more": call_begin_and_end,
        "a call of a decorated, empty function": call_decorated,
        "counter.add(1)": add,
        "mark(name)": mark,
        "parameter(name, 3)": parameter,
        "metadata(key, text)": metadata,
        "tokens(name)": make_tokens,
        "tokens.tick()": tick,
        "is_recording()": is_recording,
    }


def switches():
    """The same for switches of a recording, which are slower."""
    import cunei

    def disable(count):
        for _ in range(count):
            cunei.disable()
            cunei.enable()
        return count

    def with_disable(count):
        for _ in range(count):
            with cunei.disable():
                pass
        return count

    return {
        "disable() and enable()": disable,
        "with disable(): pass": with_disable,
    }


def measure(best_turns, rounds):
    """Nanoseconds of each, less those of an empty loop."""
    kinds = {"off": Plain, "recorded": Recording}
    table = {
        name: best_turns(kinds, function, 2_000, rounds)[0]
        for name, function in calls().items()
    }
    for name, function in switches().items():
        row = best_turns({"off": Plain}, function, 2_000, rounds)[0]
        row.update(best_turns({"recorded": Recording}, function, 20, 2)[0])
        table[name] = row
    nothing = table.pop("nothing")
    return {
        name: {kind: row[kind] - nothing[kind] for kind in kinds}
        for name, row in table.items()
    }
