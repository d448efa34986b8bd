"""The same file for any blocks, batches, threads and memory."""

import numpy as np
import pandas as pd
import pytest

import bevel.estimators.forest as estimators
import bevel.training.blocks as blocked_table
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, _core, scan
from bevel import projections as P
from bevel.training.blocks import WorkSpace

N_ROWS = 2000


@pytest.fixture(autouse=True)
def small_nodes_only(monkeypatch):
    """Nodes above 150 rows are cut by histograms; edges come from 500 rows."""
    monkeypatch.setattr(blocked_table, "MAX_GATHERED", 150)
    monkeypatch.setattr(blocked_table, "MIN_GATHERED", 150)
    monkeypatch.setattr(blocked_table, "SAMPLE_ROWS", 500)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, 5)), columns=list("abcde"))
    frame["city"] = rng.choice(["Rome", "Oslo", "Lima", "Bern"], N_ROWS)
    frame["amount"] = frame.a + frame.b * frame.c + (frame.city == "Oslo")
    frame["label"] = np.where(frame.amount > 0, "yes", "no")
    frame["kind"] = np.digitize(frame.amount, [-1, 0, 1])
    frame["weight"] = rng.random(N_ROWS)
    frame.loc[rng.random(N_ROWS) < 0.1, "a"] = np.nan
    frame.loc[rng.random(N_ROWS) < 0.1, "city"] = None
    return frame


FEATURES = ["a", "b", "c", "d", "e", "city"]


def saved(estimator, folder):
    estimator.n_jobs = None  # kept in the file
    estimator.save(folder / "model.bevel")
    return (folder / "model.bevel").read_bytes()


ROTATIONS = ["sparse", P.RandomRotation(max_features=3), P.RandomRotation(per="node")]
CASES = [
    (ObliqueForestClassifier, "label", None, {}),
    (ObliqueForestClassifier, "kind", "weight", {"criterion": "entropy"}),
    (ObliqueForestClassifier, "label", "weight", {"projection": ["axis", "combination"]}),
    (ObliqueForestRegressor, "amount", None, {"scale": "standard"}),
    (ObliqueForestRegressor, "amount", "weight", {"bootstrap": True, "replace": False}),
    (ObliqueForestClassifier, "label", None, {"projection": "rotation"}),
    (ObliqueForestRegressor, "amount", "weight", {"projection": ROTATIONS}),
]


@pytest.mark.parametrize(("kind", "target", "weight", "parameters"), CASES)
def test_forest_is_the_same_in_memory_and_from_files_with_1_3_and_17_blocks(
    kind, target, weight, parameters, frame, tmp_path
):
    frame.iloc[:700].to_parquet(tmp_path / "1.parquet")
    frame.iloc[700:].to_parquet(tmp_path / "2.parquet", row_group_size=333)
    parameters = {"n_estimators": 4, "random_state": 0, **parameters}
    weights = None if weight is None else frame[weight]
    in_memory = scan(frame[FEATURES], target=frame[target], weight=weights)
    expected = saved(kind(**parameters, n_jobs=1).fit(in_memory), tmp_path)
    for n_blocks, n_jobs in ((1, 2), (3, 1), (17, 2)):
        table = scan(
            str(tmp_path / "*.parquet"),
            target=target,
            weight=weight,
            columns=FEATURES,
            folder=tmp_path / "blocks",
            block_rows=-(-N_ROWS // n_blocks),
            memory="40MB",
        )
        assert saved(kind(**parameters, n_jobs=n_jobs).fit(table), tmp_path) == expected
    kept = list((tmp_path / "blocks").glob("*/manifest.json"))
    assert len(kept) == 3  # one for each number of rows


ROTATED = [{"projection": "rotation"}, {"projection": ROTATIONS}, {"projection": "sparse"}]


@pytest.mark.parametrize("parameters", ROTATED)
def test_tree_of_gathered_rows_is_that_of_rows_in_memory(parameters, frame, monkeypatch):
    monkeypatch.setattr(blocked_table, "MAX_GATHERED", N_ROWS)
    monkeypatch.setattr(blocked_table, "MIN_GATHERED", N_ROWS)
    monkeypatch.setattr(blocked_table, "SAMPLE_ROWS", N_ROWS)
    settings = {"n_estimators": 3, "bootstrap": False, "random_state": 4, **parameters}
    rows = frame[FEATURES]
    ordinary = ObliqueForestClassifier(**settings).fit(rows, frame["label"])
    scanned_rows = ObliqueForestClassifier(**settings).fit(scan(rows, target=frame["label"]))
    for field in (each for each in vars(ordinary.forest_) if each != "vocabulary"):
        expected = getattr(ordinary.forest_, field)
        np.testing.assert_array_equal(getattr(scanned_rows.forest_, field), expected, field)


@pytest.mark.parametrize("parameters", ROTATED)
def test_rows_fall_where_they_were_put(parameters, frame):
    settings = {"n_estimators": 3, "bootstrap": False, "random_state": 4, **parameters}
    rows = frame[FEATURES]
    forest = ObliqueForestClassifier(**settings).fit(scan(rows, target=frame["label"]))
    flat, leaves = forest.forest_, forest.apply(rows)
    for tree in range(3):
        first, last = flat.tree_offset[tree : tree + 2]
        found = np.bincount(leaves[:, tree], minlength=last - first)
        is_leaf = flat.right[first:last] < 0
        np.testing.assert_array_equal(found[is_leaf], flat.weight[first:last][is_leaf])
    if parameters["projection"] == "rotation":
        assert len(flat.rotation_index) == 3 * 5 * 5  # all axes of five features, once for a tree


def test_axis_that_vanishes_tells_no_rows_apart():
    X = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)
    X = np.column_stack([X, X])  # of rank 3: half of the rotated space has no spread
    X[:, 3:] *= -1.0
    forest = ObliqueForestClassifier(5, projection="rotation", scale=None, random_state=0)
    forest.fit(scan(X, target=X[:, 0] > X[:, 1] * X[:, 2]))
    assert forest.score(X, X[:, 0] > X[:, 1] * X[:, 2]) > 0.97


