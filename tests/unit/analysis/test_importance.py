"""`bevel.analysis.importance`: what each kind measures, what is printed, what is refused."""

from __future__ import annotations

import inspect
import pkgutil

import numpy as np
import pandas as pd
import pytest
from support.importance_tables import grown, table

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import importance
from bevel.analysis.importances import KINDS
from bevel.analysis.printing import write_table
from bevel.analysis.results import Importance
from bevel.forest.flat_forest import take_trees
from bevel.forest.importance import gain_importances
from bevel.text.split_text import write_direction


def test_no_function_hides_the_package_that_it_is_in():
    for found in pkgutil.iter_modules(bevel.analysis.__path__):
        if found.ispkg:
            assert inspect.ismodule(getattr(bevel.analysis, found.name)), found.name


def measure(kind, classes=True):
    """Any kind, on a forest that suits it."""
    projection = {"rotation": P.MultiRotation(4), "anova": P.LDA(record=True)}.get(kind, "sparse")
    forest, X, y = grown(projection, classes=classes)
    needs_rows = kind in (
        *("t_test", "corrected", "permutation", "negation"),
        "sequential_anova",
    )
    rows = (X, y) if needs_rows else ()
    return importance(forest, kind, *rows)


# One result, any kind


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "projection"])
def test_every_kind_prints_sorts_and_becomes_a_data_frame(kind, classes):
    result = measure(kind, classes)
    assert isinstance(result, Importance)
    assert result.kind == kind
    assert len(result) == len(result.names) == len(result.values)
    frame = result.to_pandas()
    assert (np.diff(frame["values"]) <= 0).all()
    assert frame.index[0] == result.names[int(result.order[0])] == result.top(1).names[0]
    title, header, first = str(result).splitlines()[:3]
    assert title == result.heading
    assert "gini" not in title + header
    assert header.startswith("rotation" if kind == "rotation" else "feature")
    assert first.startswith(str(result.top(1).names[0]))
    assert result.measures in str(result)


@pytest.mark.parametrize("kind", ["gini", "split_frequency", "anova", "t_test", "corrected"])
def test_features_that_matter_come_first(kind):
    assert set(measure(kind).top(2).names) == {"f1", "f2"}


def test_gini_is_feature_importances_with_the_spread_of_trees():
    forest, _, _ = grown()
    result = importance(forest)
    assert result.values.tolist() == forest.feature_importances_.tolist()
    one_tree = [gain_importances(take_trees(forest.forest_, [tree])) for tree in range(20)]
    assert result.std == pytest.approx(np.std(one_tree, axis=0, ddof=1))


def test_long_tables_are_cut_and_say_so():
    names = tuple(f"f{j}" for j in range(25))
    text = str(Importance("gini", names, np.arange(25.0), "numbers"))
    assert "... and 5 more" in text
    assert "f24" in text
    assert "f4 " not in text


# Directions


def test_directions_are_written_in_words():
    directions = [[1, 0, 0, 0], [0, 1, -1, 0], [0, 0.5, 0, 2]]
    forest, _, _ = grown(P.Custom(np.transpose(directions)), scale="standard")
    result = importance(forest, "projection")
    assert set(result.words) <= {"f0", "f1 − f2", "f3 + 0.25·f1"}
    assert result.words[0] == "f1 − f2"
    assert result.top(1).dense().tolist() == [[0, 1, -1, 0]]
    frame = result.to_pandas()
    assert frame["direction"].tolist() == result.words
    assert frame["share"].sum() == pytest.approx(1)
    assert "f1 − f2" in str(result)
    assert "scaled features" in str(result)


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        ([1.0, -1.0], "a − b"),
        ([-1.0, -1.0], "−a − b"),
        ([0.25, -1.0], "−b + 0.25·a"),
        ([1.0, 0.5, 0.5, 0.1], "a + 0.5·b + 2 more terms"),
    ],
)
def test_largest_weights_are_written_first(weight, text):
    assert write_direction("abcd", np.array(weight), most_terms=2) == text


