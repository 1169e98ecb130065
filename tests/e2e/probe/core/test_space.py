# SPDX-License-Identifier: MIT
"""No space, of whatever kind: the program is unharmed, and every loss is counted."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import packets
import pytest
from proof import cunei, needs_babeltrace, write_program
from steady import check_counted, check_unharmed, count_trace, record

MIB = 1 << 20


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


@pytest.mark.core
@pytest.mark.parametrize("size", ["1M", "1500K"])
def test_max_size_stops_recording(tmp_path, steady, size):
    program, emitted = steady
    directory = tmp_path / "trace"

    done = record(directory, program, "--max-size", size)

    printed = check_unharmed(done)
    assert len(printed) == 2
    assert printed[1] == "cunei: recording stopped: --max-size was reached"
    check_counted(directory, emitted, some_events=size != "100K")
    used = sum(path.stat().st_size for path in directory.rglob("s*"))
    assert used <= int(size[:-1]) * {"K": 1 << 10, "M": MIB}[size[-1]] + 4096
    report = json.loads(cunei("report", "--json", directory).stdout)
    assert (report["missing_packets"], report["damaged"]) == (0, [])
    assert report["dropped_packets"] > 0


def test_a_file_system_that_gets_full_stops_recording(tmp_path, steady):
    program, emitted = steady
    with mounted(tmp_path / "disk", "1100M", free=1025 * MIB) as disk:
        done = record(disk / "trace", program)

        printed = check_unharmed(done)
        assert len(printed) == 2
        assert "less than 1 GiB or 5 % free" in printed[1]
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

            printed = check_unharmed(done)
            assert len(printed) in (1, 2), (free, printed)
            if packets.folders(disk / "trace"):
                assert "less than 1 GiB or 5 % free" in printed[-1], (free, printed)
                check_counted(disk / "trace", emitted, some_events=False)
            else:
                assert len(printed) == 1, (free, printed)
                assert "nothing was recorded" in printed[0], (free, printed)
                assert "No space left on device" in printed[0], (free, printed)


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

    printed = check_unharmed(done)
    assert len(printed) == 1 and " 0 lost" in printed[0]
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

    printed = check_unharmed(done)
    assert len(printed) == 1 and " 0 lost" in printed[0]
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
        print(open(folder + "/.live").read().split("path ")[1], end="", flush=True)
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

    printed = check_unharmed(done)
    assert len(printed) == 1
    assert "nothing was recorded" in printed[0] and "No space left" in printed[0]


@pytest.mark.core
def test_a_process_that_cannot_record_is_reported(tmp_path):
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
    printed = done.stderr.splitlines()
    assert len(printed) == 2 and " 0 lost" in printed[0]
    assert printed[1] == "cunei: 2 processes could not be recorded: File too large"


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
    printed = done.stderr.splitlines()
    assert len(printed) == 1 and printed[0].startswith("cunei: "), printed
    assert str(directory) in printed[0]
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
