"""A snapshot that triggers made, of two processes."""

from stories import member, server


def cause(*numbers, texts):
    """The value of a line `cause`; its texts are quoted once more than a line is."""
    quoted = (text.replace("%", "%25").replace(" ", "%20") for text in texts)
    return " ".join([*map(str, numbers), *quoted])


def caught():
    [first] = server()
    second = member(510, 3_000_000, ended=0, end_ns=0, signal=11)
    start = first.facts["start_ns"]
    first.facts["cause"] = cause(
        *(start + 2_345_678, 0, 3, 501, 80),
        texts=["exception:Stop", "Stop raised", "__main__:<module>", "loop's end?"],
    )
    second.facts["cause"] = cause(
        start + 4_000_000, 11, 1, 0, 0, texts=["crash", "killed by SIGSEGV", "", ""]
    )
    return [first, second]
