# SPDX-License-Identifier: MIT
"""Limits of the system, on files and descriptors: the program is unharmed by them."""

import resource
import subprocess
import sys

import packets
import pytest
from proof import write_program
from steady import check_counted, check_unharmed, count_trace, record


@pytest.mark.core
@pytest.mark.parametrize("size", [0, 1, 4, 200, 700, 800, 1000, 1500])
def test_a_limit_of_file_sizes_around_the_launcher(tmp_path, steady, size):
    program, emitted = steady
    directory = tmp_path / "trace"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size << 10, size << 10))

    done = record(directory, program, preexec_fn=limit)

    printed = check_unharmed(done)
    if packets.folders(directory):
        assert len(printed) == 2
        assert "'ulimit -f' allows" in printed[1]
        check_counted(directory, emitted)
    else:
        assert len(printed) == 1
        assert "nothing was recorded" in printed[0] and "File too large" in printed[0]


@pytest.mark.core
@pytest.mark.parametrize("size", [0, 4, 1000, 1500])
def test_a_limit_of_file_sizes_that_the_program_sets(tmp_path, size):
    program = write_program(
        tmp_path,
        f"""
        import resource, threading
        def f():
            pass
        def thread():
            for _ in range(50_000):
                f()
            counted.append(50_000)
        counted = []
        unlimited = resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_FSIZE, ({size << 10}, unlimited))
        for _ in range(100_000):
            f()
        other = threading.Thread(target=thread)
        other.start()
        other.join()
        print("counted", counted)
        """,
    )
    directory = tmp_path / "trace"

    done = record(directory, program)

    assert (done.returncode, done.stdout) == (0, "counted [50000]\n"), done.stderr
    printed = done.stderr.splitlines()
    assert len(printed) == 2, printed
    assert all(line.startswith("cunei: ") for line in printed)
    assert " 0 lost" not in printed[0]
    assert not list(directory.glob("*/.live"))
    # Whatever else the interpreter calls: every f is either there or counted.
    events, lost = count_trace(directory)
    assert events + lost >= 300_000


# It takes every descriptor that there is, again and again.
GREEDY = """
import os, sys, threading
def f():
    pass
def take_all():
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    return taken
def work(n):
    exec(f"def new_{n}(): pass\\nnew_{n}()", {})
    for _ in range(40_000):
        f()
# When the first thread ends, behind what join waits for, CPython 3.8 loads a
# library, or aborts.
thread = threading.Thread(target=int)
thread.start()
thread.join()
while sys.version_info < (3, 9) and "libgcc_s" not in open("/proc/self/maps").read():
    pass
for n in range(3):
    taken = take_all()
    work(n)
    more = take_all()
    thread = threading.Thread(target=work, args=(n + 10,))
    thread.start()
    thread.join()
    for fd in taken + more:
        os.close(fd)
print("took", len(taken) > 20)
"""


@pytest.mark.core
@pytest.mark.parametrize("limit", [64, 1024])
def test_a_program_that_takes_every_descriptor_loses_nothing(tmp_path, limit):
    program = write_program(tmp_path, GREEDY)
    directory = tmp_path / "trace"

    def set_limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    done = record(directory, program, preexec_fn=set_limit)

    assert (done.returncode, done.stdout) == (0, "took True\n"), done.stderr
    printed = done.stderr.splitlines()
    assert len(printed) == 1 and " 0 lost" in printed[0], printed
    found = packets.entries(packets.folders(directory)[0])
    assert found["f"] == 6 * 40_000
    assert sum(found[f"new_{n}"] for n in (0, 1, 2, 10, 11, 12)) == 6


@pytest.mark.parametrize("limit", [4, 5, 6, 7, 8, 10])
def test_hardly_any_descriptors_do_not_harm_the_program(tmp_path, steady, limit):
    program, _ = steady
    directory = tmp_path / "trace"
    plain = subprocess.run(
        ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", sys.executable, program],
        capture_output=True,
        text=True,
    )

    done = record(
        directory, program, wrap=["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"]
    )

    if plain.returncode != 7:
        pytest.skip("Python itself needs more")
    assert done.returncode in (1, 7), done.stderr
    if done.returncode == 7:
        check_unharmed(done)
    else:
        assert done.stdout == "" and done.stderr.startswith("cunei: ")
