# SPDX-License-Identifier: MIT
"""The examples of docs/how-to/add-regions-and-counters.md run, recorded and not."""

import re
import textwrap

import pytest
from proof import ROOT, python
from user_events import record

PAGE = ROOT / "docs" / "how-to" / "add-regions-and-counters.md"
BLOCKS = re.findall(r"(?:^(?:    .*)?\n)+", PAGE.read_text(), re.MULTILINE)
EXAMPLES = [textwrap.dedent(block) for block in BLOCKS if "    import cunei" in block]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples(tmp_path, number):
    done = python("-c", EXAMPLES[number], cwd=tmp_path)
    recorded = record(tmp_path, EXAMPLES[number])

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert recorded.trace.lost() == 0
    if number == 0:
        assert recorded.marks() == [("imported", 1000)]
        assert recorded.parameters() == [("path", "a.csv", "load")]
        assert recorded.regions() == "import -import"
    else:
        assert [count for _, _, count in recorded.tokens()] == [0, 1, 1, 1, 1, 0]


def test_there_are_examples():
    assert len(EXAMPLES) == 2
