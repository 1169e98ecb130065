"""The figures of a run as tables, with the limits of the project."""

import attaching
import budget
import filters
import follow
import instrumenter_table
import keep

ORDER = ("floor", "not written", "recorded", "VizTracer", "cProfile")
TITLES = {
    "floor": "no-op callback + clock (floor)",
    "not written": "cunei, packets not written",
    "recorded": "cunei, to disk",
    "VizTracer": "VizTracer, Python only, memory",
    "cProfile": "cProfile",
}


def show(figures):
    print(f"\nPython {figures['python']}")
    if "calls" in figures:
        show_calls(figures["calls"])
    if "events" in figures or "spawn" in figures:
        show_events(figures)
    if "lines" in figures:
        show_lines(figures["lines"])
    if "user-events" in figures:
        show_user_events(figures["user-events"])
    print(f"\n  {'':<46}{'limit':>14}{'measured':>16}")
    for part, rows in LIMITS.items():
        if part in figures:
            for title, limit, value, holds in rows(figures[part]):
                verdict = "holds" if holds else "MISSED"
                print(f"  {title:<46}{limit:>14}{value:>16}   {verdict}")
    if "reader" in figures:
        show_reader(figures["reader"])
    if "exports" in figures:
        show_exports(figures["exports"])
    if "follow" in figures:
        follow.show(figures["follow"])
    if "attach" in figures:
        attaching.show(figures["attach"])
    if "budget" in figures:
        print(f"\n  under a budget of {budget.BUDGET} %")
        budget.show(figures["budget"])
    if "filters" in figures:
        filters.show(figures["filters"])
    for part, reason in figures["failed"].items():
        print(f"\n  {part} was not measured: {reason}")
    print(flush=True)


def show_calls(calls):
    table = calls["ns"]
    print("\n  nanoseconds added to a call, × floor")
    print(f"  {'':<32}" + "".join(f"{name:>16}" for name in table))
    plain = "".join(f"{row['plain']:>10.1f}{'':6}" for row in table.values())
    print(f"  {'a plain call takes':<32}{plain}")
    for variant in ORDER:
        cells = ""
        for row in table.values():
            if variant in row:
                cells += (
                    f"{added(row, variant):>+10.1f} {times(row, variant, 'floor'):>5}"
                )
            else:
                cells += f"{'–':>10}{'':6}"
        print(f"  {TITLES[variant]:<32}{cells}")
    show_missing(calls["missing"])


def show_missing(missing):
    rows = {}
    for row, reasons in missing.items():
        for reason in reasons.items():
            rows.setdefault(reason, []).append(row)
    for (variant, reason), names in rows.items():
        print(f"  {TITLES[variant]} was not measured with {', '.join(names)}: {reason}")


def event_rows(figures):
    """(title, nanoseconds by variant) of all events besides calls."""
    events = figures.get("events", {"ns": {}})
    for name, row in events["ns"].items():
        yield f"{name}: {events['units'][name]}", row
    if "spawn" in figures:
        yield "python -c pass: a child", figures["spawn"]


def show_events(figures):
    heads = f"{'plain':>11}{'floor':>11}{'cunei':>11}{'× floor':>9}{'cProfile':>11}"
    print(f"\n  {'time added':<44}{heads}{'× cunei':>9}")
    for title, row in event_rows(figures):
        cells = f"{duration(row['plain']):>11}{cell(row, 'floor'):>11}"
        cells += f"{cell(row, 'recorded'):>11}{times(row, 'recorded', 'floor'):>9}"
        cells += f"{cell(row, 'cProfile'):>11}{times(row, 'cProfile', 'recorded'):>9}"
        print(f"  {title:<44}{cells}")
    if "events" in figures:
        show_scaling(figures["events"])
        show_missing(figures["events"]["missing"])


