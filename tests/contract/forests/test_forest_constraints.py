"""What the constraints and criteria of forests accept and refuse, and that files keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
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
        *(
            ({"monotonic_cst": [1, 0, 0], "projection": projection}, "coefficients may be chosen")
            for projection in ("rotation", "multirotation", "principal", "lda", "ridge", "pls")
        ),
        ({"interaction_cst": [{0}], "projection": ["axis", "lda"]}, "interaction_cst needs"),
        ({"monotonic_cst": [1, -1, 0], "projection": AGAINST}, "direction 0 of P.Custom"),
        ({"interaction_cst": [{0}], "projection": AGAINST}, r"columns \[0, 1\]"),
        (
            {"monotonic_cst": [1, 0, 0], "projection": P.Custom(lambda *_: np.eye(3))},
            "coefficients may be chosen",
        ),
        (
            {"monotonic_cst": [1, 0, 0], "projection": "axis", "threshold": "purely_random"},
            "do not look at the target",
        ),
    ],
)
def test_constraint_that_cannot_be_honoured_raises(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ObliqueForestRegressor(2, **settings).fit(X, Y)


def test_nominal_column_cannot_be_monotone() -> None:
    with pytest.raises(ValueError, match="nominal columns, whose levels have no order; got 'city'"):
        ObliqueForestRegressor(2, monotonic_cst={"city": 1}).fit(FRAME, Y)


def test_three_classes_cannot_be_monotone() -> None:
    with pytest.raises(ValueError, match="one output"):
        ObliqueForestClassifier(2, monotonic_cst=[1, 0, 0]).fit(X, np.arange(80) % 3)


def test_families_say_which_of_them_cannot_hold_a_constraint() -> None:
    for settings in ({"monotonic_cst": [1, 0, 0]}, {"interaction_cst": "no_interactions"}):
        forest = ObliqueForestClassifier(10, random_state=0, **settings).fit(X, Y > 0)
        assert forest.families_.names == ("axis", "sparse")
        name = next(iter(settings))
        reason = f"fits its coefficients freely, which {name} does not allow"
        left_out = dict(forest.families_.left_out)
        assert left_out["lda"] == left_out["cca"] == reason


def test_constraints_of_nothing_change_nothing() -> None:
    free = ObliqueForestRegressor(10, projection="sparse", random_state=0).fit(X, Y)
    zero = ObliqueForestRegressor(
        10,
        projection="sparse",
        random_state=0,
        monotonic_cst=[0, 0, 0],
        interaction_cst=[{0, 1, 2}],
    ).fit(X, Y)
    np.testing.assert_array_equal(free.predict(X), zero.predict(X))


def test_constraints_come_back_from_a_file_and_hold_in_more_trees(tmp_path: Path) -> None:
    model = ObliqueForestRegressor(
        5,
        projection="sparse",
        monotonic_cst={"age": 1},
        interaction_cst=[{"age", "city"}, {"height"}],
        warm_start=True,
        random_state=0,
    ).fit(FRAME, Y)
    model.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel")
    assert loaded.get_params() == model.get_params()
    more, again = (
        each.set_params(n_estimators=9).fit(FRAME, Y).predict(FRAME) for each in (model, loaded)
    )
    np.testing.assert_array_equal(more, again)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (Y, r"targets of zero or more; got -\d.*\(row index \d+\)"),
        (np.zeros(80), "above zero in some row"),
    ],
)
def test_poisson_refuses_targets_that_are_no_counts(y: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ObliqueForestRegressor(2, criterion="poisson").fit(X, y)


def test_poisson_refuses_cuts_that_do_not_look_at_the_target() -> None:
    with pytest.raises(ValueError, match='"poisson" with threshold="purely_random"'):
        ObliqueForestRegressor(
            2, projection="axis", criterion="poisson", threshold="purely_random"
        ).fit(X, Y**2)


def test_poisson_with_counts_of_weight_zero_only_is_refused() -> None:
    y, weight = np.zeros(80), np.ones(80)
    y[0], weight[0] = 3.0, 0.0
    with pytest.raises(ValueError, match="above zero in some row"):
        ObliqueForestRegressor(2, criterion="poisson").fit(X, y, weight)


def test_log_loss_is_entropy() -> None:
    for projection in ("auto", "sparse"):
        one, other = (
            ObliqueForestClassifier(
                20, projection=projection, criterion=criterion, random_state=0
            ).fit(X, Y > 0)
            for criterion in ("entropy", "log_loss")
        )
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_forest_of_another_criterion_has_all_the_usual_results(
    criterion: str, tmp_path: Path
) -> None:
    forest = ObliqueForestRegressor(
        60, criterion=criterion, oob_score=True, keep_targets=True, random_state=0
    ).fit(FRAME, np.abs(Y))
    assert forest.oob_score_ > 0.2
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    assert "mean loss" not in str(forest.families_)
    forest.save(tmp_path / "forest.bevel")
    np.testing.assert_array_equal(
        bevel.load(tmp_path / "forest.bevel").predict(FRAME), forest.predict(FRAME)
    )
    assert (np.diff(forest.predict_quantiles(FRAME, [0.1, 0.5, 0.9]), axis=1) >= 0).all()


@pytest.mark.parametrize(
    "settings",
    [{"criterion": "poisson"}, {"criterion": "absolute_error"}, {"monotonic_cst": {"age": 1}}],
    ids=str,
)
def test_scanned_tables_refuse_what_blocks_cannot_honour(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    FRAME.assign(y=Y**2).to_csv(tmp_path / "rows.csv", index=False)
    name = next(iter(settings))
    with pytest.raises(ValueError, match=f"{name} must be .* with a scanned table"):
        ObliqueForestRegressor(2, projection="sparse", **settings).fit(
            bevel.scan(tmp_path / "rows.csv", target="y")
        )


@pytest.mark.parametrize(
    "settings",
    [{"criterion": "poisson"}, {"criterion": "absolute_error"}, {"monotonic_cst": [1, 0, 0]}],
    ids=str,
)
def test_several_outputs_refuse_criteria_and_signs_of_one(settings: dict[str, Any]) -> None:
    name = next(iter(settings))
    with pytest.raises(ValueError, match=f"{name} must be .* with several outputs"):
        ObliqueForestRegressor(2, **settings).fit(X, np.column_stack([Y**2, Y**4]))


def test_groups_of_features_hold_with_several_outputs() -> None:
    targets = np.column_stack([X[:, 0] * X[:, 1], X[:, 1] * X[:, 2]])
    forest = ObliqueForestRegressor(
        5, projection="sparse", interaction_cst=[{0, 1}, {2}], random_state=0
    ).fit(X, targets)
    for tree in forest.forest_:
        for node in range(tree.n_nodes):
            assert not {2} < set(tree.projection(node)[0].tolist())
