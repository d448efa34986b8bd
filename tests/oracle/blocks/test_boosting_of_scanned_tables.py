"""Boosting of a scanned table is that of the same rows in memory, bit for bit."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor, scan
from bevel import projections as P
from bevel.estimators._boosted_trees import hold_out_by_number
from bevel.training.boosting import BoostingTarget


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    n = 500
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame.loc[::7, "b"] = np.nan
    frame["c"] = frame["c"].round()  # ties
    frame["d"] = 2.5  # constant
    frame["city"] = rng.choice(["Rome", "Oslo", "Bern"], n)
    score = frame["a"] + (frame["city"] == "Oslo") + 0.3 * rng.normal(size=n)
    frame["two"] = np.where(score > 0.2, "yes", "no")
    frame["three"] = np.digitize(score, [-0.5, 0.8])
    frame["number"] = score
    frame["count"] = rng.poisson(np.exp(0.3 * score))
    frame["weight"] = rng.integers(0, 4, n) / 2.0
    return frame


COLUMNS = ["a", "b", "c", "d", "city"]
CASES = [
    (ObliqueBoostingClassifier, "two", False, {}),
    (ObliqueBoostingClassifier, "two", True, {"class_weight": "balanced", "subsample": 0.5}),
    (ObliqueBoostingClassifier, "three", False, {"projection": "axis", "max_bins": 7}),
    (ObliqueBoostingRegressor, "number", True, {"monotonic_cst": {"a": 1}}),
    (ObliqueBoostingRegressor, "number", False, {"projection": P.RandomRotation()}),
    (ObliqueBoostingRegressor, "number", False, {"loss": "quantile", "quantile": [0.2, 0.8]}),
    (
        ObliqueBoostingRegressor,
        "count",
        False,
        {"loss": "poisson", "subsample": 0.4, "row_sampling": "gradient"},
    ),
    (ObliqueBoostingRegressor, "number", False, {"interaction_cst": [["a", "b"]]}),
]


def saved(estimator, folder):
    estimator.save(folder / "model.bevel")
    return (folder / "model.bevel").read_bytes()


def batches_of(frame, target, weighted, cuts):
    for a, b in itertools.pairwise([0, *cuts, len(frame)]):
        part = frame[a:b]
        rest = (part["weight"].to_numpy(),) if weighted else ()
        yield (part[COLUMNS], part[target].to_numpy(), *rest)


@pytest.mark.parametrize(("kind", "target", "weighted", "parameters"), CASES)
def test_model_is_that_of_rows_in_memory_for_1_3_and_17_blocks(
    kind, target, weighted, parameters, frame, tmp_path
):
    settings = {"max_iter": 6, "early_stopping": False, "random_state": 5, **parameters}
    weights = frame["weight"].to_numpy() if weighted else None
    if "projection" not in parameters:  # in memory directions combine levels by default
        frame = frame.assign(city=(frame["city"] == "Oslo").astype(float))
    local = kind(**settings).fit(frame[COLUMNS], frame[target].to_numpy(), weights)
    expected = saved(local, tmp_path)
    tables = (([], 500, None), ([7, 400], 167, tmp_path / "b"), (range(30, 500, 30), 30, None))
    for n_jobs, (cuts, block_rows, folder) in enumerate(tables, 1):
        batches = list(batches_of(frame, target, weighted, cuts))
        table = scan(batches, block_rows=block_rows, folder=folder)
        model = kind(**settings, n_jobs=n_jobs).fit(table)
        model.n_jobs = None
        assert saved(model, tmp_path) == expected
    assert list((tmp_path / "b").iterdir()) == []


def test_model_of_nominal_columns_is_the_same_for_any_blocks(frame, tmp_path):
    settings = {"max_iter": 6, "early_stopping": False, "random_state": 5}
    files = []
    for cuts, block_rows in (([], 500), ([7, 400], 167), (range(30, 500, 30), 30)):
        batches = list(batches_of(frame, "two", False, cuts))
        model = ObliqueBoostingClassifier(**settings).fit(scan(batches, block_rows=block_rows))
        files.append(saved(model, tmp_path))
    assert files[0] == files[1] == files[2]


def test_early_stopping_is_the_same_for_any_blocks_and_stops(frame, tmp_path):
    settings = {"early_stopping": True, "n_iter_no_change": 3, "random_state": 2, "refit": False}
    files = []
    for cuts, folder in (([], None), ([100, 101], None), ([33], tmp_path / "b")):
        batches = list(batches_of(frame, "number", False, cuts))
        model = ObliqueBoostingRegressor(**settings).fit(scan(batches, folder=folder))
        files.append(saved(model, tmp_path))
    assert files[0] == files[1] == files[2]
    assert 1 < model.n_iter_ < 1000
    assert len(model.validation_score_) == model.n_iter_ + 3
    assert model.predict_interval(frame[COLUMNS][:3]).shape == (3, 2)


def test_held_out_rows_are_the_share_that_is_asked_for_and_no_tree_sees_them(frame):
    # The number of held-out rows is binomial; five standard deviations: less than 1e-6 by chance.
    n = 20_000
    target = BoostingTarget(np.zeros(n), None, None)
    first = hold_out_by_number(target, False, 0.1, 1)
    assert abs(first.mean() - 0.1) < 5 * np.sqrt(0.09 / n)
    again = BoostingTarget(np.zeros(n + 7), None, None)
    np.testing.assert_array_equal(hold_out_by_number(again, False, 0.1, 1)[:n], first)
    other = hold_out_by_number(target, False, 0.1, 2)
    assert abs((first & other).mean() - 0.01) < 5 * np.sqrt(0.0099 / n)
    # Targets of held-out rows do not change the trees, only which of them are kept.
    rows, y = frame[COLUMNS], frame["number"].to_numpy()
    settings = {"max_iter": 3, "early_stopping": True, "refit": False, "random_state": 8}
    model = ObliqueBoostingRegressor(**settings).fit(scan([(rows, y)]))
    seed = model.fitted_forest_.provenance.seed
    held = hold_out_by_number(BoostingTarget(y, None, None), False, 0.1, seed)
    for changed, same in ((held, True), (~held, False)):
        other = ObliqueBoostingRegressor(**settings).fit(scan([(rows, y + 9.0 * changed * y)]))
        n = min(len(other.forest_.threshold), len(model.forest_.threshold))
        equal = np.array_equal(other.forest_.leaf_value[:n], model.forest_.leaf_value[:n])
        assert equal == same


def test_small_table_is_fitted_again_with_its_held_out_rows(frame):
    table = scan(list(batches_of(frame, "two", False, [250])))
    model = ObliqueBoostingClassifier(random_state=0, n_iter_no_change=5).fit(table)
    assert len(model.validation_score_) > 0
    assert model.n_iter_ != len(model.validation_score_)
    assert model.score(frame[COLUMNS], frame["two"]) > 0.8


def test_rows_of_files_are_encoded_once_for_a_folder(frame, tmp_path, monkeypatch):
    frame[[*COLUMNS, "two"]].to_parquet(tmp_path / "rows.parquet")
    table = scan(tmp_path / "rows.parquet", target="two", folder=tmp_path / "blocks")
    first = ObliqueBoostingClassifier(max_iter=3, random_state=0).fit(table)
    assert len(list((tmp_path / "blocks").glob("*/manifest.json"))) == 1
    monkeypatch.setattr(type(table.source), "batches", None)  # reading would raise
    second = ObliqueBoostingClassifier(max_iter=3, random_state=0).fit(table)
    assert saved(first, tmp_path) == saved(second, tmp_path)
