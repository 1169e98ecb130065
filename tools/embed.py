"""Makes one page of its parts, as a C header: its text before the summary,
between summary and data, and after the data.

embed.py page.html style.css script.js… page.h

The policy of the page allows only this script and this style, by their hashes.
"""

import base64
import hashlib
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


def read(part):
    return pathlib.Path(part).read_text(encoding="utf-8")


def hashed(text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def main(page, style, *rest):
    *scripts, header = rest
    css = read(style)
    script = '"use strict";\n' + "".join(read(part) for part in scripts)
    text = (
        read(page)
        .replace("/*style-hash*/", hashed(css))
        .replace("/*script-hash*/", hashed(script))
        .replace("/*style*/", css)
        .replace("/*script*/", script)
    )
    head, rest = text.split("<!--summary-->")
    middle, end = rest.split("/*data*/")
    pathlib.Path(header).write_text(
        array("page_begin", head)
        + array("page_middle", middle)
        + array("page_end", end),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