def test_letters_without_width_do_not_shift_a_table():
    accent = "\N{COMBINING ACUTE ACCENT}"
    text = write_table(("name", "x"), [(f"e{accent}tages", "1.5"), ("floor", "2")])
    assert text.replace(accent, "").splitlines() == ["name      x", "etages  1.5", "floor     2"]


def test_merged_directions_have_the_gain_of_both_signs():
    forest, _, _ = grown()
    apart, merged = (importance(forest, "projection", merge_signs=m) for m in (False, True))
    assert len(merged) < len(apart)
    shares = {row.tobytes(): s for row, s in zip(apart.dense(), apart.share, strict=True)}
    best = merged.dense()[0]
    both = shares.get(best.tobytes(), 0) + shares.get((-best + 0.0).tobytes(), 0)
    assert merged.share[0] == pytest.approx(both)


# Rotations


def test_rotations_share_the_gain_of_all_splits():
    forest, _, _ = grown(P.MultiRotation(4), n_trees=50)
    result = importance(forest, "rotation")
    assert result.names == ("unrotated", "rotation 1", "rotation 2", "rotation 3")
    assert result.values.sum() == pytest.approx(1)
    assert result.count.sum() == forest.forest_.n_nodes - forest.forest_.n_leaves


def test_directions_of_one_rotation_are_orthogonal():
    """Whose rotation a direction is can be told from its angles too, without the seed."""
    forest, _, _ = grown(P.MultiRotation(4), n_trees=80)
    directions = importance(forest, "projection")
    rotated = np.diff(directions.offset) > 1
    rows, count = directions.dense()[rotated], directions.count[rotated]
    assert len(rows) == 3 * 4  # every axis was used somewhere
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    same = (np.abs(unit @ unit.T) < 1e-5) | np.eye(len(rows), dtype=bool)
    assert (same.sum(axis=1) == 4).all()
    of_rotation = sorted({tuple(np.flatnonzero(row)) for row in same})
    want = sorted(int(count[list(members)].sum()) for members in of_rotation)
    assert sorted(importance(forest, "rotation").count[1:].tolist()) == want


def test_rotations_beside_other_directions_and_nominal_columns():
    X, y = table()
    X["f3"] = np.where(X["f3"] > 0, "a", "b")
    forest = ObliqueForestClassifier(
        30, projection=[P.MultiRotation(3), P.SparseSigns(2)], random_state=0, n_jobs=1
    ).fit(X, y > 0)
    result = importance(forest, "rotation")
    assert result.names == ("unrotated", "rotation 1", "rotation 2", "other directions")
    assert (result.count > 0).all()
    assert result.values.sum() == pytest.approx(1)


def test_rotations_of_a_loaded_forest_and_after_warm_start_are_the_same(tmp_path):
    forest, X, y = grown(P.MultiRotation(4), warm_start=True)
    forest.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel", mmap=True)
    want = importance(forest, "rotation")
    assert importance(loaded, "rotation").values.tolist() == want.values.tolist()
    longer = importance(forest.set_params(n_estimators=30).fit(X, y), "rotation")
    assert "other directions" not in longer.names


def test_rotations_need_a_multi_rotation_forest_with_its_seed():
    forest, X, y = grown(P.MultiRotation(3))
    with pytest.raises(ValueError, match="got trees chosen by prune_trees"):
        importance(forest.prune_trees(5, X, y), "rotation")
    with pytest.raises(ValueError, match=r"needs rotations that all trees share; got .*sparse"):
        importance(grown()[0], "rotation")


# Node models


