# SPDX-License-Identifier: MIT
"""No space, of whatever kind: the program is unharmed, and every loss is counted."""

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import packets
import pytest
from proof import CUNEI, DEADLINE_S, cunei, needs_babeltrace, write_program

MIB = 1 << 20

# Its events are always the same ones; it needs 1.7 MB for them.
STEADY = """
import sys
def f(n):
    return n + 1
def g():
    try:
        h()
    except ValueError:
        pass
def h():
    raise ValueError
total = 0
for i in range(90_000):
    total = f(total)
for i in range(5_000):
    g()
print("total", total)
print("warning", file=sys.stderr)
sys.exit(7)
"""


def count_trace(directory):
    """Events in the trace but for the stacks, and what it says was lost."""
    told = json.loads(cunei("report", "--json", directory).stdout)
    lines = cunei("dump", directory).stdout.split("\n")[:-1]
    assert len(lines) == told["events"]
    return sum('" stack: ' not in line for line in lines), told["lost"]


def record(directory, program, *options, wrap=(), **more):
    words = [*wrap, CUNEI, "record", "-o", directory, *options, program]
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        **more,
    )


def messages(done):
    """What cunei said, without what the program said."""
    lines = done.stderr.splitlines()
    said = [line for line in lines if line.startswith("cunei: ")]
    assert [line for line in lines if line not in said] == ["warning"]
    return said


def check_unharmed(done):
    assert (done.returncode, done.stdout) == (7, "total 90000\n"), done.stderr
    return messages(done)


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """The program, and how many events it makes."""
    folder = tmp_path_factory.mktemp("steady")
    program = write_program(folder, STEADY)
    done = record(folder / "trace", program)
    said = check_unharmed(done)
    assert len(said) == 1 and " 0 lost" in said[0]
    events, lost = count_trace(folder / "trace")
    assert lost == 0
    return program, events


@contextlib.contextmanager
def mounted(folder, size, free=None):
    """A small file system in memory, filled up until `free` bytes are left."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount a file system: {done.stderr.strip()}")
    try:
        if free is not None:
            state = os.statvfs(folder)
            filler = state.f_bavail * state.f_frsize - free
            with (folder / "filler").open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, filler)
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def check_counted(directory, emitted, *, some_events=True):
    """Nothing is missing that is not counted; stock tools read what there is."""
    events, lost = count_trace(directory)
    assert events + lost == emitted
    assert lost > 0
    if some_events:
        assert events > 0


@pytest.mark.core
@pytest.mark.parametrize("size", ["1M", "1500K"])
def test_max_size_stops_recording(tmp_path, steady, size):
    program, emitted = steady
    directory = tmp_path / "trace"

    done = record(directory, program, "--max-size", size)

    said = check_unharmed(done)
    assert len(said) == 2
    assert said[1] == "cunei: recording stopped: --max-size was reached"
    check_counted(directory, emitted, some_events=size != "100K")
    used = sum(path.stat().st_size for path in directory.rglob("s*"))
    assert used <= int(size[:-1]) * {"K": 1 << 10, "M": MIB}[size[-1]] + 4096


def test_a_file_system_that_gets_full_stops_recording(tmp_path, steady):
    program, emitted = steady
    with mounted(tmp_path / "disk", "1100M", free=1025 * MIB) as disk:
        done = record(disk / "trace", program)

        said = check_unharmed(done)
        assert len(said) == 2
        assert "less than 1 GiB or 5 % free" in said[1]
        check_counted(disk / "trace", emitted)
        state = os.statvfs(disk)
        assert state.f_bavail * state.f_frsize > 1023 * MIB


# From nothing at all to enough for a start: at each something else does not fit.
FREE = [0, 4, 100, 500, 767, 772, 776, 780, 788, 800, 1000, 2000]


@needs_babeltrace
def test_a_full_disk_does_not_harm_the_program(tmp_path, steady):
    program, emitted = steady
    for free in FREE:
        with mounted(tmp_path / f"disk{free}", "8M", free=free << 10) as disk:
            done = record(disk / "trace", program)

            said = check_unharmed(done)
            assert len(said) in (1, 2), (free, said)
            if packets.folders(disk / "trace"):
                assert "less than 1 GiB or 5 % free" in said[-1], (free, said)
                check_counted(disk / "trace", emitted, some_events=False)
            else:
                assert len(said) == 1, (free, said)
                assert "nothing was recorded" in said[0], (free, said)
                assert "No space left on device" in said[0], (free, said)


@pytest.fixture
def full_memory():
    """Words in front of a command that give it a /dev/shm without any space."""
    script = (
        "mount -t tmpfs -o size=4k,nr_inodes=4 tmpfs /dev/shm &&"
        ' head -c 4096 /dev/zero >/dev/shm/filler && exec "$@"'
    )
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    probe = subprocess.run([*words, "true"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"cannot make a mount namespace: {probe.stderr.strip()}")
    return words


def test_a_full_shared_memory_is_no_reason_not_to_record(tmp_path, steady, full_memory):
    program, emitted = steady

    done = record(tmp_path / "trace", program, wrap=full_memory)

    said = check_unharmed(done)
    assert len(said) == 1 and " 0 lost" in said[0]
    assert count_trace(tmp_path / "trace") == (emitted, 0)


# As file systems that cannot map a file for writing do it.
CANNOT_MAP = """
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef void *map(void *, size_t, int, int, int, off_t);
void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset)
{
    static map *real;
    char name[64], path[4096] = "";
    if (!real)
        real = (map *)dlsym(RTLD_NEXT, "mmap");
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    if (flags & MAP_SHARED && readlink(name, path, sizeof(path) - 1) > 0 &&
        strstr(path, "/.live")) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return real(at, size, rights, flags, fd, offset);
}
map mmap64 __attribute__((alias("mmap")));
"""


@pytest.fixture
def no_mapping(tmp_path):
    """An environment in which live files cannot be mapped where the trace is."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler")
    source = tmp_path / "mmap.c"
    source.write_text(CANNOT_MAP)
    library = tmp_path / "mmap.so"
    words = [
        compiler,
        "-D_GNU_SOURCE",
        "-shared",
        "-fPIC",
        "-o",
        library,
        source,
        "-ldl",
    ]
    subprocess.run(words, check=True)
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    return {
        **os.environ,
        "LD_PRELOAD": str(library),
        "XDG_RUNTIME_DIR": str(runtime),
    }