def show_user_events(rows):
    print(f"\n  {'regions, counters, marks':<44}{'not recorded':>14}{'recorded':>11}")
    for name, row in rows.items():
        print(f"  {name:<44}{duration(row['off']):>14}{duration(row['recorded']):>11}")


def show_lines(lines):
    row = lines["ns"]
    print(
        f"\n  {'time added to a line of ' + duration(row['plain']):<44}{'× floor':>20}"
    )
    for variant in row:
        if variant != "plain":
            title = "cunei, --lines" if variant == "recorded" else variant
            cells = f"{cell(row, variant):>11}{times(row, variant, 'floor'):>9}"
            print(f"  {title:<44}{cells}")
    for variant, reason in lines["missing"].items():
        print(f"  {variant} was not measured: {reason}")


def show_scaling(events):
    """Without a GIL: the calls of several threads, as a multiple of one thread."""
    one = events["ns"].get("1 thread")
    for name in ("2 threads", "8 threads"):
        row = events["ns"].get(name)
        if one and row and events["scales"]:
            cells = ", ".join(f"{key} ×{one[key] / row[key]:.2f}" for key in row)
            print(f"  {name}, calls of one thread: {cells}")


def duration(ns, sign=""):
    if abs(ns) >= 1e6:
        return f"{ns / 1e6:{sign}.2f} ms"
    return f"{ns / 1e3:{sign}.1f} µs" if abs(ns) >= 1e4 else f"{ns:{sign}.0f} ns"


def cell(row, variant):
    return duration(added(row, variant), "+") if variant in row else "–"


def times(row, variant, other):
    """As a multiple of what the other adds; empty if that is within the noise."""
    if variant not in row or other not in row or added(row, other) < row["plain"] / 50:
        return "–"
    return f"×{added(row, variant) / added(row, other):.2f}"


def added(row, variant):
    return row[variant] - row["plain"]


def calls_limits(calls):
    for workload, row in calls["ns"].items():
        if "recorded" in row:
            yield from call_limits(workload, row, tuple(calls["python"]))


def call_limits(workload, row, python):
    recorded = added(row, "recorded")
    # Before 3.12 there is another limit: see instrumenter_table.py.
    if python >= (3, 12):
        ratio = recorded / added(row, "floor")
        yield at_most(f"{workload}: recorded / floor", 1.35, ratio, "×{:.2f}")
    if "not written" in row:
        writing = recorded - added(row, "not written")
        yield at_most(f"{workload}: writing a call", 4, writing, "{:.1f} ns")
    for rival, limit in (("cProfile", 2.8), ("VizTracer", 1.6)):
        if rival in row:
            ratio = added(row, rival) / recorded
            yield at_least(f"{workload}: {rival} / recorded", limit, ratio, "×{:.2f}")


def events_limits(events):
    table = events["ns"]
    row = table.get("builtin calls, --c-calls", {})
    if "recorded" in row and "cProfile" in row:
        ratio = added(row, "cProfile") / added(row, "recorded")
        yield at_least("builtin calls: cProfile / recorded", 2.5, ratio, "×{:.2f}")
    row = table.get("start and join a thread", {})
    if "recorded" in row:
        added_us = added(row, "recorded") / 1000
        yield at_most("a thread that does nothing", 25, added_us, "{:.1f} µs")


def lines_limits(lines):
    row, elsewhere = lines["ns"], lines["elsewhere"]
    ratio = added(row, "recorded") / added(row, "floor")
    yield at_most("a line: recorded / floor", 1.3, ratio, "×{:.2f}")
    if "line_profiler" in row:
        ratio = added(row, "line_profiler") / added(row, "recorded")
        yield at_least("a line: line_profiler / recorded", 1, ratio, "×{:.2f}")
    for where in ("lines elsewhere", "lines of the caller"):
        ratio = elsewhere[where] / elsewhere["recorded"]
        yield at_most(f"fib: {where} / no lines", 1.02, ratio, "×{:.3f}")


def at_most(what, limit, value, form):
    return what, "≤ " + form.format(limit), form.format(value), value <= limit


