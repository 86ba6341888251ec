from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def real_data() -> Path:
    folder = os.environ.get("OVERREAD_REAL_DATA")
    if not folder:
        pytest.skip("OVERREAD_REAL_DATA is not set")
    return Path(folder)
