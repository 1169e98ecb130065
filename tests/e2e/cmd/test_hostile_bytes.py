# SPDX-License-Identifier: MIT
"""No byte of a program, a trace or a project reaches the terminal unchecked.

Each name that a recording, pyproject.toml, a filter file or a command line can carry
holds escape sequences, line breaks, bytes that are not UTF-8, and characters that turn
or hide text.  Every command prints all of them; its output may hold none.
"""

import json
import os
import re
import shutil
import subprocess
import unicodedata

import pytest
from proof import PROGRAMS

# All of one size, so that they can take each other's places in a binary file.
SIZE = 15
HOSTILE = [
    text.ljust(SIZE, b"x")
    for text in (
        b"\x1b[31m\x1b]0;t\x07",  # a colour, and the title of the window
        b"\x9b2J\x90q\xff\xc0\x80\xed\xa0\x80",  # C1 as bytes, and what is not UTF-8
        "\x9b2J\x85\x9d0;t\x9c".encode(),  # C1 as UTF-8
        b"\nINJECTED\r\n\x7f",
        b"\t\x08\x00\x0b\x0c\x0e\x1a\x01",
        "\u202eabc\u2066\u2069".encode(),
        "\u061c\u200e\u200f\u202d".encode(),
        "\u2028INJ\u2029".encode(),
        "\ufeff\u200b\u2060".encode(),
    )
]
PLAIN = [f"HOSTILENAME_{i:03}" for i in range(len(HOSTILE))]

# NUL ends a word of a command line.
WORDS = [text.replace(b"\0", b"\x02") for text in HOSTILE]
FORBIDDEN_CATEGORIES = {"Cc", "Cf", "Zl", "Zp", "Cs", "Cn"}

assert all(len(text) == SIZE for text in HOSTILE)


def find_unsafe(output):
    """What must not be printed, from a command that prints no colours."""
    text = output.decode("utf-8", "surrogateescape")
    found = {
        character
        for character in text
        if character != "\n" and unicodedata.category(character) in FORBIDDEN_CATEGORIES
    }
    injected = re.findall("^INJ.*", text, re.MULTILINE)
    return found, injected


def run(cunei, *words, **options):
    options.setdefault("cwd", cunei.folder)
    done = subprocess.run(
        [cunei.executable, *words],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**cunei.environment, **options.pop("env", {})},
        timeout=60,
        **options,
    )
    for output in (done.stdout, done.stderr):
        assert find_unsafe(output) == (set(), []), (words, output)
    assert b"Traceback" not in done.stderr, done.stderr
    return done


def quote(text):
    """As values are quoted in a description."""
    return b"".join(b"%%%02X" % byte for byte in text)


def on_one_line(text):
    """As the reader of the metadata takes it."""
    return text.replace(b"\n", b"\x0b").replace(b"\0", b"\x02")


FORMS = {".process": quote, "metadata": on_one_line}

RECORDED = [
    "--include",
    "__main__",
    "--include",
    "HOSTILENAME*",
    "--include",
    "builtins",
]
RECORDED += ["--lines", ":HOSTILENAME*", "--args", ":HOSTILENAME*"]
RECORDED += ["--return", ":HOSTILENAME*", "--c-calls"]
for plain in PLAIN:
    RECORDED += ["--exclude", f"no{plain}"]


def rewrite(folder):
    """Put the hostile names into the files of a recorded process."""
    for path in folder.iterdir():
        data = path.read_bytes()
        for plain, hostile in zip(PLAIN, HOSTILE):
            data = data.replace(plain.encode(), FORMS.get(path.name, bytes)(hostile))
        if path.name == ".process":
            data = rewrite_description(data)
        if path.name == "metadata":
            host = b"".join(map(on_one_line, HOSTILE))
            data = re.sub(b'hostname = "[^"]*"', b'hostname = "%s"' % host, data)
        path.write_bytes(data)


def rewrite_description(data):
    every = quote(b"".join(HOSTILE))
    for key in (b"host", b"python", b"instrumenter", b"executable", b"directory"):
        data, count = re.subn(b"(?m)^%s .*" % key, b"%s %s" % (key, every), data)
        assert count == 1, key
    for text in HOSTILE:
        data += b"pattern -%s\nargument %s\n" % (quote(text), quote(text))
    return data + b"name %s\nparent_folder %s\nbecame %s\n" % (every, every, every)


