"""`bevel.analysis`: proximities and what follows from them, on small tables and by theory."""

from __future__ import annotations

import numpy as np
import pytest

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import (
    nearest_rows,
    outlier_scores,
    principal_coordinates,
    prototypes,
    proximity,
)
from bevel.errors import NoOutOfBagError
from bevel.estimators._base import encode_rows
from bevel.forest.training_rows import training_rows_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
VALUES = X[:, 0] + X[:, 1] + 0.3 * RNG.normal(size=90)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(VALUES, [-0.6, 0.6])]
KINDS = ("oob", "in_bag", "all")


@pytest.fixture(scope="module")
def classifier():
    return ObliqueForestClassifier(40, projection="sparse", random_state=0).fit(X, CLASSES)


@pytest.fixture(scope="module")
def regressor():
    return ObliqueForestRegressor(40, projection="sparse", random_state=0).fit(X, VALUES)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [None, 4])
def test_proximity_is_symmetric_with_a_unit_diagonal(classifier, kind, k):
    matrix = proximity(classifier, X, CLASSES, kind=kind, k=k).matrix
    dense = matrix if k is None else matrix.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert (dense.diagonal() == 1.0).all()
    assert dense.min() == 0.0
    assert dense.max() == 1.0
    assert 0.0 < dense.mean() < 0.5


def test_proximity_of_one_row_is_one(classifier):
    assert proximity(classifier, X[:1], kind="all").matrix.tolist() == [[1.0]]
    assert proximity(classifier, X[:1], kind="all", k=3).matrix.toarray().tolist() == [[1.0]]


def test_proximity_under_a_constant_target_is_one_wherever_a_tree_counts():
    fitted = ObliqueForestRegressor(30, random_state=0).fit(X, np.ones(90))
    result = proximity(fitted, X, np.ones(90))
    assert np.count_nonzero(result.matrix == 1.0) == 90 * 90 - 2 * result.n_pairs_without_tree


def test_proximity_of_a_row_that_is_never_out_of_bag_is_that_to_itself_alone():
    fitted = ObliqueForestRegressor(1, random_state=0).fit(X, np.ones(90))
    inside = ~training_rows_of(
        fitted.fitted_forest_, encode_rows(fitted, X), np.ones(90), "test"
    ).out[:, 0]
    matrix = proximity(fitted, X, np.ones(90)).matrix
    np.testing.assert_array_equal(matrix[inside], np.eye(90)[inside])


def test_proximity_of_slim_saved_and_mapped_forests_is_that_of_the_fitted_one(classifier, tmp_path):
    expected = proximity(classifier, X, CLASSES).matrix
    classifier.save(tmp_path / "model.bevel")
    for mmap in (False, True):
        loaded = bevel.load(tmp_path / "model.bevel", mmap=mmap)
        np.testing.assert_array_equal(proximity(loaded.slim(), X, CLASSES).matrix, expected)


def test_proximity_does_not_depend_on_votes_or_weights_of_the_prediction(classifier):
    hard = ObliqueForestClassifier(40, projection="sparse", random_state=0, voting="hard").fit(
        X, CLASSES
    )
    one, other = (proximity(forest, X, CLASSES).matrix for forest in (classifier, hard))
    np.testing.assert_array_equal(one, other)


def test_proximity_by_bags_without_y_names_both_ways_out(classifier):
    with pytest.raises(ValueError, match=r"needs X and y of the fit.*got y=None.*kind=\"all\""):
        proximity(classifier, X)


def test_proximity_out_of_bag_without_bags_is_refused():
    fitted = ObliqueForestRegressor(5, bootstrap=False).fit(X, VALUES)
    with pytest.raises(NoOutOfBagError, match="bootstrap=True"):
        proximity(fitted, X, VALUES)
    in_bag, every = (proximity(fitted, X, VALUES, kind=kind) for kind in ("in_bag", "all"))
    np.testing.assert_array_equal(in_bag.matrix, every.matrix)


def test_proximity_out_of_bag_of_other_rows_is_refused(classifier):
    with pytest.raises(ValueError, match="in the order of the fit"):
        proximity(classifier, X[::-1], CLASSES[::-1])


