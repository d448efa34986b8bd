"""Means of the target that stand for the levels of a column: against loops over rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.model_selection import train_test_split
from support.nominal_tables import classes_of, new_rows, nominal_table

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
)
from bevel.data.encoding import scale_tile
from bevel.data.level_statistics import MOST_LEVELS, LevelTarget, folds, learn_means
from bevel.errors import RowNumberWarning
from bevel.estimators._base import encode_rows

MODELS = {
    "forest": {True: ObliqueForestClassifier, False: ObliqueForestRegressor},
    "boosting": {True: ObliqueBoostingClassifier, False: ObliqueBoostingRegressor},
}


def naive_mean(codes: list[int], y: list[float], w: list[float], level: int) -> float:
    """The mean of a level, shrunk towards that of all rows as if it had m rows of it more.

    m is the variance within levels over that between them, by the method of moments.
    """
    rows = [r for r in range(len(y)) if w[r] > 0]
    whole = sum(w[r] for r in rows)
    if whole == 0:
        return 0.0
    mean = sum(w[r] * y[r] for r in rows) / whole
    levels = sorted({codes[r] for r in rows})
    n = {k: sum(w[r] for r in rows if codes[r] == k) for k in levels}
    own = {k: sum(w[r] * y[r] for r in rows if codes[r] == k) / n[k] for k in levels}
    free = whole - len(levels)
    if free <= 0 or len(levels) < 2:
        return mean
    within = sum(w[r] * (y[r] - own[codes[r]]) ** 2 for r in rows) / free
    spread = sum(n[k] * (own[k] - mean) ** 2 for k in levels) / (len(levels) - 1)
    size = (whole - sum(n[k] ** 2 for k in levels) / whole) / (len(levels) - 1)
    between = (spread - within) / size
    if between <= 0 or level not in n:
        return mean
    m = within / between
    return (n[level] * own[level] + m * mean) / (n[level] + m)


def naive_differ(codes: list[int], y: list[float], w: list[float]) -> bool:
    """Whether the F statistic is more than its standard error above 1."""
    rows = [r for r in range(len(y)) if w[r] > 0]
    levels = [[r for r in rows if codes[r] == k] for k in sorted({codes[r] for r in rows})]
    own = [sum(w[r] * y[r] for r in each) / sum(w[r] for r in each) for each in levels]
    mean = sum(w[r] * y[r] for r in rows) / sum(w[r] for r in rows)
    free, between = sum(w[r] for r in rows) - len(levels), len(levels) - 1
    pairs = list(zip(levels, own, strict=True))
    within = sum(w[r] * (y[r] - m) ** 2 for each, m in pairs for r in each) / free
    spread = sum(w[r] * (m - mean) ** 2 for each, m in pairs for r in each) / between
    return spread / within > 1 + (2 / between + 2 / free) ** 0.5


def some_rows(seed: int, n: int = 60, k: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n)
    y = np.round(rng.normal(size=k)[codes] * seed + rng.normal(size=n), 1)
    return codes, y, rng.integers(0, 3, n) * rng.uniform(0.5, 1.5, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_means_equal_a_loop_over_the_rows_of_other_folds(seed: int, weighted: bool) -> None:
    """At seed 0 the target does not depend on the levels."""
    codes, y, weights = some_rows(seed)
    found = learn_means(codes, 14, LevelTarget(y, "mean target"), weights if weighted else None)
    own = weights / weights[weights > 0].mean() if weighted else np.ones(len(y))
    of_rows, fold = found.of_training_rows(codes, np.arange(len(y))), folds(np.arange(len(y)))
    assert found.are_equal == (seed == 0)
    assert naive_differ(codes.tolist(), y.tolist(), own.tolist()) == (seed > 0)
    if found.are_equal:
        assert np.ptp(of_rows) == 0.0
        assert of_rows[0] == found.of_all[0] == pytest.approx(np.average(y, weights=own))
        return
    for row in range(len(y)):
        others = np.where(fold == fold[row], 0.0, own)
        expected = naive_mean(codes.tolist(), y.tolist(), others.tolist(), int(codes[row]))
        assert of_rows[row] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    for level in range(15):  # the last two have no rows, and 14 is that of unseen levels
        expected = naive_mean(codes.tolist(), y.tolist(), own.tolist(), level)
        assert found.of_new_rows(np.array([level]))[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_number_of_a_row_does_not_depend_on_its_own_target(n_classes: int) -> None:
    """Of two classes and numbers not at all; scores of more classes are fitted to all rows, and
    then only the mean of the level must leave the row out."""
    rng = np.random.default_rng(n_classes)
    codes = rng.integers(0, 20, 200)
    values = (
        np.where(rng.random(200) < 0.5, codes % n_classes, rng.integers(0, n_classes, 200)) * 1.0
    )
    several = n_classes if n_classes > 2 else 0
    for row in range(0, 200, 17):
        changed = values.copy()
        changed[row] = (changed[row] + 1) % n_classes
        if several:
            scores = LevelTarget(values, "class score", several).numbers(codes, 20, np.ones(200))
            moved = scores.copy()
            moved[row] += 1.0
            targets = [LevelTarget(scores, "class score"), LevelTarget(moved, "class score")]
        else:
            targets = [LevelTarget(values, "share of b"), LevelTarget(changed, "share of b")]
        one, other = (learn_means(codes, 20, target, None) for target in targets)
        of_one, of_other = (each.of_training_rows(codes, np.arange(200)) for each in (one, other))
        assert of_one[row] == of_other[row]
        assert (of_one != of_other).any()
        assert (one.of_all != other.of_all).any()


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("kind", MODELS)
def test_training_rows_of_a_fit_have_numbers_that_do_not_see_their_targets(
    kind: str, n_classes: int
) -> None:
    frame, y = nominal_table(400, n_places=120)
    target = y if n_classes == 0 else (y > np.median(y)) * 1.0
    size = {"n_estimators": 2} if kind == "forest" else {"max_iter": 2}
    place = list(frame.columns).index("place")

    def numbers(values: np.ndarray) -> np.ndarray:
        model = MODELS[kind][n_classes > 0](**size, random_state=0, n_jobs=1).fit(frame, values)
        encoding = model.fitted_forest_.encoding
        assert list(encoding.means) == [place]
        codes = encoding.nominal[place].encode(frame["place"].to_numpy(object), "place")
        numbers = encoding.means[place].of_training_rows(codes.astype(int), np.arange(len(frame)))
        stored = encode_rows(model, frame, training=True)[:, place]
        np.testing.assert_array_equal(stored, scaled(model, place, numbers))
        return numbers

    before = numbers(target)
    for row in (0, 123, 399):
        changed = target.copy()
        changed[row] = 1 - changed[row] if n_classes else changed[row] + 3.0
        after = numbers(changed)
        assert after[row] == before[row]
        assert (after != before).any()


def test_scores_of_three_classes_are_the_first_component_of_what_levels_differ_in() -> None:
    """NumPy's eigenvectors of the covariance of class shares, less what they differ by chance."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, 3000)
    lean = rng.dirichlet(np.ones(4) * 2, 40)
    classes = np.array([rng.choice(4, p=lean[code]) for code in codes])
    weights = rng.uniform(0.5, 2.0, 3000)
    found = LevelTarget(classes.astype(float), "class score", 4).numbers(codes, 40, weights)
    counts = np.zeros((40, 4))
    np.add.at(counts, (codes, classes), weights)
    rows = counts.sum(axis=1)
    shares, overall = counts / rows[:, None], counts.sum(axis=0) / rows.sum()
    apart = shares - overall
    matrix = (apart * rows[:, None]).T @ apart / rows.sum()
    matrix -= (np.diag(overall) - np.outer(overall, overall)) * 39 / rows.sum()
    vector = np.linalg.eigh(matrix)[1][:, -1]
    score = np.array([found[classes == k][0] for k in range(4)])
    assert abs(score @ vector) == pytest.approx(1.0, abs=1e-5)
    assert score[np.abs(score).argmax()] > 0