@pytest.fixture(scope="module")
def traces(shared):
    """The same program, recorded and then rewritten: ended and killed."""
    script = shared.folder / f"{PLAIN[0]}.py"
    shutil.copy(PROGRAMS / "named.py", script)
    for name, env in (("ended", {}), ("killed", {"CUT_OFF": "1"})):
        words = ["record", *RECORDED, "-o", name, script.name, *PLAIN]
        done = run(shared, *words, env=env)
        assert b"call" in done.stderr, done.stderr
        for process in list((shared.folder / name).iterdir()):
            rewrite(process)
            new = process.name.encode() + WORDS[0] + WORDS[3]
            os.rename(process, os.fsencode(process.parent) + b"/" + new)
        for word in WORDS:  # as if processes could not record
            refusal = os.fsencode(shared.folder / name) + b"/.refused-" + word + b"-28"
            open(refusal, "w").close()
    return shared


def list_sections(cunei):
    """The options of a report that choose what it shows."""
    help_text = run(cunei, "help", "report").stdout.decode()
    options = help_text.partition("\nOptions\n")[2].partition("--sort")[0]
    return re.findall(r"--([a-z]+)( NAME)?", options)


def list_formats(cunei):
    listed = json.loads(run(cunei, "export", "--list", "--json").stdout)
    return {each["name"] for each in listed["formats"]}


def run_report(cunei, trace):
    sections = list_sections(cunei)
    assert len(sections) >= 11
    for section, value in sections:
        words = [f"--{section}"]
        if value:
            words.append("re:.")
        run(cunei, "report", trace, *words, "--limit", "0")
    run(cunei, "report", trace, "--limit", "0", "--min-percent", "0")
    run(cunei, "report", trace, "--json")
    run(cunei, "report", trace, "--follow", "--limit", "0")
    run(cunei, "report", trace, "--follow", "--json")
    for word in WORDS:
        run(cunei, "report", trace, "--callers", word)
        run(cunei, "report", trace, "--lines", word)
        run(cunei, "report", trace, "--process", word)
        run(cunei, "report", trace, "--include", word)


# Formats that only their viewers read; the page has tests of its own.
FOR_VIEWERS = {"html", "perfetto", "pstats", "pprof", "otf2", "ctf"}
PRINTED = {"chrome", "speedscope", "folded", "callgrind", "csv"}


def run_export(cunei, trace):
    assert list_formats(cunei) == FOR_VIEWERS | PRINTED
    for name in sorted(PRINTED):
        run(cunei, "export", trace, "--to", name, "-o", "-")
    run(cunei, "export", trace, "--to", "csv", "-o", WORDS[0], "--force")
    run(cunei, "export", trace, "--to", WORDS[0])
    run(cunei, "export", trace, "--to", "csv", "--thread", WORDS[3])


def run_compare(cunei, trace):
    other = "killed" if trace == "ended" else "ended"
    run(cunei, "compare", trace, other, "--limit", "0")
    run(cunei, "compare", trace, other, "--json")
    run(cunei, "compare", trace, other, "--fail-over", "0.1")
    run(cunei, "compare", trace, other, "--include", WORDS[0])


def run_filter(cunei, trace):
    for words in ([], ["--json"], ["-o", WORDS[0], "--force"]):
        run(cunei, "filter", trace, "--max-overhead", "0.1%", *words)


def run_replay(cunei, trace):
    for words in ([], ["--json"], ["--thread", WORDS[3]], ["--process", WORDS[0]]):
        run(cunei, "replay", trace, *words)
        run(cunei, "replay", trace, "--follow", *words)


def run_dump(cunei, trace):
    for words in ([], ["--json"], ["--thread", WORDS[3]], ["--process", WORDS[0]]):
        run(cunei, "dump", trace, *words)


def run_info(cunei, trace):
    for words in ([], ["--json"]):
        run(cunei, "info", trace, *words)


def run_view(cunei, trace):
    run(cunei, "view", trace)


def run_recover(cunei, trace):
    for words in ([], ["--force"]):
        run(cunei, "recover", trace, *words)


def run_snapshot(cunei, trace):
    run(cunei, "snapshot", trace, "-o", WORDS[0] + os.fsencode(f"{trace}.copy"))
    run(cunei, "snapshot", trace, "-o", WORDS[0] + os.fsencode(f"{trace}.copy"))


def run_top(cunei, trace):
    for words in (["--once"], ["--once", "--json"]):
        run(cunei, "top", *words, trace)


def run_watch(cunei, trace):
    run(cunei, "watch", trace, "--trigger", b"mark:" + WORDS[0])


def run_try_trigger(cunei, trace):
    triggers = ["exception:*", "slow:*>0ns", "mark:*", "crash", b"mark:" + WORDS[0]]
    words = [word for trigger in triggers for word in ("--trigger", trigger)]
    for more in ([], ["--json"]):
        run(cunei, "try-trigger", trace, *words, *more)


