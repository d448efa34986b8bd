"""The tool that checks imports of the package itself reports those that evade the contracts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "check_imports.py"


def run(package: Path, line: str) -> subprocess.CompletedProcess[str]:
    (package / "data").mkdir()
    (package / "data" / "__init__.py").write_text("")
    (package / "errors.py").write_text("")
    (package / "__init__.py").write_text("from bevel.data import anything\nimport bevel\n")
    (package / "data" / "columns.py").write_text(f'"""Columns."""\n\n{line}\n')
    command = [sys.executable, str(TOOL), str(package)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "line",
    [
        "from bevel import ObliqueForestClassifier",
        "import bevel",
        "import bevel.errors",
        "from bevel import data, load",
        "if True:\n    from bevel import load",
        "from .. import load",
        "from ..errors import shorten",
    ],
)
def test_import_of_other_names_is_reported_with_its_line(tmp_path, line):
    done = run(tmp_path, line)
    assert done.returncode == 1
    assert f"{tmp_path / 'data' / 'columns.py'}:{3 + line.count(chr(10))}: " in done.stdout


@pytest.mark.parametrize(
    "line",
    [
        "from bevel import _core",
        "from bevel import data, errors",
        "from bevel.errors import shorten",
        "import bevel.errors as errors",
    ],
)
def test_import_of_the_core_and_of_modules_passes(tmp_path, line):
    assert run(tmp_path, line).returncode == 0
