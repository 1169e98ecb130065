# SPDX-License-Identifier: MIT
"""An extension of Sphinx that counts words slowly."""


def count_all(text):
    counts = {}
    for start in range(len(text)):
        for size in range(1, 25):
            part = text[start : start + size]
            counts[part] = counts.get(part, 0) + 1
    return len(counts)


def count_words(app, document):
    document["parts"] = count_all(document.astext())


def setup(app):
    app.connect("doctree-read", count_words)
    return {"parallel_read_safe": True}
