"""What following a recording costs: CPU time and memory, and whether it keeps up.

The recording is made by feed.c at a given rate, since no Python is as fast as the
fastest of them.  The follower is `cunei report --follow`.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from builds import ROOT, run

FLAGS = ["-O3", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{ROOT / 'src'}"]

RATES = [1_000_000, 5_000_000, 15_000_000]
SECONDS = 5
# Of the ring: memory is looked at for a minute.
KEEP = 256 << 20
LONG_SECONDS = 60
TICK = os.sysconf("SC_CLK_TCK")


def build(folder):
    layers = (ROOT / "src" / name for name in ("base", "python", "wire", "rt"))
    sources = [file for layer in layers for file in layer.glob("*.c")]
    feed = folder / "feed"
    run("gcc", *FLAGS, ROOT / "bench" / "feed.c", *sources, "-o", feed, "-pthread")
    return feed


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    row = next(line for line in lines if line.startswith("VmRSS:"))
    return int(row.split()[1]) << 10


def watch(feed, cunei, folder, rate, seconds, keep=0):
    """Feed a recording and follow it; CPU of the follower while the feeder runs."""
    trace = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "trace"
    sizes = []
    with subprocess.Popen(
        [feed, trace, str(rate), str(seconds), *([str(keep)] if keep else [])],
        stdout=subprocess.PIPE,
        text=True,
    ) as feeder:
        while not any(trace.glob("*/metadata")):
            time.sleep(0.01)
        command = [cunei, "report", trace, "--follow", "--json", "--interval", "100ms"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as follower:
            # Of many objects the last one is wanted; a thread of its own reads them.
            reader = subprocess.Popen(
                ["tail", "-n", "1"], stdin=follower.stdout, stdout=subprocess.PIPE
            )
            follower.stdout.close()
            while feeder.poll() is None:
                time.sleep(0.25)
                if follower.poll() is None:
                    sizes.append(memory(follower.pid))
                    busy = cpu_s(follower.pid)
            ended = time.monotonic()
            events, took_ns = map(int, feeder.stdout.read().split())
            last = json.loads(reader.communicate()[0])
            late = time.monotonic() - ended
    calls = sum(row["calls"] for row in last["functions"])
    return {
        "rate": events / took_ns * 1e9,
        "cpu": busy / (took_ns / 1e9),
        "late_s": late,
        "memory": sizes[len(sizes) // 4],
        "memory_end": sizes[-1],
        "events": events,
        "read": 2 * calls / events,
        "missed": last["missing_packets"],
    }


def measure(python, folder):
    feed = build(python.folder)
    rows = {}
    for rate in RATES:
        name = f"{rate // 1_000_000} M/s"
        rows[f"{name}, to disk"] = watch(feed, python.cunei, folder, rate, SECONDS)
        rows[f"{name}, ring"] = watch(feed, python.cunei, folder, rate, SECONDS, KEEP)
    name = f"{RATES[-1] // 1_000_000} M/s, ring, {LONG_SECONDS} s"
    rows[name] = watch(feed, python.cunei, folder, RATES[-1], LONG_SECONDS, KEEP)
    return rows


def show(rows):
    heads = ("events/s", "CPU", "memory", "at the end", "read", "missed")
    print(f"\n  {'following a recording':<24}" + "".join(f"{h:>12}" for h in heads))
    for name, row in rows.items():
        print(
            f"  {name:<24}{row['rate'] / 1e6:>10.1f} M{row['cpu']:>11.0%} "
            f"{row['memory'] / 1e6:>9.0f} MB{row['memory_end'] / 1e6:>9.0f} MB"
            f"{row['read']:>12.2%}{row['missed']:>12}"
        )