def run_list(cunei, trace):
    """With links by pid to each process, as they are left after a crash."""
    links = cunei.folder / f"{trace}.run" / "cunei"
    links.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number, process in enumerate((cunei.folder / trace).glob("[!.]*"), 1):
        (links / f"{number}").symlink_to(process / ".live")
    for words in ([], ["--json"]):
        done = run(cunei, "list", *words, env={"XDG_RUNTIME_DIR": links.parent})
        assert PLAIN[0].encode() not in done.stdout
        assert rb"\x1b" in done.stdout or rb"\u001b" in done.stdout
    for word in WORDS:  # where a link leads to
        (links / f"{os.getpid()}").unlink(missing_ok=True)
        os.symlink(b"/" + word + b"/.live", links / f"{os.getpid()}")
        run(cunei, "list", env={"XDG_RUNTIME_DIR": links.parent})


# These read no trace.
READERS = {
    "report": run_report,
    "view": run_view,
    "export": run_export,
    "compare": run_compare,
    "filter": run_filter,
    "replay": run_replay,
    "dump": run_dump,
    "info": run_info,
    "recover": run_recover,
    "snapshot": run_snapshot,
    "watch": run_watch,
    "try-trigger": run_try_trigger,
    "top": run_top,
    "list": run_list,
}
OTHERS = {"run", "record", "doctor", "attach", "arm"}


def list_commands(cunei):
    return re.findall(
        "^  ([a-z-]+)  ", run(cunei, "help").stdout.decode(), re.MULTILINE
    )


def test_every_command_is_tested(cunei):
    assert set(list_commands(cunei)) == READERS.keys() | OTHERS


@pytest.mark.parametrize("trace", ["ended", "killed"])
@pytest.mark.parametrize("command", READERS)
def test_a_command_prints_no_unsafe_byte_of_a_trace(traces, command, trace):
    READERS[command](traces, trace)


def test_the_names_are_in_the_trace(traces):
    """They were rewritten everywhere, and each is printed in its escaped form."""
    for command in ("report", "replay", "dump", "info"):
        done = run(traces, command, "ended")
        assert b"HOSTILENAME_0" not in done.stdout
        for wanted in (rb"\x1b", rb"\x9b", rb"\xe2\x80\xae"):
            assert wanted in done.stdout.replace(rb"\e", rb"\x1b"), (command, wanted)