@pytest.mark.parametrize(
    ("projection", "classes"),
    [
        (P.LDA(2, record=True), True),
        (P.LDA(2, record=True), False),
        (P.Ridge(2, tune="gcv", record=True), True),
        (P.Ridge(2, tune="gcv", record=True), False),
        (P.Logistic(2, record=True), True),
    ],
)
def test_anova_counts_significant_coefficients(projection, classes):
    forest, _, _ = grown([projection, P.Axis()], classes=classes)
    counts, n_tested = np.zeros((20, 4)), np.zeros(20)
    trees = forest.forest_
    for tree in range(20):
        for node in range(*trees.tree_offset[tree : tree + 2]):
            own = slice(trees.entry_offset[node], trees.entry_offset[node + 1])
            p_values = trees.entry_p_value[own]
            if trees.right[node] < 0 or np.isnan(p_values).all():
                continue
            n_tested[tree] += 1
            for feature, p_value in zip(trees.entry_index[own], p_values, strict=True):
                counts[tree, feature] += p_value <= 0.05
    result = importance(forest, "anova", alpha=0.05)
    assert result.count.tolist() == counts.sum(axis=0).tolist()
    assert result.values == pytest.approx(counts.sum(axis=0) / n_tested.sum())
    some = n_tested > 0
    shares = counts[some] / n_tested[some, None]
    assert result.std == pytest.approx(np.std(shares, axis=0, ddof=1))


def test_anova_without_records_says_how_to_record():
    remedy = r"Fit with P.Ridge\(record=True\), P.LDA\(record=True\) or, for classes, P.Logistic\("
    for projection in (P.LDA(), P.Logistic()):
        with pytest.raises(ValueError, match=rf"recorded none .*{remedy}"):
            importance(grown(projection)[0], "anova")


@pytest.mark.parametrize("alpha", [0.0, 1.0, "0.01", True])
def test_anova_needs_a_probability(alpha):
    forest, _, _ = grown(P.LDA(record=True))
    with pytest.raises((ValueError, TypeError), match="alpha must be a number in"):
        importance(forest, "anova", alpha=alpha)


# Small and odd forests


@pytest.mark.parametrize("kind", ["gini", "split_frequency", "projection", "anova", "rotation"])
@pytest.mark.parametrize("classes", [True, False])
def test_forests_without_splits_have_no_importance(kind, classes):
    projection = P.MultiRotation(2) if kind == "rotation" else P.LDA(record=True)
    y = np.zeros(4) if not classes else np.array([0, 1, 0, 1])
    X = np.ones((4, 3))
    estimator = ObliqueForestClassifier if classes else ObliqueForestRegressor
    forest = estimator(3, projection=projection, random_state=0).fit(X, y)
    result = importance(forest, kind)
    if kind == "projection":
        assert len(result) == 0
        assert str(result)
    else:
        assert not result.values.any()


def test_one_tree_has_no_spread():
    forest, _, _ = grown(n_trees=1)
    for kind in ("gini", "split_frequency", "projection"):
        result = importance(forest, kind)
        assert result.std is None
        assert "std " not in str(result).splitlines()[0]
        result.to_pandas()


def test_importances_do_not_depend_on_threads_votes_or_a_round_trip(tmp_path):
    forest, X, y = grown(voting="hard")
    forest.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel", mmap=True)
    threaded = ObliqueForestClassifier(20, projection="sparse", random_state=0, n_jobs=2)
    threaded.fit(X, y)
    for kind in ("gini", "split_frequency"):
        want = importance(forest, kind).values.tolist()
        assert importance(loaded, kind).values.tolist() == want
        assert importance(threaded, kind).values.tolist() == want
    want = importance(forest, "projection")
    assert importance(loaded, "projection").words == want.words
    assert importance(threaded, "projection").share.tolist() == want.share.tolist()


# Refusals


def test_unknown_kinds_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"kind must be one of .*t_test.*; got 'ginny'"):
        importance(grown()[0], "ginny")


@pytest.mark.parametrize("kind", ["gini", "projection", "anova"])
def test_slim_forests_are_refused(kind):
    with pytest.raises(ValueError, match=f'importance\\(kind="{kind}"\\) needs the gains'):
        importance(grown()[0].slim(), kind)


def test_split_frequency_of_a_slim_forest_is_known():
    forest, _, _ = grown()
    want = importance(forest, "split_frequency").values
    assert importance(forest.slim(), "split_frequency").values.tolist() == want.tolist()