def scaled(model: Any, feature: int, numbers: np.ndarray) -> np.ndarray:
    """Numbers of one column as trees read them."""
    column = np.empty((len(numbers), 1), np.float32)
    scaler = model.fitted_forest_.encoding.native_scaler
    scale_tile(scaler, numbers[:, None].astype(float), feature, 1, column)
    return column[:, 0]


def naive_numbers(model: Any, frame: pd.DataFrame, column: str) -> list[float]:
    """Numbers of new rows, looked up label by label."""
    feature = list(frame.columns).index(column)
    encoding = model.fitted_forest_.encoding
    levels, of_all = encoding.nominal[feature], encoding.means[feature].of_all
    code = {label: k for k, label in enumerate(levels.labels)}
    missing = len(levels.labels) if levels.has_missing else len(of_all) - 1
    return [
        float(of_all[missing if pd.isna(label) else code.get(label, len(of_all) - 1)])
        for label in frame[column]
    ]


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("kind", MODELS)
def test_model_predicts_as_one_on_a_table_whose_column_holds_the_numbers(
    kind: str, n_classes: int
) -> None:
    """Unseen and missing labels have the mean of all, or of the missing ones."""
    frame, y = nominal_table(500, n_places=130)
    frame.loc[::11, "place"] = None
    target = classes_of(y, n_classes) if n_classes else y
    model = MODELS[kind][n_classes > 0](random_state=0, n_jobs=1, **_small(kind))
    model.fit(frame, target)
    rows = new_rows(frame)
    assert (rows["place"] == "unseen").any()
    assert rows["place"].isna().any()
    codes = encode_rows(model, rows)
    feature = list(frame.columns).index("place")
    numbers = np.array(naive_numbers(model, rows, "place"))
    assert np.ptp(numbers) > 0
    np.testing.assert_array_equal(codes[:, feature], scaled(model, feature, numbers))


def _small(kind: str) -> dict[str, Any]:
    return {"n_estimators": 30} if kind == "forest" else {"max_iter": 20}


