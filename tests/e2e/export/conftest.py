# SPDX-License-Identifier: MIT
"""Traces that the tests of several formats export."""

import pytest
import timeline
from exported import record


@pytest.fixture(scope="module")
def rich(shared):
    """Everything that a timeline can show."""
    record(shared, *timeline.OPTIONS, program=timeline.PROGRAM)
    return shared
