"""`bevel.presets`: the settings of the papers, written down a second time."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
    StackedRotationRegressor,
    presets,
)
from bevel import projections as P
from bevel.projections.families import TableShape, read_projection, resolve_families

TASKS = ("classification", "regression")
NAMES = [preset.name for preset in presets.TABLE]
# Estimators of their own, with tests of their own below.
ENSEMBLES = [
    "regularized_rotation",
    "stacked_rotation",
    "rr_gbm",
    "sparse_boosting",
    "rotated_boosting",
]
FORESTS = [name for name in NAMES if name not in ENSEMBLES]
OWN = {"s_rerf": {"shape": 4}}  # what a preset cannot do without

# What differs from the defaults of the classifier; the projection is judged by what it resolves to.
CLASSIFIERS = {
    "random_forest": {"n_estimators": 500, "bootstrap": True, "voting": "hard"},
    "extra_trees": {
        "n_estimators": 500,
        "threshold": "random",
        "bootstrap": False,
        "voting": "hard",
    },
    "forest_rc": {
        "n_estimators": 500,
        "min_samples_split": 10,
        "bootstrap": True,
        "voting": "hard",
    },
    "frank": {
        "n_estimators": 500,
        "min_samples_split": 10,
        "bootstrap": True,
        "voting": "hard",
        "scale": "rank",
    },
    "rr_rf": {"n_estimators": 500, "bootstrap": True, "voting": "hard", "scale": "minmax_clip"},
    "rr_et": {
        "n_estimators": 500,
        "threshold": "random",
        "bootstrap": False,
        "voting": "hard",
        "scale": "minmax_clip",
    },
    "rotation_forest": {
        "n_estimators": 10,
        "criterion": "entropy",
        "bootstrap": False,
        "voting": "soft",
        "scale": "minmax",
    },
    "orf_rnd": {"n_estimators": 300, "n_projections": 1, "bootstrap": True, "voting": "hard"},
    "orf_lda": {"n_estimators": 300, "n_projections": 1, "bootstrap": True, "voting": "hard"},
    "orf_ridge": {"n_estimators": 300, "n_projections": 1, "bootstrap": True, "voting": "hard"},
    "ccf": {"n_estimators": 500, "criterion": "entropy", "bootstrap": False, "voting": "hard"},
    "sporf": {"n_estimators": 500, "bootstrap": True, "voting": "hard"},
    "s_rerf": {"n_estimators": 500, "bootstrap": True, "voting": "hard"},
    "multi_rotation": {
        "n_estimators": 500,
        "bootstrap": True,
        "voting": "hard",
        "scale": "minmax_clip",
    },
    "data_agnostic": {
        "n_estimators": 500,
        "threshold": "purely_random",
        "bootstrap": True,
        "voting": "hard",
    },
    "random_side": {
        "n_estimators": 100,
        "n_projections": 1,
        "min_samples_split": 2,
        "split_pure_nodes": True,
        "bootstrap": False,
    },
    "random_point": {
        "n_estimators": 100,
        "min_samples_split": 2,
        "threshold": "random",
        "n_projections": "p",
        "split_pure_nodes": True,
        "bootstrap": False,
    },
    "breiman_forest": {
        "n_estimators": 100,
        "split_pure_nodes": True,
        "bootstrap": True,
        "replace": False,
    },
}

# Smallest node that is split, in regression where that differs from classification.
REGRESSION_SPLITS = {"random_forest": 6, "extra_trees": 5, "rr_rf": 6, "rr_et": 5}

# Sampler, draws and features per direction (or in a group) on 36 columns: √36 = 6, √(30·36) = 32.
SAMPLERS = {
    "random_forest": ("axis", 6, 0),
    "extra_trees": ("axis", 6, 0),
    "forest_rc": ("combination", 36, 2),
    "frank": ("combination", 36, 2),
    "rr_rf": ("rotation", 6, 36),
    "rr_et": ("rotation", 6, 36),
    "rotation_forest": ("principal", 36, 3),
    "orf_rnd": ("gaussian", 1, 6),
    "orf_lda": ("lda", 1, 6),
    "orf_ridge": ("ridge", 1, 6),
    "ccf": ("cca", 1, 6),
    "sporf": ("signs", 36, 3 * 36),
    "multi_rotation": ("multirotation", 32, 36),
    "data_agnostic": ("signs", 1, 3),
    "random_side": ("axis", 1, 0),
    "random_point": ("axis", 36, 0),
    "breiman_forest": ("axis", 6, 0),
}


def make(name: str, **parameters):
    return getattr(presets, name)(**(OWN.get(name, {}) | parameters))


def sampler(forest, n_features: int = 36):
    members = read_projection(forest.projection, forest.n_projections)
    shape = TableShape(n_rows=100, n_numeric=n_features, n_nominal=0)
    single_draw = forest.threshold == "purely_random"
    regression = isinstance(forest, ObliqueForestRegressor)
    (family,) = resolve_families(members, shape, regression=regression, single_draw=single_draw)
    return family


def settings(forest) -> dict[str, object]:
    values = forest.get_params(deep=False)
    return {name: value for name, value in values.items() if name != "projection"}


def test_expectations_cover_every_preset():
    assert list(CLASSIFIERS) == FORESTS
    assert {*SAMPLERS, "s_rerf"} == set(FORESTS)


@pytest.mark.parametrize("name", FORESTS)
def test_classifier_has_the_settings_of_the_paper(name):
    plain = ObliqueForestClassifier(scale=None, criterion="gini")
    expected = settings(plain) | CLASSIFIERS[name]
    assert settings(make(name)) == expected


@pytest.mark.parametrize("name", FORESTS)
def test_regressor_has_the_same_settings_but_for_small_nodes(name):
    expected = settings(ObliqueForestRegressor(scale=None)) | CLASSIFIERS[name]
    expected = {key: expected[key] for key in settings(ObliqueForestRegressor())}
    expected["criterion"] = "squared_error"
    expected["min_samples_split"] = REGRESSION_SPLITS.get(name, expected["min_samples_split"])
    assert settings(make(name, task="regression")) == expected


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_nodes_draw_as_many_directions_as_in_the_paper(name):
    family = sampler(make(name))
    assert (family.kind, family.n_draws, family.n_nonzeros) == SAMPLERS[name]


def test_regression_draws_a_third_of_the_features_where_r_does():
    for name in ("random_forest", "extra_trees", "rr_rf", "rr_et"):
        assert sampler(make(name, task="regression")).n_draws == 12, name


def test_settings_within_the_projections_are_those_of_the_papers():
    ridge = sampler(presets.orf_ridge()).settings
    assert ridge["alphas"] == tuple(10.0**i for i in range(-5, 6))
    assert ridge["tune"] == "out_of_bag"
    assert not ridge["parent_when_exhausted"]
    assert sampler(presets.ccf()).settings["bootstrap"]
    assert sampler(presets.multi_rotation()).settings["n_rotations"] == 30
    assert sampler(presets.rotation_forest()).settings == {"share": 0.75}
    assert not sampler(presets.rr_rf()).settings["per_node"]
    patches = sampler(presets.s_rerf((6, 6)))
    assert (patches.kind, patches.n_draws, patches.settings["shuffle"]) == ("patches", 36, False)


def test_own_parameters_reach_the_projection():
    assert presets.rr_rf(flip=True).projection == P.RandomRotation(flip=True)
    assert presets.rr_et(flip=True).projection == P.RandomRotation(flip=True)
    assert presets.multi_rotation(n_rotations=5).projection == P.MultiRotation(5)
    assert presets.s_rerf((8, 8), shuffle=True).projection == P.Patches(
        (8, 8), max=(8, 8), weights="ones", shuffle=True, inside=True
    )
    assert presets.random_side(k=7).min_samples_split == 8
    assert presets.random_point(k=7).min_samples_split == 8
    budgeted = presets.breiman_forest(max_samples=0.5, max_leaf_nodes=9)
    assert (budgeted.max_samples, budgeted.max_leaf_nodes) == (0.5, 9)
    assert budgeted.growth == "breadth_first"


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("task", TASKS)
def test_preset_fits_predicts_and_repeats(name, task):
    X, y = load_iris(return_X_y=True)
    if task == "regression":
        y = X[:, 2] * X[:, 3]
    forest = make(name, task=task, n_estimators=20, random_state=3, n_jobs=1).fit(X[::2], y[::2])
    assert forest.score(X[1::2], y[1::2]) > 0.75
    again = clone(forest).fit(X[::2], y[::2])
    np.testing.assert_array_equal(forest.predict(X), again.predict(X))


@pytest.mark.parametrize("name", FORESTS)
def test_two_columns_are_enough(name):
    X, y = load_iris(return_X_y=True)
    own = {"shape": 2} if name == "s_rerf" else {}
    make(name, **own, n_estimators=2, random_state=0).fit(X[:, 2:], y)


@pytest.mark.parametrize("weighting", ["exp", "cut"])
def test_regularized_rotation_has_the_settings_of_the_paper(weighting):
    own = {"n_estimators": 5000, "weighting": weighting, "bootstrap": True, "scale": "minmax_clip"}
    classifier = presets.regularized_rotation(weighting=weighting)
    expected = RegularizedRotationClassifier().get_params(deep=False) | own
    expected |= {"voting": "hard", "n_projections": 1}
    assert classifier.get_params(deep=False) == expected
    plan = classifier._plan()
    assert (plan.n_trees, plan.n_rotations, plan.n_micro_trees) == (5000, 100, 10)
    regressor = presets.regularized_rotation(weighting=weighting, task="regression")
    expected = (
        RegularizedRotationRegressor().get_params(deep=False) | own | {"min_samples_split": 6}
    )
    assert regressor.get_params(deep=False) == expected
    mine = {"n_estimators": 7, "n_rotations": 2, "voting": "soft", "h": 2}
    ensemble = presets.regularized_rotation(**mine)
    assert {key: ensemble.get_params()[key] for key in mine} == mine
    with pytest.raises(TypeError, match=r"RotationClassifier; got projection\. "):
        presets.regularized_rotation(projection="axis")


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("task", TASKS)
def test_parameters_of_the_user_replace_those_of_the_paper(name, task):
    mine = {"n_estimators": 7, "bootstrap": "auto", "scale": "standard", "projection": "axis"}
    mine |= {"threshold": "best", "min_samples_split": 4, "n_projections": 2, "random_state": 1}
    forest = make(name, task=task, **mine)
    assert {key: forest.get_params()[key] for key in mine} == mine


@pytest.mark.parametrize("name", FORESTS)
def test_preset_with_an_unknown_task_says_which_there_are(name):
    with pytest.raises(ValueError, match=r'^task must be "classification" or "regression"; got '):
        make(name, task="ranking")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimator": 5}, "ObliqueForestClassifier; got n_estimator. Did you mean n_estimators"),
        ({"bananas": 5}, r"got bananas. See help\(ObliqueForestClassifier\)"),
        (
            {"task": "regression", "voting": "soft"},
            'ObliqueForestRegressor; got voting. Leave it out: .* task="classification" only',
        ),
    ],
)
@pytest.mark.parametrize("name", FORESTS)
def test_preset_with_an_unknown_parameter_names_it(name, parameters, message):
    with pytest.raises(TypeError, match=message):
        make(name, **parameters)


@pytest.mark.parametrize("k", [0, 2.5])
def test_terminal_node_size_must_be_a_number_of_rows(k):
    with pytest.raises((TypeError, ValueError), match=r"^k must be an integer of at least 1; got "):
        presets.random_side(k=k)


def test_table_lists_all_presets():
    assert sorted([*NAMES, "TABLE"]) == sorted(presets.__all__)
    assert all(getattr(presets, preset.name) is preset.make for preset in presets.TABLE)
    lines = str(presets.TABLE).splitlines()
    assert lines[0].split() == ["preset", "system", "paper", "section"]
    assert [line.split()[0] for line in lines[2:]] == NAMES


@pytest.mark.parametrize("preset", presets.TABLE, ids=NAMES)
def test_docstring_names_paper_and_parameters(preset):
    document = " ".join(preset.make.__doc__.split())
    assert f"Source: {preset.paper}, {preset.section}." in document
    for name in inspect.signature(preset.make).parameters:
        assert f"{name} : " in document or f"**{name}" in document
    assert document.count("Parameters ----------") == 1


@pytest.mark.parametrize("name", [*FORESTS, *ENSEMBLES])
def test_guide_lists_all_presets(name):
    guide = (Path(__file__).parents[3] / "docs/guide/presets.md").read_text(encoding="utf-8")
    assert f"| `{name}" in guide


def test_stacked_rotation_has_the_settings_of_the_thesis():
    stack = presets.stacked_rotation(n_estimators=7, random_state=1)
    assert (stack.n_rotations, stack.cv, stack.scale) == (20, 5, "minmax_clip")
    for forest in (stack.level0, stack.level1):
        expected = CLASSIFIERS["random_forest"] | {"n_estimators": 7, "voting": "soft"}
        plain = ObliqueForestClassifier(scale=None, criterion="gini")
        assert settings(forest) == settings(plain) | expected
    assert presets.stacked_rotation(cv=3, random_state=1).cv == 3
    numbers = presets.stacked_rotation(n_estimators=7, task="regression")
    assert isinstance(numbers, StackedRotationRegressor)
    assert settings(numbers.level0)["min_samples_split"] == 6
    assert (numbers.level0.n_estimators, numbers.scale) == (7, "minmax_clip")


@pytest.mark.parametrize("task", TASKS)
def test_rr_gbm_has_the_settings_of_the_thesis_and_of_gbm(task):
    groups = presets.rr_gbm(task=task, random_state=1)
    assert (groups.n_groups, groups.scale, groups.random_state) == (100, "minmax_clip", 1)
    assert getattr(groups, "voting", "hard") == "hard"
    booster = groups.booster.get_params()
    assert (booster["n_estimators"], booster["learning_rate"]) == (50, 0.05)
    assert (booster["max_depth"], booster["subsample"], booster["min_samples_leaf"]) == (1, 0.5, 10)
    assert presets.rr_gbm(task=task, n_groups=3, n_estimators=4).booster.n_estimators == 4


def test_presets_of_ensembles_fit_and_predict():
    X, y = load_iris(return_X_y=True)
    few = {"random_state": 0, "n_jobs": 1}
    stack = presets.stacked_rotation(n_estimators=5, n_rotations=2, cv=2, **few)
    assert stack.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    groups = presets.rr_gbm(n_groups=3, **few)
    assert groups.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    groups = presets.rr_gbm(n_groups=3, task="regression", **few)
    assert groups.fit(X[::2, :3], X[::2, 3]).score(X[1::2, :3], X[1::2, 3]) > 0.6


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("stacked_rotation", {"task": "ranking"}, 'task must be "classification" or "regression"'),
        ("stacked_rotation", {"task": "regression", "passes": "labels"}, "got passes. Leave it"),
        ("stacked_rotation", {"n_rotation": 3}, "Classifier; got n_rotation. Did you mean n_rot"),
        ("rr_gbm", {"task": "ranking"}, 'task must be "classification" or "regression"; got'),
        ("rr_gbm", {"groups": 3}, "RotatedBoostingClassifier; got groups. Did you mean n_groups"),
        ("rr_gbm", {"task": "regression", "voting": "soft"}, "got voting. Leave it out"),
    ],
)
def test_presets_of_ensembles_refuse_what_they_do_not_know(name, parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make(name, **parameters)


@pytest.mark.parametrize("task", TASKS)
def test_sparse_boosting_cuts_along_sparse_projections_only(task):
    model = presets.sparse_boosting(task=task, random_state=0, max_iter=5)
    assert (model.projection, model.n_projections, model.scale) == ("sparse", "p", None)
    X, y = load_iris(return_X_y=True)
    assert model.fit(X, y).score(X, y) > 0.3  # five steps of 0.05 in regression
    with pytest.raises(TypeError, match="Did you mean"):
        presets.sparse_boosting(task=task, max_iters=3)


@pytest.mark.parametrize("task", TASKS)
def test_rotated_boosting_has_the_settings_of_rr_gbm_on_trees_of_bevel(task):
    own = presets.rotated_boosting(task=task, random_state=1, n_groups=3)
    theirs = presets.rr_gbm(task=task, random_state=1, n_groups=3)
    assert type(own) is type(theirs)
    assert own.scale == theirs.scale
    booster, other = own.booster, theirs.booster
    assert type(booster).__name__.startswith("ObliqueBoosting")
    assert booster.max_iter == other.n_estimators == 50
    for name in ("learning_rate", "subsample", "min_samples_leaf"):
        assert getattr(booster, name) == getattr(other, name)
    assert booster.max_leaf_nodes == 2
    X, y = load_iris(return_X_y=True)
    assert own.fit(X, y).score(X, y) > 0.8
