"""What the constraints of boosting accept and refuse, and that files keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel import projections as P

X = np.random.default_rng(0).normal(size=(80, 3))
FRAME = pd.DataFrame(X, columns=["age", "height", "income"]).assign(city=["a", "b", "c", "d"] * 20)
Y = X[:, 0] + X[:, 1] ** 2
AGAINST = P.Custom(np.array([[1.0], [1.0], [0.0]]))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"monotonic_cst": [1, 0]}, r"one entry per column \(3\); got '2 entries'"),
        ({"monotonic_cst": [1, 0, 2]}, "monotonic_cst must be 1 .*or 0 for each column"),
        ({"monotonic_cst": {"age": 1}}, "must name columns of X"),
        ({"monotonic_cst": {5: 1}}, "of columns from 0 to 2; got 5"),
        ({"interaction_cst": "none"}, '"pairwise", "no_interactions"'),
        ({"interaction_cst": [{0, 7}]}, "of columns from 0 to 2; got 7"),
        ({"interaction_cst": [{0}, set()]}, "Drop the empty set"),
        ({"interaction_cst": [{"age"}]}, "must name columns of X"),
        ({"monotonic_cst": [1, 0, 0], "projection": "multirotation"}, "coefficients may be chosen"),
        ({"interaction_cst": [{0}], "projection": "multirotation"}, "interaction_cst needs"),
        ({"monotonic_cst": [1, -1, 0], "projection": AGAINST}, "direction 0 of P.Custom"),
        ({"interaction_cst": [{0}], "projection": AGAINST}, r"columns \[0, 1\]"),
    ],
)
def test_constraint_that_cannot_be_honoured_raises(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ObliqueBoostingRegressor(max_iter=2, **settings).fit(X, Y)


@pytest.mark.parametrize(
    "settings", [{"monotonic_cst": 1}, {"interaction_cst": [0, 1]}, {"interaction_cst": 3}]
)
def test_constraint_of_the_wrong_kind_raises(settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="_cst must be"):
        ObliqueBoostingRegressor(max_iter=2, **settings).fit(X, Y)


def test_nominal_column_cannot_be_monotone() -> None:
    with pytest.raises(ValueError, match="nominal columns, whose levels have no order; got 'city'"):
        ObliqueBoostingRegressor(monotonic_cst={"city": 1}).fit(FRAME, Y)


def test_three_classes_cannot_be_monotone() -> None:
    with pytest.raises(ValueError, match="one output"):
        ObliqueBoostingClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.arange(80) % 3)


def test_names_and_positions_give_the_same_model() -> None:
    by_name = ObliqueBoostingRegressor(
        max_iter=10,
        random_state=0,
        monotonic_cst={"age": 1, "income": -1},
        interaction_cst=[{"age", "city"}, {"height"}],
    ).fit(FRAME, Y)
    by_position = ObliqueBoostingRegressor(
        max_iter=10,
        random_state=0,
        monotonic_cst=np.array([1, 0, -1, 0]),
        interaction_cst=[(0, 3), [1], (2,)],
    ).fit(FRAME, Y)
    np.testing.assert_array_equal(by_name.predict(FRAME), by_position.predict(FRAME))


def test_constraints_of_nothing_change_nothing() -> None:
    free = ObliqueBoostingRegressor(max_iter=10, random_state=0).fit(X, Y)
    zero = ObliqueBoostingRegressor(max_iter=10, random_state=0, monotonic_cst=[0, 0, 0]).fit(X, Y)
    np.testing.assert_array_equal(free.predict(X), zero.predict(X))


def test_constraints_come_back_from_a_file(tmp_path: Path) -> None:
    model = ObliqueBoostingRegressor(
        max_iter=3, monotonic_cst={"age": 1}, interaction_cst=[{"age", "city"}, {"height"}]
    ).fit(FRAME, Y)
    model.save(tmp_path / "model.bevel")
    assert bevel.load(tmp_path / "model.bevel").get_params() == model.get_params()
