"""Node models in words: settings, numbers of models, and what cannot be asked of them."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.errors import NoOutOfBagError
from bevel.projections.base import FamilySpec
from bevel.projections.families import TableShape, read_projection, resolve_families

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 9))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
RIDGE = {
    "alphas": tuple(10.0**i for i in range(-5, 6)),
    "tune": "out_of_bag",
    "parent_when_exhausted": False,
    "record": False,
}


def resolve(projection, n_projections="auto", numeric=20, nominal=0):
    members = read_projection(projection, n_projections)
    return resolve_families(members, TableShape(100, numeric, nominal), regression=False)


@pytest.mark.parametrize(
    ("projection", "kind", "n_features", "settings"),
    [
        (P.Ridge(), "ridge", 4, RIDGE),
        (P.Ridge(tune="gcv"), "ridge", 4, {**RIDGE, "tune": "cross_validation"}),
        (
            P.Ridge("p", alphas=[3, 0.5], when_exhausted="parent", record=True),
            "ridge",
            20,
            {**RIDGE, "alphas": (0.5, 3.0), "parent_when_exhausted": True, "record": True},
        ),
        (P.LDA(7, record=True), "lda", 7, {"record": True}),
        (P.Logistic(0.5), "logistic", 10, {"alpha": 1.0, "n_steps": 5, "record": False}),
        (
            P.Logistic(3, 2, 7, record=True),
            "logistic",
            3,
            {"alpha": 2.0, "n_steps": 7, "record": True},
        ),
        (P.PLS("log2", n_components=3), "pls", 4, {"n_components": 3}),
        (P.CCA(), "cca", 4, {"bootstrap": True}),
        (P.CCA("p**0.75", bootstrap=None), "cca", 10, {"bootstrap": False}),
    ],
)
def test_model_of_four_draws_among_twenty_features(projection, kind, n_features, settings):
    family = FamilySpec(kind, 4, n_features, settings, fits_models=True)
    assert projection.family(4, 20) == family
    assert projection.default_draws(20, regression=False) == 1
    assert projection.default_draws(20, regression=True) == 1


def test_penalties_may_come_as_any_sequence_and_are_kept_apart_from_it():
    alphas = [1.0, 10.0]
    ridge = P.Ridge(alphas=alphas)
    alphas.append(-1.0)
    assert ridge == P.Ridge(alphas=np.array([1, 10])) == P.Ridge(alphas=(1.0, 10.0))
    assert hash(ridge) == hash(P.Ridge(alphas=(1, 10)))


def test_number_of_models_is_n_projections_beside_nominal_columns():
    families = resolve(P.LDA(), 6, numeric=4, nominal=2)
    assert [(f.kind, f.n_draws, f.n_nonzeros) for f in families] == [
        ("lda", 4, 2),
        ("categorical", 2, 0),
    ]
    families = resolve([P.Axis(), (P.PLS(3), 5)])
    assert [(f.kind, f.n_draws) for f in families] == [("axis", 4), ("pls", 5)]


def test_more_models_per_node_are_more_candidates():
    """Of many subspaces of one feature the best is taken, of one whatever it is."""
    few, many = (
        ObliqueForestClassifier(
            60, projection=P.LDA(1), n_projections=n, max_depth=1, random_state=0
        ).fit(X[:, :4], X[:, 0] > 0)
        for n in (1, 30)
    )
    roots = [
        f.forest_.entry_index[f.forest_.entry_offset[f.forest_.tree_offset[:-1]]]
        for f in (few, many)
    ]
    assert (roots[1] == 0).all()
    assert len(set(roots[0])) == 4


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: P.Ridge(alphas=[]), ValueError, r"Ridge\(alphas=\) must be a sequence of posi"),
        (lambda: P.Ridge(alphas=[1, 0]), ValueError, "got 0. The paper tries"),
        (lambda: P.Ridge(alphas=[-1.0]), ValueError, "got -1.0"),
        (lambda: P.Ridge(alphas=[np.nan]), ValueError, "got nan"),
        (lambda: P.Ridge(alphas=[np.inf]), ValueError, "got inf"),
        (lambda: P.Ridge(alphas=1.0), TypeError, "got 1.0 of type float"),
        (lambda: P.Ridge(alphas="1"), TypeError, "of type str"),
        (lambda: P.Ridge(alphas=["1"]), TypeError, "got '1' of type str"),
        (lambda: P.Ridge(alphas=[True]), TypeError, "of type bool"),
        (lambda: P.Ridge(alphas=np.ones((2, 2))), TypeError, "of type ndarray"),
        (lambda: P.Ridge(tune="cv"), ValueError, '"oob" or "gcv"; got \'cv\''),
        (lambda: P.Ridge(when_exhausted="go"), ValueError, '"stop" or "parent"; got \'go\''),
        (lambda: P.Ridge(tune="gcv", when_exhausted="parent"), ValueError, "never runs out"),
        (lambda: P.Ridge(record=1), TypeError, "a bool; got 1"),
        (lambda: P.Ridge(0), ValueError, r"Ridge\(n_features=\)"),
        (lambda: P.LDA("many"), ValueError, r"LDA\(n_features=\) must be"),
        (lambda: P.LDA(record="yes"), TypeError, "a bool; got 'yes'"),
        (lambda: P.Logistic(alpha=0.0), ValueError, r"Logistic\(alpha=\) must be a positive"),
        (lambda: P.Logistic(n_steps=0), ValueError, "at least 1; got 0"),
        (lambda: P.Logistic(record=0), TypeError, r"Logistic\(record=\) must be a bool; got 0"),
        (lambda: P.PLS(n_components=1.5), TypeError, "of type float"),
        (lambda: P.CCA(bootstrap="bag"), ValueError, "\"projection\" or None; got 'bag'"),
        (lambda: P.CCA(bootstrap=True), ValueError, "got True"),
    ],
)
def test_impossible_settings_raise_when_written_down(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("member", [P.Ridge, P.LDA, P.Logistic, P.PLS, P.CCA])
def test_subspace_of_more_features_than_there_are_raises(member):
    with pytest.raises(ValueError, match=r"at most the number of numeric features \(9\); got 10"):
        ObliqueForestClassifier(projection=member(10)).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"projection": P.Ridge(), "bootstrap": False}, ValueError, "chooses its penalty on out"),
        ({"projection": "ridge", "oob_score": True}, NoOutOfBagError, "has seen the out-of-bag"),
        (
            {"projection": ["axis", P.Ridge()], "oob_score": True},
            NoOutOfBagError,
            r'Use Ridge\(tune="gcv"\)',
        ),
        (
            {"projection": P.Ridge(), "replace": False, "max_samples": 1.0},
            NoOutOfBagError,
            r'Ridge\(tune="oob"\) needs rows out of the bag',
        ),
        ({"projection": "cca", "bootstrap": True}, ValueError, r"use CCA\(bootstrap=None\)"),
        ({"projection": "cca", "oob_score": True}, NoOutOfBagError, r"Use CCA\(bootstrap=None\)"),
        ({"projection": ["axis", "cca"], "max_samples": 0.5}, ValueError, "max_samples needs"),
        ({"projection": ["ridge", "cca"]}, ValueError, "needs bootstrap=True"),
        *(
            (
                {"projection": name, "threshold": "purely_random"},
                ValueError,
                "must not look at the target",
            )
            for name in ("lda", "logistic", "pls", "cca", P.Ridge(), ["axis", "lda"])
        ),
        (
            {"projection": P.Custom(lambda *_: np.ones((9, 1))), "threshold": "purely_random"},
            ValueError,
            "must not look at the target",
        ),
    ],
)
def test_combination_that_cannot_be_honoured_raises(settings, error, message):
    with pytest.raises(error, match=message):
        ObliqueForestClassifier(5, **settings).fit(X, y)


@pytest.mark.parametrize("projection", ["logistic", P.Logistic(3), ["axis", P.Logistic()]])
def test_logistic_in_a_regressor_raises(projection):
    with pytest.raises(ValueError, match="able to learn a numeric target; got Logistic"):
        ObliqueForestRegressor(5, projection=projection).fit(X, X[:, 0])


@pytest.mark.parametrize("bootstrap", ["auto", False])
def test_cca_takes_all_rows_in_every_tree(bootstrap):
    forest = ObliqueForestClassifier(5, projection="cca", bootstrap=bootstrap).fit(X, y).forest_
    assert (forest.weight[forest.tree_offset[:-1]] == 120).all()
    assert not np.array_equal(*(forest.tree(t).threshold[:1] for t in (0, 1)))  # rows are redrawn


def test_cca_without_bootstrap_of_the_projection_takes_bags_and_scores_them():
    rows = RNG.integers(0, 120, 120)
    forest = ObliqueForestClassifier(
        30, projection=P.CCA(bootstrap=None), oob_score=True, random_state=0
    ).fit(X, y)
    assert 0.7 < forest.oob_score_ <= 1
    whole = ObliqueForestClassifier(
        3, projection=P.CCA("p", bootstrap=None), bootstrap=False, random_state=0
    ).fit(X[rows], y[rows])
    thresholds = [whole.forest_.tree(t).threshold for t in range(3)]
    assert np.array_equal(thresholds[0], thresholds[1])  # nothing is left to chance


def test_purely_random_trees_take_a_fixed_matrix():
    forest = ObliqueForestClassifier(
        5, projection=P.Custom(np.eye(9)), threshold="purely_random", random_state=0
    ).fit(X, y)
    assert forest.forest_.n_leaves > 5


@pytest.mark.parametrize("name", ["ridge", "lda", "logistic", "pls", "cca"])
def test_forest_of_a_model_separates_what_is_linear(name):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(600, 6))
    label = table.sum(axis=1) > 0
    forest = ObliqueForestClassifier(40, projection=name, random_state=0)
    plain = ObliqueForestClassifier(40, projection="axis", random_state=0)
    scores = [
        f.fit(table[:300], label[:300]).score(table[300:], label[300:]) for f in (forest, plain)
    ]
    assert scores[0] > scores[1]