def in_memory():
    return set(Path(f"/dev/shm/cunei-{os.geteuid()}").glob("live-*"))


def test_where_files_cannot_be_mapped_the_live_file_is_in_memory(
    tmp_path, steady, no_mapping
):
    program, emitted = steady
    before = in_memory()

    done = record(tmp_path / "trace", program, env=no_mapping)

    said = check_unharmed(done)
    assert len(said) == 1 and " 0 lost" in said[0]
    assert count_trace(tmp_path / "trace") == (emitted, 0)
    assert in_memory() == before


def test_a_killed_program_is_recovered_from_memory(tmp_path, no_mapping):
    program = write_program(
        tmp_path,
        """
        import os
        def f():
            pass
        for _ in range(1000):
            f()
        folder = next(os.scandir(os.environ["TRACE"])).path
        print(os.readlink(folder + "/.live"), flush=True)
        os.kill(os.getpid(), 9)
        """,
    )
    before = in_memory()
    directory = tmp_path / "trace"

    done = record(directory, program, env={**no_mapping, "TRACE": str(directory)})

    assert done.returncode == -9
    assert done.stdout.startswith("/dev/shm/cunei-")
    assert " 0 lost" in done.stderr
    assert packets.entries(packets.folders(directory)[0])["f"] == 1000
    assert in_memory() == before


def test_without_a_place_to_map_nothing_is_recorded(
    tmp_path, steady, no_mapping, full_memory
):
    program, _ = steady

    done = record(tmp_path / "trace", program, wrap=full_memory, env=no_mapping)

    said = check_unharmed(done)
    assert len(said) == 1
    assert "nothing was recorded" in said[0] and "No space left" in said[0]


@pytest.mark.core
@pytest.mark.parametrize("size", [0, 1, 4, 200, 700, 800, 1000, 1500])
def test_a_limit_of_file_sizes_around_the_launcher(tmp_path, steady, size):
    program, emitted = steady
    directory = tmp_path / "trace"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size << 10, size << 10))

    done = record(directory, program, preexec_fn=limit)

    said = check_unharmed(done)
    if packets.folders(directory):
        assert len(said) == 2
        assert "'ulimit -f' allows" in said[1]
        check_counted(directory, emitted)
    else:
        assert len(said) == 1
        assert "nothing was recorded" in said[0] and "File too large" in said[0]


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
    said = done.stderr.splitlines()
    assert len(said) == 2, said
    assert all(line.startswith("cunei: ") for line in said)
    assert " 0 lost" not in said[0]
    assert not list(directory.glob("*/.live"))
    # Whatever else the interpreter calls: every f is either there or counted.
    events, lost = count_trace(directory)
    assert events + lost >= 300_000


@pytest.mark.core
def test_a_process_that_cannot_record_is_told_of(tmp_path):
    program = write_program(
        tmp_path,
        """
        import resource, subprocess, sys
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        for code in ("print('one')", "print('two')"):
            subprocess.run([sys.executable, "-c", code], check=True, preexec_fn=limit)
        """,
    )

    done = record(tmp_path / "trace", program)

    assert (done.returncode, done.stdout) == (0, "one\ntwo\n"), done.stderr
    said = done.stderr.splitlines()
    assert len(said) == 2 and " 0 lost" in said[0]
    assert said[1] == "cunei: 2 processes could not record: File too large"


def test_a_directory_that_vanishes_does_not_harm_the_program(tmp_path):
    directory = tmp_path / "trace"
    program = write_program(
        tmp_path,
        f"""
        import shutil, threading
        def f():
            pass
        for _ in range(50_000):
            f()
        shutil.rmtree({str(directory)!r})
        for _ in range(50_000):
            f()
        thread = threading.Thread(target=f)
        thread.start()
        thread.join()
        (lambda: 0)()
        print("done")
        """,
    )

    done = record(directory, program)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    said = done.stderr.splitlines()
    assert len(said) == 1 and said[0].startswith("cunei: "), said
    assert str(directory) in said[0]
    places = Path(f"/dev/shm/cunei-{os.geteuid()}").glob("*")
    pointers = [os.readlink(path) for path in places if path.is_symlink()]
    assert not [target for target in pointers if str(directory) in target]


def test_a_read_only_file_system_is_refused_before_the_program_starts(tmp_path, steady):
    program, _ = steady
    with mounted(tmp_path / "disk", "8M") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

        done = record(disk / "trace", program)

        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1
        assert "Read-only file system" in done.stderr

        start = f"import cunei; cunei.start({str(disk / 'trace')!r})"
        done = subprocess.run(
            [sys.executable, "-c", start], capture_output=True, text=True
        )
        assert "cunei.Error" in done.stderr and "Read-only file system" in done.stderr


# It takes every descriptor that there is, again and again.
GREEDY = """
import os, threading
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
    said = done.stderr.splitlines()
    assert len(said) == 1 and " 0 lost" in said[0], said
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
