"""The example runs, in small."""

from __future__ import annotations

import runpy
from pathlib import Path

ROTATIONS = Path(__file__).parents[1] / "examples" / "rotations.py"


def test_rotations_example_prints_its_table_and_saves_its_pictures(tmp_path, capsys):
    runpy.run_path(str(ROTATIONS))["main"](tmp_path, n_rows=60, n_rotations=6, n_jobs=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line[:3] for line in lines[1:4]] == ["(a)", "(b)", "(c)"]
    pictures = sorted(each.name for each in tmp_path.iterdir())
    ends = ("a", "b", "c", "noise_best", "noise_worst")
    assert pictures == [f"rotations_{end}.png" for end in ends]