def test_forest_is_the_same_one_node_at_a_time(frame, monkeypatch, tmp_path):
    table = scan(frame[FEATURES], target=frame["label"])
    first = ObliqueForestClassifier(3, random_state=1).fit(table)
    monkeypatch.setattr(estimators, "WorkSpace", lambda *_: WorkSpace(1, 1))
    second = ObliqueForestClassifier(3, random_state=1).fit(table)
    assert saved(first, tmp_path) == saved(second, tmp_path)


def test_files_of_all_formats_and_batches_give_one_forest(frame, tmp_path):
    pa = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    frame = frame.drop(columns=["kind", "weight", "amount"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    feather.write_feather(pa.Table.from_pandas(frame), tmp_path / "rows.arrow")

    def batches():
        for start in range(0, N_ROWS, 123):
            rows = frame.iloc[start : start + 123]
            yield rows[FEATURES], rows["label"]

    tables = [scan(tmp_path / f"rows.{end}", target="label") for end in ("parquet", "csv", "arrow")]
    files = [
        saved(ObliqueForestClassifier(3, random_state=0).fit(table), tmp_path)
        for table in (*tables, scan(batches), scan(list(batches())))
    ]
    assert len(set(files)) == 1


def test_memory_mapped_arrays_give_the_forest_of_the_arrays(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4)).astype(np.float32)
    y = X[:, 0] > X[:, 1]
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    mapped = scan(tmp_path / "X.npy", target=tmp_path / "y.npy")
    first = ObliqueForestClassifier(3, random_state=0).fit(mapped)
    second = ObliqueForestClassifier(3, random_state=0).fit(scan(X, target=y))
    assert saved(first, tmp_path) == saved(second, tmp_path)


def test_out_of_bag_score_is_that_of_the_trees_without_the_row(frame):
    table = scan(frame[FEATURES], target=frame["label"], block_rows=300)
    forest = ObliqueForestClassifier(5, random_state=0, oob_score=True)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest.fit(table)
    options = _core.Options()
    options.bag_size, options.seed = N_ROWS, forest.fitted_forest_.provenance.seed
    leaves = forest.apply(frame[FEATURES])
    flat = forest.forest_
    sums, counts = np.zeros((N_ROWS, 2)), np.zeros(N_ROWS)
    for tree in range(5):
        out = np.flatnonzero(_core.block_bag(options, N_ROWS, tree, 0, N_ROWS) == 0)
        for row in out:
            node = flat.tree_offset[tree] + leaves[row, tree]
            entries = slice(flat.entry_offset[node], flat.entry_offset[node + 1])
            sums[row, flat.entry_index[entries]] += flat.entry_weight[entries]
        counts[out] += 1
    known = counts > 0
    expected = sums[known] / counts[known, None]
    np.testing.assert_allclose(forest.oob_decision_function_[known], expected, atol=1e-9)
    assert np.isnan(forest.oob_decision_function_[~known]).all()
    assert forest.oob_score_ > 0.8


def test_trees_whose_bag_is_empty_take_all_rows():
    X, y = np.array([[0.0], [1.0]]), np.array(["a", "b"])
    forest = ObliqueForestClassifier(30, random_state=0).fit(scan(X, target=y))
    assert forest.forest_.n_trees == 30
    assert (forest.predict(X) == y).all()
