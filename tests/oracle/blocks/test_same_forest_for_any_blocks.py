"""The same file for any blocks, batches, threads and memory."""

import numpy as np
import pandas as pd
import pytest

import bevel.estimators.scanned.fitting as scanned
import bevel.training.blocks.table as blocked_table
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, _core, scan
from bevel.training.blocks.growing import WorkSpace

N_ROWS = 2000


@pytest.fixture(autouse=True)
def small_nodes_only(monkeypatch):
    """Nodes above 150 rows are cut by histograms; edges come from 500 rows."""
    monkeypatch.setattr(blocked_table, "MOST_GATHERED", 150)
    monkeypatch.setattr(blocked_table, "LEAST_GATHERED", 150)
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


CASES = [
    (ObliqueForestClassifier, "label", None, {}),
    (ObliqueForestClassifier, "kind", "weight", {"criterion": "entropy"}),
    (ObliqueForestClassifier, "label", "weight", {"projection": ["axis", "combination"]}),
    (ObliqueForestRegressor, "amount", None, {"scale": "standard"}),
    (ObliqueForestRegressor, "amount", "weight", {"bootstrap": True, "replace": False}),
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
    assert len(list((tmp_path / "blocks").iterdir())) == 3  # kept, one for each number of rows


def test_forest_is_the_same_one_node_at_a_time(frame, monkeypatch, tmp_path):
    table = scan(frame[FEATURES], target=frame["label"])
    first = ObliqueForestClassifier(3, random_state=1).fit(table)
    monkeypatch.setattr(scanned, "WorkSpace", lambda *_: WorkSpace(1, 1))
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
    options.bag_size, options.seed = N_ROWS, forest.fitted_forest_.seed
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