def test_proximity_out_of_bag_of_the_papers_ridge_is_allowed():
    fitted = ObliqueForestRegressor(5, projection=P.Ridge(tune="oob"), random_state=0)
    assert proximity(fitted.fit(X, VALUES), X, VALUES).matrix.shape == (90, 90)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "bag"}, ValueError, "kind must be .*got 'bag'"),
        ({"kind": ["oob"]}, ValueError, "kind must be"),
        ({"k": 0}, ValueError, "k must be an integer of at least 1; got 0"),
        ({"k": 2.5}, TypeError, "k must be an integer of at least 1; got 2.5"),
        ({"k": True}, TypeError, "k must be an integer"),
    ],
)
def test_bad_options_are_refused(classifier, options, error, message):
    with pytest.raises(error, match=message):
        proximity(classifier, X, CLASSES, **options)


def test_a_dense_matrix_of_very_many_rows_is_refused_before_it_is_made(classifier):
    with pytest.raises(ValueError, match=r"at most 20000 rows; got 30000.*7 GiB. Pass k=20"):
        proximity(classifier, np.zeros((30000, 4)), kind="all")


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="The forest of proximity must be a fitted forest"):
        proximity(object(), X)


def test_results_describe_themselves(classifier):
    text = repr(proximity(classifier, X, CLASSES))
    assert text.startswith("Proximity of 90 rows in 40 trees, out of bag, all pairs\n")
    assert "pairs without a tree     25" in text
    assert "3 nearest of each" in repr(proximity(classifier, X, CLASSES, k=3))
    assert "variation explained" in repr(principal_coordinates(classifier, X, CLASSES))
    assert "above 10" in repr(outlier_scores(classifier, X, CLASSES))
    assert repr(prototypes(classifier, X, CLASSES)).startswith("3 prototypes")
    assert "2 new rows, 10 each" in repr(nearest_rows(classifier, X, X[:2], CLASSES))


# Principal coordinates