def test_rows_and_options_are_neither_missed_nor_ignored():
    forest, X, y = grown()
    with pytest.raises(ValueError, match=r"needs X and y; got no y"):
        importance(forest, "t_test", X)
    with pytest.raises(ValueError, match=r"takes no rows; got X or y"):
        importance(forest, "gini", X, y)
    with pytest.raises(TypeError, match=r"takes options merge_signs; got merge_sings"):
        importance(forest, "projection", merge_sings=True)
    with pytest.raises(TypeError, match=r"takes no options; got alpha"):
        importance(forest, "gini", alpha=0.1)
    with pytest.raises(TypeError, match="must be a fitted forest of Bevel"):
        importance(X, "gini")


# Corrected for bias


def test_corrected_importance_keeps_nominal_columns_missing_values_and_weights():
    X, y = table(200)
    X["f1"] = np.where(X["f1"] > 0, "yes", "no")
    X.loc[::7, "f0"] = np.nan
    forest = ObliqueForestClassifier(20, random_state=0, n_jobs=1).fit(X, y > 0)
    same = [importance(forest, "corrected", X, y > 0, random_state=1).values for _ in range(2)]
    assert same[0].tolist() == same[1].tolist()
    result = importance(forest, "corrected", X, y > 0, sample_weight=np.ones(200), random_state=1)
    assert result.values.tolist() == same[0].tolist()
    assert set(result.top(2).names) == {"f1", "f2"}


def test_corrected_importance_refuses_directions_tied_to_columns():
    forest, X, y = grown(P.Custom(np.eye(4)))
    with pytest.raises(ValueError, match="tied to the columns of the fit"):
        importance(forest, "corrected", X, y)


def test_no_test_finds_anything_in_a_constant_target():
    # 0.1 is no binary fraction: sums of it round, and scatter of rounding must not be tested.
    X, _ = table(60)
    X["level"] = pd.Categorical(np.random.default_rng(1).choice(["u", "v", "w"], 60))
    forest = ObliqueForestRegressor(2, random_state=0).fit(X, np.full(60, 0.1))
    result = importance(forest, "t_test", X, np.full(60, 0.1))
    np.testing.assert_allclose(result.p_values, 1.0)


def test_corrected_importance_follows_the_weights():
    # f1 decides in one half of the rows, f2 in the other; weights choose the half.
    X, _ = table(200)
    first = np.arange(200) < 100
    y = np.where(first, X["f1"], X["f2"]) > 0
    forest = ObliqueForestClassifier(20, projection="axis", random_state=0, n_jobs=1).fit(X, y)
    for half, best in ((first, "f1"), (~first, "f2")):
        weight = np.where(half, 1.0, 0.001)
        result = importance(forest, "corrected", X, y, sample_weight=weight, random_state=0)
        assert result.top(1).names == (best,)
        assert result.top(1).values[0] > 0.5


def test_twins_of_nominal_columns_are_nominal(monkeypatch):
    X, y = table()
    X["f1"] = np.where(X["f1"] > 0, "yes", "no")
    X["f3"] = pd.cut(X["f3"], [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"]).astype(str)
    forest = ObliqueForestClassifier(3, random_state=0).fit(X, y > 0)
    seen, globals_ = [], KINDS["corrected"].__globals__
    differences = globals_["_differences"]
    monkeypatch.setitem(
        globals_, "_differences", lambda grown, p: (seen.append(grown), differences(grown, p))[1]
    )
    importance(forest, "corrected", X, y > 0, random_state=0)
    assert seen[0].levels.tolist() == [0, 2, 0, 3, 0, 2, 0, 3]


def test_splits_of_nominal_columns_are_unrotated():
    X, y = table()
    X["f1"] = np.where(X["f1"] > 0, "yes", "no")
    forest = ObliqueForestClassifier(10, projection=P.MultiRotation(3), random_state=0, n_jobs=1)
    result = importance(forest.fit(X, y > 0), "rotation")
    assert result.names == ("unrotated", "rotation 1", "rotation 2")
    trees = forest.forest_
    at = trees.entry_offset[:-1][trees.right >= 0]
    n_nominal = np.count_nonzero(trees.entry_index[at] == 1)
    assert 0 < n_nominal <= result.count[0]
    assert result.count.sum() == np.count_nonzero(trees.right >= 0)
