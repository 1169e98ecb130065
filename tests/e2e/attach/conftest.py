# SPDX-License-Identifier: MIT
"""The driver for other users."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from injecting import DRIVER


@pytest.fixture
def driver_for_all():
    """In a folder that every user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(DRIVER, folder)
