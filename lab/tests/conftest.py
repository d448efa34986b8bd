"""A folder of data sets for the experiments."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support.folders import rows_of, write_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One set of 100 rows: numbers with holes, a nominal column with a rare level, a class."""
    folder = tmp_path / "sets"  # with a parent of its own: other tests write beside tmp_path
    folder.mkdir()
    write_folder(folder, rows_of())
    return folder
