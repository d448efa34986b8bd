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


PROPOSALS = Path(__file__).parents[1] / "examples" / "proposals.py"


def test_proposals_are_compared_with_their_plain_forms(capsys):
    main = runpy.run_path(str(PROPOSALS))["main"]
    main(None, trees=3, repeats=1, names=("wine", "iris"))
    lines = capsys.readouterr().out.splitlines()
    ideas = ("inherited", "reuse", "random", "linear", "auto-context")
    assert all(sum(idea in line for line in lines) == 3 for idea in ideas)


def test_parents_direction_is_found_from_how_the_rows_were_parted():
    """Two nodes by hand: the second has the rows of one side of the first's second direction."""
    import numpy as np

    ancestors = runpy.run_path(str(PROPOSALS))["Ancestors"]("inherit")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(20, 3)), np.arange(20.0)])
    first = ancestors(rng, X, np.zeros(20), np.ones(20))
    cut = X @ first[:, 1] > 0
    second = ancestors(rng, X[cut], np.zeros(cut.sum()), np.ones(cut.sum()))
    np.testing.assert_allclose(second[:, -1], first[:, 1])