def at_least(what, limit, value, form):
    return what, "≥ " + form.format(limit), form.format(value), value >= limit


def per_us(figure):
    return figure["records_per_s"] / 1e6


def first_call_limits(first):
    best = first["ns_per_function"]
    added_us = (best["recorded"] - best["plain"]) / 1000
    yield at_most("first call of a function", 6, added_us, "{:.1f} µs")


def churn_limits(churn):
    grown = churn["definition_bytes_grown"]
    yield at_most(
        "definitions grown by 20 000 equal functions", 0, grown, "{:.0f} bytes"
    )


def size_limits(size):
    found = size["bytes_per_call"]
    yield at_most("disk space of a call", 16.3, found, "{:.2f} bytes")


def alone_limits(alone):
    excluded = alone["excluded"] / alone["alone"]
    yield at_most("excluded code", 1.02, excluded, "×{:.3f}")
    loaded = alone["loaded"] / alone["alone"]
    yield at_most("probe loaded, recording off", 1.005, loaded, "×{:.3f}")


def startup_limits(startup):
    record_ms = (startup["record"] - startup["plain"]) * 1000
    yield at_most("cunei record -c pass, over python", 10, record_ms, "{:.1f} ms")
    import_ms = (startup["import"] - startup["plain"]) * 1000
    yield at_most("import cunei", 1, import_ms, "{:.2f} ms")


def spawn_limits(spawn):
    child_ms = added(spawn, "recorded") / 1e6
    yield at_most("a child that does nothing", 15, child_ms, "{:.1f} ms")


def reader_limits(reader):
    yield at_least("decoding, one core", 200, per_us(reader["decode"]), "{:.0f} M/s")
    yield at_least("report, one core", 60, per_us(reader["report"]), "{:.0f} M/s")


def exports_limits(exports):
    rate = exports["perfetto"]["events_per_s"] / 1e6
    yield at_least("export to perfetto", 15, rate, "{:.1f} M/s")
    size = exports["perfetto"]["bytes_per_event"]
    yield at_most("export to perfetto, an event", 16, size, "{:.1f} bytes")
    for name in ("pstats", "folded", "callgrind"):
        rate = exports[name]["events_per_s"] / 1e6
        yield at_least(f"export to {name}", 50, rate, "{:.0f} M/s")


def user_event_limits(rows):
    """Of each call alone; a block counts as one."""
    words = {
        name: row["off"] / (2 if " and " in name else 1)
        for name, row in rows.items()
        if "for comparison" not in name
    }
    worst = max(words, key=words.get)
    found = duration(words[worst])
    yield f"not recorded: {worst}", "< 100 ns", found, words[worst] < 100


LIMITS = {
    "calls": calls_limits,
    "events": events_limits,
    "instrumenters": instrumenter_table.limits,
    "lines": lines_limits,
    "user-events": user_event_limits,
    "first call": first_call_limits,
    "churn": churn_limits,
    "size": size_limits,
    "alone": alone_limits,
    "keep": keep.limits,
    "attach": attaching.limits,
    "startup": startup_limits,
    "spawn": spawn_limits,
    "reader": reader_limits,
    "exports": exports_limits,
}


def show_reader(reader):
    print(f"\n  {'reading':<32}{'M records/s':>16}{'memory, MiB':>16}")
    for name, figure in reader.items():
        memory = figure["memory_bytes"] / 2**20
        print(f"  {name:<32}{per_us(figure):>16.1f}{memory:>16.1f}")


def show_exports(exports):
    print(f"\n  {'exporting':<32}{'M events/s':>16}{'bytes/event':>16}")
    for name, figure in exports.items():
        size = figure.get("bytes_per_event")
        cells = f"{figure['events_per_s'] / 1e6:>16.1f}"
        print(f"  {name:<32}{cells}{'–' if size is None else f'{size:.2f}':>16}")
