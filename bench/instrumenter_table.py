"""Every instrumenter on every Python, as a multiple of the plain run time."""

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
    """One table per workload, one row per measured Python."""
    found = [figures for figures in found if "instrumenters" in figures]
    rows = found[0]["instrumenters"]["ns"] if found else ()
    for workload in rows:
        print(f"\n{workload}: × the plain time; floor: the least of a hook")
        heads = "".join(f"{name:>20}" for name in ORDER)
        print(f"  {'':<10}{'plain':>9}{heads}")
        for figures in sorted(found, key=lambda figures: age(figures["python"])):
            row = figures["instrumenters"]["ns"][workload]
            cells = "".join(f"{cell(row, name):>20}" for name in ORDER)
            print(f"  {figures['python']:<10}{row['plain']:>6.1f} ns{cells}")


def age(version):
    """Sorts 3.9 before 3.10, and free-threaded builds last."""
    numbers = [int(part) for part in version.rstrip("t").split(".")]
    return version.endswith("t"), numbers


def cell(row, name):
    return f"×{row[name] / row['plain']:.2f}" if name in row else "–"


def limits(instrumenters):
    """On 3.9 to 3.11 the default hook should cost less than a counter of calls."""
    if not (3, 9) <= tuple(instrumenters["python"]) < (3, 12):
        return
    for workload, row in instrumenters["ns"].items():
        counter = row["SetProfile counter"] - row["plain"]
        ratio = (row["frame"] - row["plain"]) / counter
        title = f"{workload}: recorded / SetProfile counter"
        yield title, "≤ ×1.00", f"×{ratio:.2f}", ratio <= 1