def test_columns_of_at_most_a_hundred_levels_keep_their_levels() -> None:
    for n_levels in (MOST_LEVELS, MOST_LEVELS + 1):
        frame = pd.DataFrame({"c": [f"k{i % n_levels}" for i in range(600)], "x": 1.0})
        y = np.arange(600.0) % n_levels % 7 + np.arange(600) % 5
        model = ObliqueForestRegressor(2, random_state=0).fit(frame, y)
        assert bool(model.fitted_forest_.encoding.means) == (n_levels > MOST_LEVELS)
        named = ObliqueForestRegressor(2, projection="sparse", random_state=0)
        assert not named.fit(frame, y).fitted_forest_.encoding.means


def test_more_labels_than_codes_of_levels_are_read_as_means(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    place = np.arange(160_000) // 2
    rng.shuffle(place)
    worth = rng.normal(size=80_000)
    y = worth[place] + 0.1 * rng.normal(size=len(place))
    frame = pd.DataFrame({"place": [f"k{k}" for k in place], "x": rng.normal(size=len(place))})
    model = ObliqueBoostingRegressor(max_iter=5, learning_rate=0.5, random_state=0, n_jobs=1)
    model.fit(frame, y)
    assert model.columns_.as_dict()["place"] == "mean target in each of 80,000 levels"
    new = pd.DataFrame({"place": [f"k{k}" for k in range(80_000)], "x": 0.0})
    assert model.score(new, worth) > 0.8
    model.save(tmp_path / "model.bevel")
    again = bevel.load(tmp_path / "model.bevel")
    np.testing.assert_array_equal(again.predict(new[:999]), model.predict(new[:999]))


@pytest.mark.parametrize(
    "model",
    [
        ObliqueForestRegressor(2, projection="axis", n_jobs=1, random_state=0),
        ObliqueIsolationForest(2, n_jobs=1, random_state=0),
    ],
)
def test_more_labels_than_levels_are_left_out_where_they_are_not_read_as_means(
    model: Any, tmp_path: Path
) -> None:
    n = 66_000
    frame = pd.DataFrame({"c": [f"k{i}" for i in range(n)], "x": np.arange(n) % 7.0})
    with pytest.warns(RowNumberWarning, match="'c' has 66,000 labels, too many to be levels"):
        model.fit(frame, np.random.default_rng(0).normal(size=n))
    assert model.columns_.left_out == {"c": "66,000 labels, too many to be levels"}
    strange = frame.assign(c=["anything at all", None, "k1"] * (n // 3))
    np.testing.assert_array_equal(model.predict(strange[:99]), model.predict(frame[:99]))
    model.save(tmp_path / "model.bevel")
    again = bevel.load(tmp_path / "model.bevel")
    assert again.columns_.left_out == model.columns_.left_out
    np.testing.assert_array_equal(again.predict(strange[:99]), model.predict(frame[:99]))
    assert (tmp_path / "model.bevel").stat().st_size < 200_000  # without the labels


@pytest.mark.parametrize("task", ["regression", "two classes", "three classes"])
@pytest.mark.parametrize("kind", MODELS)
def test_column_of_random_labels_does_not_lower_the_held_out_score_beyond_noise(
    kind: str, task: str
) -> None:
    """Null: the loss on new rows with random labels is at most 10 % above that without them.

    Half of the rows have labels that say something, so that means are shrunk little; the others
    have labels of one or two rows each, or all the same. Statistic: t of the differences of
    sixteen data sets less 10 %; it is above 6.5 by chance with probability 5e-6.
    """
    excess = []
    for seed in range(16):
        table, y = table_of_labels(seed)
        target = {"regression": y, "two classes": y > 0, "three classes": np.digitize(y, [-1, 1])}
        losses = []
        for frame in (table.assign(label=table["label"].where(table["says"], "other")), table):
            parts = train_test_split(
                frame.drop(columns="says"), target[task], test_size=0.5, random_state=seed
            )
            train, test, y_train, y_test = parts
            model = MODELS[kind][task != "regression"](random_state=0, n_jobs=1, **_small(kind))
            losses.append(loss(model.fit(train, y_train), test, y_test))
            assert list(model.fitted_forest_.encoding.means) == [3]
        excess.append(losses[1] / losses[0] - 1.1)
    statistic = np.mean(excess) / (np.std(excess, ddof=1) / np.sqrt(16))
    assert scipy.stats.t.sf(6.5, 15) < 1e-5
    assert statistic < 6.5, f"mean excess {np.mean(excess) + 0.1:.3f}"


def table_of_labels(seed: int, n: int = 1600) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    group, says = rng.integers(0, 120, n), rng.random(n) < 0.5
    table["label"] = np.where(says, group, 1000 + rng.integers(0, n // 2, n)).astype(str)
    effect = 2.0 * rng.normal(size=120)[group] * says
    y = table["a"] + table["b"] * (table["c"] > 0) + effect + rng.normal(size=n)
    return table.assign(says=says), y


def loss(model: Any, X: Any, y: Any) -> float:
    if not hasattr(model, "classes_"):
        return float(np.mean((model.predict(X) - y) ** 2))
    place = np.searchsorted(model.classes_, y)
    shares = model.predict_proba(X)[np.arange(len(y)), place]
    return float(-np.mean(np.log(np.clip(shares, 1e-6, 1))))
