"""Makes one page of its parts, as a C header: what stands before its data, and behind.

embed.py page.html style.css script.js page.h
"""

import pathlib
import sys

WIDTH = 16


def array(name, text):
    data = text.encode()
    rows = (
        ", ".join(str(byte) for byte in data[at : at + WIDTH])
        for at in range(0, len(data), WIDTH)
    )
    body = ",\n    ".join(rows)
    return f"static const unsigned char {name}[] = {{\n    {body}}};\n"


def main(page, style, script, header):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for part in (style, script):
        file = pathlib.Path(part)
        text = text.replace(f"/*{file.name}*/", file.read_text(encoding="utf-8"))
    before, behind = text.split("/*data*/")
    pathlib.Path(header).write_text(
        array("page_begin", before) + array("page_end", behind), encoding="utf-8"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
