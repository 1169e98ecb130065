"""Every instrumenter on every Python: how many times what a program takes plainly."""

ORDER = (
    "monitoring floor",
    "frame floor",
    "SetProfile counter",
    "monitoring",
    "frame",
    "profile",
    "trace",
    "cProfile",
)


def show(found):
    """One table a workload, a row a Python, from those that were measured."""
    found = [figures for figures in found if "instrumenters" in figures]
    rows = found[0]["instrumenters"]["ns"] if found else ()
    for workload in rows:
        print(f"\n{workload}: × the time without, recorded to disk or at the least")
        heads = "".join(f"{name:>20}" for name in ORDER)
        print(f"  {'':<10}{'plain':>9}{heads}")
        for figures in sorted(found, key=lambda figures: age(figures["python"])):
            row = figures["instrumenters"]["ns"][workload]
            cells = "".join(f"{cell(row, name):>20}" for name in ORDER)
            print(f"  {figures['python']:<10}{row['plain']:>6.1f} ns{cells}")


def age(version):
    """3.9 is older than 3.10; without a GIL it is the last of all."""
    numbers = [int(part) for part in version.rstrip("t").split(".")]
    return version.endswith("t"), numbers


def cell(row, name):
    return f"×{row[name] / row['plain']:.2f}" if name in row else "–"


def bars(instrumenters):
    """What is recorded by default on 3.9 to 3.11 is cheaper than a counter of calls."""
    if not (3, 9) <= tuple(instrumenters["python"]) < (3, 12):
        return
    for workload, row in instrumenters["ns"].items():
        counter = row["SetProfile counter"] - row["plain"]
        ratio = (row["frame"] - row["plain"]) / counter
        title = f"{workload}: recorded / SetProfile counter"
        yield title, "≤ ×1.00", f"×{ratio:.2f}", ratio <= 1