def test_damaged_files_are_named_safely(traces, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(traces.folder / "ended", copy)
    for process in copy.glob("[!.]*"):
        (process / "s0").write_bytes(b"\x1b[31m" * 100)
    for command in READERS:
        words = [command, copy, *([copy] if command == "compare" else [])]
        run(traces, *words, *(["--to", "csv"] if command == "export" else []))


# It says that it is armed, and answers each request with all members hostile.
LIAR = """
import json, os, socket, sys
folder = os.path.join(os.environ["XDG_RUNTIME_DIR"], "cunei")
os.makedirs(folder, mode=0o700, exist_ok=True)
number = os.stat("/proc/self/ns/pid").st_ino
listener = socket.socket(socket.AF_UNIX)
os.chdir(folder)  # its path may be too long for an address
listener.bind(f"{os.getpid()}-{number}.control")
listener.listen()
words = [os.fsencode(word).decode("utf-8", "replace") for word in sys.argv[1:]]
print("ready", flush=True)
while True:
    for word in words:
        answers, _ = listener.accept()
        answers.recv(100000)
        texts = dict.fromkeys(("version", "python", "armed_by", "directory"), word)
        error = {"error": word} if word == words[0] else {}
        answer = {"cunei": 1, "pid": 1, "session": 7, **texts, **error}
        answers.sendall(json.dumps(answer).encode() + b"\\n")
        answers.close()
"""


@pytest.fixture
def liar(cunei):
    """A process with hostile words in its command line and its answers."""
    runtime = cunei.folder / "runtime"
    runtime.mkdir(mode=0o700)
    environment = {**cunei.environment, "XDG_RUNTIME_DIR": str(runtime)}
    process = subprocess.Popen(
        [cunei.python, cunei.write("liar.py", LIAR), *WORDS],
        env=environment,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout.readline() == b"ready\n"
        yield str(process.pid)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_what_a_process_says_of_itself_is_printed_safely(cunei, liar):
    for _ in WORDS:
        for words in (["--status"], ["--status", "--json"], ["--detach"]):
            run(cunei, "attach", liar, *words)
    for words in ([], ["--for", "1ms"], ["--set", "include=x"]):
        run(cunei, "attach", liar, *words)
    for words in (["doctor", liar], ["list"], ["top", "--once", liar]):
        run(cunei, *words)
        run(cunei, *words, "--json")
    run(cunei, "snapshot", liar)


@pytest.mark.parametrize("word", WORDS, ids=PLAIN)
def test_wrong_words_are_repeated_safely(cunei, word):
    run(cunei, word)
    run(cunei, "help", word)
    for command in list_commands(cunei):
        run(cunei, command, word)
        run(cunei, command, b"--" + word)
        run(cunei, command, b"-" + word)
        run(cunei, command, b"--process=" + word, word)
        run(cunei, command, b"--limit=" + word, word)
        run(cunei, command, b"--python=" + word, word)


@pytest.mark.parametrize("command", ["record", "run"])
def test_a_program_with_hostile_names_is_recorded(cunei, command):
    # A file of any name, in a folder of any name.
    folder = os.fsencode(cunei.folder) + b"/" + WORDS[0] + WORDS[1]
    os.mkdir(folder)
    script = folder + b"/" + WORDS[2] + WORDS[5] + b".py"
    shutil.copy(PROGRAMS / "named.py", script)
    words = [command, "--args", ":main", "--c-calls"]
    if command == "record":
        words += ["-o", WORDS[3]]

    done = run(cunei, *words, script, *WORDS, cwd=folder)

    assert done.returncode == 0, done.stderr
    if command == "record":
        for reader in ("report", "info", "dump", "replay", "filter", "recover"):
            run(cunei, reader, WORDS[3], cwd=folder)


def toml(text):
    """A basic string of TOML, which is always UTF-8."""
    decoded = text.decode("utf-8", "replace")
    return '"' + "".join(f"\\U{ord(character):08x}" for character in decoded) + '"'


EVERY = toml(b"".join(WORDS))
CONFIGURATIONS = [
    text.encode()
    for text in (
        f"{EVERY} = 1",
        f"include = {EVERY}",
        f"include = [1, {EVERY}]",
        f"exclude = [{EVERY}]\nargs = {EVERY}\nlines = {EVERY}\nreturn = {EVERY}",
        f"include = 're:.'\nexclude = {EVERY}",
        f"filter = {EVERY}",
        f"instrumenter = {EVERY}",
        f"max-repr = {EVERY}",
        f"budget = {EVERY}",
        f"python = {EVERY}",
        f"[tool.cunei.compare]\n{EVERY} = {EVERY}",
    )
]
for name in HOSTILE:
    CONFIGURATIONS += [b"include = '" + name + b"'", b"inc" + name + b" = 1", name]


@pytest.mark.parametrize("text", CONFIGURATIONS, ids=range(len(CONFIGURATIONS)))
def test_a_project_of_a_stranger(cunei, text):
    cunei.write("app.py", "pass\n")
    (cunei.folder / "pyproject.toml").write_bytes(b"[tool.cunei]\n" + text + b"\n")
    for words in (["record", "-o", "trace", "app.py"], ["run", "app.py"], ["doctor"]):
        run(cunei, *words)
    run(cunei, "doctor", "--json")


@pytest.mark.parametrize("text", HOSTILE, ids=PLAIN)
def test_a_filter_file_of_a_stranger(cunei, text):
    cunei.write("app.py", "pass\n")
    escaped = "".join(f"\\u{ord(c):04x}" for c in text.decode("utf-8", "replace"))
    for lines in (
        text,
        b"+ " + text,
        b"- re:" + text,
        b"+ re:(" + text,
        b"+ " + text + b"\n- [",
        b'{"exclude_timers": ["' + text + b'"]}',
        b'{"%s": []}' % text,
        b'{"include_files": ["%s(", "%s"]}' % (escaped.encode(), escaped.encode()),
    ):
        (cunei.folder / "filter").write_bytes(lines)
        for command in (["record", "--force", "-o", "trace"], ["run"]):
            run(cunei, *command, "--filter", "filter", "app.py")


def test_the_tables_of_pytest_and_notebooks(cunei):
    names = [word.decode("utf-8", "surrogateescape") for word in HOSTILE]
    code = "from cunei._command import short_name; import sys\n"
    code += f"for name in {ascii(names)}: print(short_name('f.<locals>.' + name))"

    done = subprocess.run([cunei.python, "-X", "utf8", "-c", code], capture_output=True)

    assert find_unsafe(done.stdout) == (set(), [])
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(names)
    assert lines[0] == r"f…\x1b[31m\x1b]0;t\x07xxxx"
