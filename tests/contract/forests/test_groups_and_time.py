"""`groups` and `time` of fit: routing, warm start, clusters, scanned tables, what is held out."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
    RegularizedRotationClassifier,
)
from bevel.analysis import out_of_bag_curve
from bevel.data.row_groups import RowGroups, RowOrder
from bevel.estimators._boosted_trees import hold_out, hold_out_groups
from bevel.training.boosting import BoostingTarget

RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(20), 6)
PLACE = RNG.normal(size=(20, 3))
X = PLACE[GROUP] + 0.2 * RNG.normal(size=(120, 3))
Y = (PLACE[:, 0] > 0).astype(int)[GROUP]
TIME = pd.date_range("2024-01-01", periods=120)[RNG.permutation(120)]
FOREST = {"n_estimators": 50, "random_state": 0, "n_jobs": 1}


@pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueBoostingClassifier])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_groups_are_routed_to_fit(estimator, in_pipeline):
    seen = []

    class Watched(estimator):
        def fit(self, X, y=None, sample_weight=None, *, groups=None):
            seen.append(len(set(groups)))
            return super().fit(X, y, sample_weight, groups=groups)

    with sklearn.config_context(enable_metadata_routing=True):
        model = Watched(random_state=0, n_jobs=1).set_fit_request(groups=True)
        if estimator is ObliqueForestClassifier:
            model.set_params(n_estimators=5)
        if in_pipeline:
            model = make_pipeline(StandardScaler(), model)
        folds = GroupKFold(4)
        scores = cross_val_score(model, X, Y, cv=folds, params={"groups": GROUP})
    assert len(scores) == 4
    assert seen == [15, 15, 15, 15]


def test_warm_start_goes_on_with_the_same_groups():
    settings = FOREST | {"projection": "sparse", "oob_score": True}
    whole = ObliqueForestClassifier(**settings).fit(X, Y, groups=GROUP)
    grown = ObliqueForestClassifier(**settings | {"n_estimators": 8, "warm_start": True})
    grown.fit(X, Y, groups=GROUP).set_params(n_estimators=50).fit(X, Y, groups=GROUP)
    np.testing.assert_array_equal(grown.oob_decision_function_, whole.oob_decision_function_)


@pytest.mark.parametrize("later", [{}, {"groups": GROUP // 2}, {"time": TIME}])
def test_warm_start_refuses_other_groups(later):
    forest = ObliqueForestClassifier(**FOREST, warm_start=True, projection="axis")
    forest.fit(X, Y, groups=GROUP).set_params(n_estimators=60)
    with pytest.raises(ValueError, match="warm_start needs the rows and groups of the earlier fit"):
        forest.fit(X, Y, **later)


def test_small_bags_of_groups_are_warned_of_in_groups():
    with pytest.warns(UserWarning, match=re.escape("total number of samples (20)")):
        ObliqueForestClassifier(**FOREST, max_samples=100).fit(X, Y, groups=GROUP)


@pytest.mark.parametrize("name", ["groups", "time"])
def test_scanned_tables_refuse_groups_and_time(name):
    table = bevel.scan(X, target=Y)
    for model in (ObliqueForestClassifier(**FOREST), ObliqueBoostingClassifier()):
        with pytest.raises(ValueError, match=f"{name} must be None with a scanned table"):
            model.fit(table, **{name: GROUP})


def test_clusters_refuse_groups():
    pytest.importorskip("dask")
    from bevel.dask import DaskObliqueForestClassifier

    with pytest.raises(ValueError, match="groups must be None on a cluster"):
        DaskObliqueForestClassifier().fit(X, Y, groups=GROUP)


def _labels(kind):
    return X[:, 0] + 0.1 * RNG.normal(size=120) if kind is ObliqueForestRegressor else Y


@pytest.mark.parametrize("kind", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_time_judges_a_forest_of_the_earlier_rows_on_the_latest(kind):
    y = _labels(kind)
    forest = kind(**FOREST, oob_score=True).fit(X, y, time=TIME)
    known = getattr(forest, kind._out_of_bag_name).reshape(120, -1)[:, 0]
    latest = np.asarray(np.sort(TIME)[96] <= TIME)
    assert np.array_equal(np.isfinite(known), latest)
    assert np.isfinite(forest.families_.errors).all()
    # The trees of the forest are grown on bags of all rows, shared out as the first forest says.
    bags = forest.fitted_forest_.provenance.bags
    assert bags.groups is None
    assert all(bags.counts(t)[latest].any() for t in range(50))
    assert forest.families_.of_tree.shape == (50,)
    out_of_bag_curve(forest, X, y)  # raises unless the rows of these bags are in the leaves


def test_families_are_judged_on_the_latest_rows_alone():
    latest = np.asarray(np.sort(TIME)[96] <= TIME)
    forest = ObliqueForestClassifier(**FOREST, min_samples_split=2)
    forest.fit(X, np.where(latest, 1 - Y, Y), time=TIME)
    assert (forest.families_.errors > 0.8).all()


def test_time_gives_the_predictions_of_a_forest_of_the_earlier_rows():
    """With a given projection the first forest is that of the bags of the earlier rows alone."""
    latest = np.asarray(np.sort(TIME)[96] <= TIME)
    settings = FOREST | {"projection": "axis", "scale": None, "oob_score": True}
    forest = ObliqueForestRegressor(**settings)
    y = _labels(ObliqueForestRegressor)
    forest.fit(X, y, time=TIME)
    early = ObliqueForestRegressor(**settings).fit(X[~latest], y[~latest])
    expected = early.predict(X[latest])
    np.testing.assert_allclose(forest.oob_prediction_[latest], expected, rtol=1e-12)
    assert forest.oob_score_ == pytest.approx(early.score(X[latest], y[latest]))
    plain = ObliqueForestRegressor(**settings).fit(X, y)
    np.testing.assert_array_equal(forest.predict(X), plain.predict(X))


def test_time_without_anything_to_choose_changes_no_tree():
    settings = FOREST | {"projection": "axis"}
    forests = [ObliqueForestClassifier(**settings).fit(X, Y, time=t) for t in (None, TIME)]
    np.testing.assert_array_equal(*(each.predict_proba(X) for each in forests))


def test_time_works_without_bags():
    forest = ObliqueForestClassifier(50, bootstrap=False, random_state=0, n_jobs=1)
    assert np.isfinite(forest.fit(X, Y, time=TIME).families_.errors).all()


def test_time_of_a_column_is_that_of_its_values():
    table = pd.DataFrame(X, columns=list("abc")).assign(day=TIME)
    forests = [
        ObliqueForestClassifier(**FOREST, oob_score=True).fit(table, Y, time=time)
        for time in ("day", TIME)
    ]
    np.testing.assert_array_equal(*(each.oob_decision_function_ for each in forests))


def test_time_of_survival_forests_and_rotation_ensembles():
    survival = ObliqueSurvivalForest(**FOREST, oob_score=True)
    survival.fit(X, (1.0 + np.arange(120) % 11, Y == 1), time=TIME)
    assert np.isfinite(survival.oob_prediction_).sum() == 24
    ensemble = RegularizedRotationClassifier(60, n_rotations=3, random_state=0, n_jobs=1)
    assert ensemble.fit(X, Y, time=TIME).trees_per_rotation_.sum() == 60


@pytest.mark.parametrize("seed", range(30))
def test_boosting_holds_out_whole_groups(seed):
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, 15, 80), return_inverse=True)[1].astype(np.uint32)
    groups = RowGroups(codes, int(codes.max()) + 1)
    values = rng.integers(0, 2, 80).astype(float)
    validates = hold_out_groups(groups, BoostingTarget(values, None, None), True, 0.2, seed)
    assert not set(codes[validates].tolist()) & set(codes[~validates].tolist())
    assert len(set(codes[validates].tolist())) == np.ceil(0.2 * groups.n_groups)
    assert set(values[~validates]) == {0.0, 1.0}


def test_groups_of_every_class_are_held_out_where_there_are_enough():
    codes = np.repeat(np.arange(40), 3).astype(np.uint32)
    target = BoostingTarget((codes % 4 == 0).astype(float), None, None)
    for seed in range(20):
        validates = hold_out_groups(RowGroups(codes, 40), target, True, 0.2, seed)
        assert target.values[validates].sum() == 6


def test_a_class_in_one_group_stays_among_the_training_rows():
    codes = np.repeat(np.arange(10), 4).astype(np.uint32)
    target = BoostingTarget((codes == 3).astype(float), None, None)
    found, refused = [], 0
    for seed in range(40):
        try:
            found.append(hold_out_groups(RowGroups(codes, 10), target, True, 0.2, seed))
        except ValueError:
            refused += 1
    assert len(found) > 20
    assert refused > 0
    assert not np.any([validates[codes == 3] for validates in found])


@pytest.mark.parametrize("estimator", [ObliqueBoostingClassifier, ObliqueBoostingRegressor])
@pytest.mark.parametrize("given", ["groups", "time"])
def test_boosting_validates_on_what_is_held_out(estimator, given, monkeypatch):
    seen = []
    boost = bevel.estimators.boosting.boost

    def watched(dataset, target, *rest):
        seen.append(target.validates)
        return boost(dataset, target, *rest)

    monkeypatch.setattr(bevel.estimators.boosting, "boost", watched)
    model = estimator(early_stopping=True, refit=False, max_iter=5, random_state=0, n_jobs=1)
    model.fit(X, Y, **{given: GROUP if given == "groups" else TIME})
    validates = seen[0]
    if given == "groups":
        assert len(set(GROUP[validates])) == 2
        assert not set(GROUP[validates]) & set(GROUP[~validates])
    else:
        assert validates.sum() == 12
        assert TIME[validates].min() > TIME[~validates].max()


def test_boosting_without_groups_holds_out_what_it_did():
    models = [
        ObliqueBoostingClassifier(early_stopping=True, random_state=0, n_jobs=1).fit(
            X, Y, groups=groups
        )
        for groups in (None, np.arange(120))
    ]
    np.testing.assert_array_equal(*(each.predict_proba(X) for each in models))
    assert hold_out(BoostingTarget(Y.astype(float), None, None), True, 0.1, 0).sum() == 12


def test_rows_of_weight_zero_leave_their_groups():
    weights = np.ones(120)
    weights[GROUP == 4] = 0.0
    model = ObliqueBoostingClassifier(early_stopping=True, random_state=0, n_jobs=1)
    model.fit(X, Y, weights, groups=GROUP)
    kept = GROUP != 4
    other = ObliqueBoostingClassifier(early_stopping=True, random_state=0, n_jobs=1)
    other.fit(X[kept], Y[kept], groups=GROUP[kept])
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    order = RowOrder(groups=RowGroups(GROUP.astype(np.uint32), 20)).rows(np.flatnonzero(kept))
    assert order.groups.n_groups == 19


def test_time_with_validation_rows_is_refused():
    with pytest.raises(ValueError, match="time must be None with X_val, whose rows validate"):
        ObliqueBoostingClassifier().fit(X, Y, X_val=X, y_val=Y, time=TIME)


def test_class_of_the_latest_rows_only_is_refused_by_boosting():
    late = np.asarray(np.sort(TIME)[118] <= TIME)
    y = np.where(late, 2, Y)
    with pytest.raises(ValueError, match="others of every class"):
        ObliqueBoostingClassifier(early_stopping=True).fit(X, y, time=TIME)
    forest = ObliqueForestClassifier(**FOREST, oob_score=True).fit(X, y, time=TIME)
    assert forest.oob_score_ <= 22 / 24
