"""Targets whose labels do not repeat are refused, with what to do."""

import numpy as np
import pytest

from bevel.workflow.rows import read_labelled_rows


def written(path, labels):
    lines = ["a,name"] + [f"{place % 7},{label}" for place, label in enumerate(labels)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_target_with_a_label_for_every_row_is_refused(tmp_path):
    path = written(tmp_path / "t.csv", [f"person {i}" for i in range(40)])
    with pytest.raises(ValueError, match=r"labels that repeat; got 40 different ones in 40 rows"):
        read_labelled_rows(path, "name")


def test_target_with_many_labels_that_repeat_is_read(tmp_path):
    path = written(tmp_path / "t.csv", [f"kind {i // 2}" for i in range(40)])
    assert len(np.unique(read_labelled_rows(path, "name").y)) == 20


def test_few_rows_are_not_judged(tmp_path):
    path = written(tmp_path / "t.csv", [f"kind {i}" for i in range(10)])
    assert len(read_labelled_rows(path, "name").y) == 10