def test_all_coordinates_together_reproduce_the_distances(classifier):
    matrix = proximity(classifier, X, kind="all").matrix
    result = principal_coordinates(classifier, X, kind="all", n_components=90)
    gaps = result.coordinates[:, None] - result.coordinates[None]
    np.testing.assert_allclose((gaps**2).sum(axis=2), 1.0 - matrix, atol=1e-12)
    assert result.explained.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_are_centred_and_their_squares_sum_to_the_eigenvalues(classifier, kind):
    result = principal_coordinates(classifier, X, CLASSES, kind=kind, n_components=5)
    np.testing.assert_allclose(result.coordinates.mean(axis=0), 0.0, atol=1e-12)
    moments = result.coordinates.T @ result.coordinates
    np.testing.assert_allclose(moments, np.diag(result.eigenvalues), atol=1e-10)
    assert (np.diff(result.eigenvalues) <= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_explained_shares_are_those_of_the_centred_matrix(classifier, kind):
    matrix = proximity(classifier, X, CLASSES, kind=kind).matrix
    centring = np.eye(90) - 1 / 90
    values = np.linalg.eigvalsh(-0.5 * centring @ (1.0 - matrix) @ centring)
    result = principal_coordinates(classifier, X, CLASSES, kind=kind, n_components=4)
    np.testing.assert_allclose(result.explained, values[::-1][:4] / values.sum(), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_of_many_rows_are_those_of_the_dense_matrix(classifier, kind, monkeypatch):
    dense = principal_coordinates(classifier, X, CLASSES, kind=kind, n_components=3)
    monkeypatch.setitem(principal_coordinates.__globals__, "MAX_DENSE", 10)
    sparse = principal_coordinates(classifier, X, CLASSES, kind=kind, n_components=3)
    np.testing.assert_allclose(sparse.coordinates, dense.coordinates, atol=1e-8)
    np.testing.assert_allclose(sparse.explained, dense.explained, atol=1e-10)


def test_coordinates_of_many_rows_are_not_displaced_by_large_negative_eigenvalues(monkeypatch):
    # Four stumps: pairs are judged by few trees, and the eighth eigenvalue by size is negative.
    fitted = ObliqueForestRegressor(4, max_depth=1, random_state=0).fit(X, VALUES)
    matrix = proximity(fitted, X, VALUES).matrix
    centring = np.eye(90) - 1 / 90
    values = np.linalg.eigvalsh(0.5 * centring @ matrix @ centring)[::-1]
    assert -values[-1] > values[7] > 0.6
    monkeypatch.setitem(principal_coordinates.__globals__, "MAX_DENSE", 10)
    sparse = principal_coordinates(fitted, X, VALUES, n_components=8)
    np.testing.assert_allclose(sparse.eigenvalues, values[:8], rtol=1e-9)


def test_coordinates_of_rows_that_share_no_leaf_are_those_of_a_simplex():
    # In fully grown trees no two rows of a bag share a leaf: all eigenvalues but one are 1/2.
    rows, values = np.arange(200.0)[:, None], np.arange(200.0)
    fitted = ObliqueForestRegressor(5, random_state=0).fit(rows, values)
    matrix = proximity(fitted, rows, values, kind="in_bag").matrix
    np.testing.assert_array_equal(matrix, np.eye(200))
    result = principal_coordinates(fitted, rows, values, kind="in_bag", n_components=2)
    np.testing.assert_allclose(result.eigenvalues, 0.5)
    np.testing.assert_allclose(result.coordinates.T @ result.coordinates, np.eye(2) / 2, atol=1e-9)
    np.testing.assert_allclose(result.explained, 1 / 199)


def test_coordinates_of_rows_that_are_alike_are_zero(classifier):
    for rows in (X[:1], np.repeat(X[:1], 5, axis=0)):
        result = principal_coordinates(classifier, rows, kind="all", n_components=3)
        np.testing.assert_allclose(result.coordinates, np.zeros((len(rows), 3)), atol=1e-7)
        assert result.explained.tolist() == [0.0, 0.0, 0.0]


# Outliers


@pytest.mark.parametrize("kind", KINDS)
def test_outlier_scores_follow_breimans_formula(classifier, kind):
    matrix = proximity(classifier, X, CLASSES, kind=kind).matrix
    result = outlier_scores(classifier, X, CLASSES, kind=kind)
    for label in np.unique(CLASSES):
        rows = np.flatnonzero(label == CLASSES)
        raw = np.array([90 / sum(matrix[i, j] ** 2 for j in rows) for i in rows])
        spread = np.median(np.abs(raw - np.median(raw)))
        np.testing.assert_allclose(result.raw[rows], raw)
        np.testing.assert_allclose(result.scores[rows], (raw - np.median(raw)) / spread)


def test_a_row_with_the_label_of_another_class_is_the_worst_outlier():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 100)
    rows = rng.normal(size=(200, 3)) + 3.0 * y[:, None]
    y[7] = 1
    fitted = ObliqueForestClassifier(100, random_state=0).fit(rows, y)
    scores = outlier_scores(fitted, rows, y).scores
    assert scores.argmax() == 7
    assert scores[7] > 10


def test_outlier_scores_of_a_regression_take_all_rows_as_one_class(regressor):
    matrix = proximity(regressor, X, kind="all").matrix
    result = outlier_scores(regressor, X, kind="all")
    np.testing.assert_allclose(result.raw, 90 / (matrix**2).sum(axis=1))


def test_rows_that_no_tree_evaluates_have_no_outlier_score_and_change_no_other():
    few = ObliqueForestRegressor(4, random_state=0).fit(X, VALUES)
    never = ~training_rows_of(few.fitted_forest_, encode_rows(few, X), VALUES, "test").out.any(
        axis=1
    )
    assert 0 < never.sum() < 45
    result = outlier_scores(few, X, VALUES)
    assert np.isnan(result.scores[never]).all()
    assert np.isnan(result.raw[never]).all()
    matrix = proximity(few, X, VALUES).matrix
    raw = 90 / (matrix[~never] ** 2).sum(axis=1)
    spread = np.median(np.abs(raw - np.median(raw)))
    np.testing.assert_allclose(result.scores[~never], (raw - np.median(raw)) / spread)
    assert f"{never.sum()} without a tree to evaluate them" in repr(result)


def test_outlier_scores_of_rows_that_are_alike_are_zero():
    fitted = ObliqueForestClassifier(5, random_state=0).fit(X, np.zeros(90))
    assert not outlier_scores(fitted, X, np.zeros(90), kind="all").scores.any()


def test_outlier_scores_without_classes_are_refused(classifier):
    for y in (None, CLASSES[:5]):
        with pytest.raises(ValueError, match="needs y, the class of each of the 90 rows"):
            outlier_scores(classifier, X, y, kind="all")


# Prototypes


@pytest.mark.parametrize("kind", KINDS)
def test_prototypes_follow_breimans_recipe(classifier, kind):
    matrix = proximity(classifier, X, CLASSES, kind=kind).matrix - np.eye(90)
    result = prototypes(classifier, X, CLASSES, kind=kind, k=7)
    assert result.labels.tolist() == ["high", "low", "middle"]
    for label, row, members in zip(result.labels, result.rows, result.members, strict=True):
        best = None
        for i in np.flatnonzero(label == CLASSES):
            near = [j for j in np.argsort(-matrix[i], kind="stable")[:7] if matrix[i, j] > 0]
            mine = [j for j in near if CLASSES[j] == label]
            merit = (len(mine), round(matrix[i, mine].sum(), 9), -i)
            if best is None or merit > best[0]:
                best = (merit, i, sorted([*mine, i]))
        assert (row, members.tolist()) == best[1:]


def test_prototypes_are_medians_and_quartiles_of_their_members(classifier):
    result = prototypes(classifier, X, CLASSES)
    for i, members in enumerate(result.members):
        for share, columns in ((50, result.centre), (25, result.low), (75, result.high)):
            made = [column[i] for column in columns.values]
            np.testing.assert_allclose(made, np.percentile(X[members], share, axis=0))
    assert classifier.predict(result.to_pandas().to_numpy()).tolist() == result.labels.tolist()


def test_further_prototypes_of_a_class_share_no_row(classifier):
    result = prototypes(classifier, X, CLASSES, k=5, n_per_class=3)
    assert len(result.labels) == 9
    members = np.concatenate(result.members)
    assert len(np.unique(members)) == len(members)


def test_prototypes_of_a_class_end_with_its_rows():
    y = np.array(["one"] * 3 + ["other"] * 87)
    fitted = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    found = prototypes(fitted, X, y, k=1, n_per_class=50).labels
    assert 1 <= np.count_nonzero(found == "one") <= 3


def test_prototypes_of_nominal_columns_are_the_commonest_labels():
    rows = np.empty((60, 2), dtype=object)
    rows[:, 0] = np.repeat(["red", "blue"], 30)
    rows[:, 1] = RNG.normal(size=60)
    rows[::7, 0], rows[::9, 1] = None, np.nan
    y = np.repeat([0, 1], 30)
    fitted = ObliqueForestClassifier(30, categorical_features=[0], random_state=0).fit(rows, y)
    result = prototypes(fitted, rows, y)
    assert result.centre.values[0].tolist() == ["red", "blue"]
    assert result.low.values[0].tolist() == [None, None]


def test_prototypes_of_a_regression_are_refused(regressor):
    with pytest.raises(ValueError, match=r"prototypes needs a classifier.*got a regression forest"):
        prototypes(regressor, X, VALUES)


def test_prototypes_without_y_are_refused(classifier):
    with pytest.raises(ValueError, match="prototypes needs y"):
        prototypes(classifier, X, None, kind="all")


# Nearest rows


def test_nearest_row_of_a_training_row_given_as_new_is_itself_in_all_trees(regressor):
    result = nearest_rows(regressor, X, X[5:8], kind="all", k=3)
    assert (result.proximity[:, 0] == 1.0).all()
    assert all(i + 5 in rows for i, rows in enumerate(result.rows))
    assert (np.diff(result.proximity, axis=1) <= 0).all()


def test_nearest_rows_are_filled_up_where_there_are_fewer(classifier):
    result = nearest_rows(classifier, X[:3], X[:2], kind="all", k=5)
    assert (result.rows[:, 3:] == -1).all()
    assert (result.proximity[:, 3:] == 0.0).all()
