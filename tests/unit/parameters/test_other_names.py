"""Parameters under other names: errors name ours, and settings of projections are parameters."""

import inspect

import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
)
from bevel import projections as P
from bevel.parameters import other_names
from bevel.projections import NAMED


@pytest.mark.parametrize("projection", ["sparse", P.SparseSigns(4)])
def test_grid_search_over_a_setting_of_the_projection_tries_its_values(projection):
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(3, projection=projection, random_state=0)
    search = GridSearchCV(forest, {"projection__density": [1, 2]}, cv=2).fit(X, y)
    assert search.best_estimator_.projection == P.SparseSigns(
        search.best_params_["projection__density"]
    )
    assert forest.projection is projection


def test_settings_of_a_projection_inside_a_pipeline_can_be_set():
    pipeline = make_pipeline(StandardScaler(), ObliqueForestClassifier(projection=P.SparseSigns(4)))
    assert pipeline.get_params()["obliqueforestclassifier__projection__density"] == 4
    pipeline.set_params(obliqueforestclassifier__projection__density=2)
    assert pipeline[-1].projection == P.SparseSigns(2)


def test_set_params_of_projection_and_its_setting_applies_the_setting_to_the_new_one():
    forest = ObliqueForestClassifier()
    forest.set_params(projection__n_features=3, projection=P.RandomCombination())
    assert forest.projection == P.RandomCombination(3)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_clone_of_an_estimator_keeps_an_equal_projection(name):
    projection = NAMED[name]()
    copied = clone(ObliqueForestClassifier(projection=projection))
    assert copied.projection == projection
    assert set(projection.get_params()) == {
        parameter.removeprefix("projection__")
        for parameter in copied.get_params()
        if parameter.startswith("projection__")
    }


def test_set_params_of_a_projection_itself_is_refused():
    with pytest.raises(TypeError, match=r"set_params\(projection__density=\.\.\.\) of the estim"):
        P.SparseSigns().set_params(density=2)


@pytest.mark.parametrize(
    ("projection", "message"),
    [
        (P.SparseSigns(), "SparseSigns has no parameter 'dense'. It has density."),
        (P.Axis(), "Axis has no parameter 'dense'. It has none."),
        ([P.Axis(), P.SparseSigns()], "needs a single projection; got \\[Axis"),
    ],
)
def test_an_unknown_setting_of_a_projection_is_refused(projection, message):
    with pytest.raises(ValueError, match=message):
        ObliqueForestClassifier(projection=projection).set_params(projection__dense=2)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("max_features", "max_features=1 is n_projections=1 here"),
        ("ccp_alpha", "max_depth, min_samples_leaf or min_impurity_decrease"),
        ("num_leaves", "num_leaves=1 is max_leaf_nodes=1 here"),
        ("subsample", "subsample=1 is max_samples=1 here"),
        ("n_estimator", "Did you mean n_estimators?"),
        ("nonsense", "It has n_estimators, projection"),
    ],
)
def test_unknown_parameters_are_refused_with_our_name(name, words):
    with pytest.raises(
        TypeError, match=f"ObliqueForestClassifier has no parameter '{name}'. .*{words}"
    ):
        ObliqueForestClassifier(**{name: 1})
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}' for estimator .*{words}"):
        ObliqueForestClassifier().set_params(**{name: 1})


# Parameters of LightGBM, XGBoost and CatBoost: what a forest answers and what boosting answers.
OF_BOOSTING_LIBRARIES = [
    ("n_estimators", 500, None, "n_estimators=500 is max_iter=500 here"),
    ("iterations", 500, "n_estimators=500", "max_iter=500"),
    ("num_boost_round", 500, "n_estimators=500", "max_iter=500"),
    ("num_iterations", 500, "n_estimators=500", "max_iter=500"),
    ("eta", 0.1, "not boosted", "eta=0.1 is learning_rate=0.1 here"),
    ("shrinkage_rate", 0.1, "not boosted", "learning_rate=0.1"),
    ("learning_rate", 0.1, "not boosted", None),
    ("num_leaves", 31, "max_leaf_nodes=31", "max_leaf_nodes=31"),
    ("max_leaves", 0, "max_leaf_nodes=None", "max_leaf_nodes=None"),
    ("depth", 6, "max_depth=6", "max_depth=6"),
    ("reg_lambda", 1.0, "no penalty", "l2_regularization=1.0"),
    ("lambda_l2", 1.0, "no penalty", "l2_regularization=1.0"),
    ("l2_leaf_reg", 3, "no penalty", "l2_regularization=3"),
    ("reg_alpha", 1.0, "no penalty", "no penalty"),
    ("subsample", 0.8, "max_samples=0.8", None),
    ("bagging_fraction", 0.8, "max_samples=0.8", "subsample=0.8"),
    ("bagging_freq", 1, "max_samples is all", "subsample is all"),
    ("colsample_bytree", 0.8, "n_projections=0.8", "n_projections=0.8"),
    ("feature_fraction", 0.8, "n_projections=0.8", "n_projections=0.8"),
    ("rsm", 0.8, "n_projections=0.8", "n_projections=0.8"),
    ("scale_pos_weight", 9, "class_weight={0: 1, 1: 9}", "class_weight={0: 1, 1: 9}"),
    ("is_unbalance", True, 'class_weight="balanced"', 'class_weight="balanced"'),
    ("auto_class_weights", "Balanced", 'class_weight="balanced"', 'class_weight="balanced"'),
    ("class_weights", [1, 2], "class_weight=[1, 2]", "class_weight=[1, 2]"),
    ("min_child_samples", 20, "min_samples_leaf=20", "min_samples_leaf=20"),
    ("min_data_in_leaf", 20, "min_samples_leaf=20", "min_samples_leaf=20"),
    ("min_child_weight", 1, "min_weight_fraction_leaf=1", "min_samples_leaf limits"),
    ("gamma", 0.1, "min_impurity_decrease=0.1", "limit trees by max_leaf_nodes"),
    ("min_split_gain", 0.1, "min_impurity_decrease=0.1", "limit trees by max_leaf_nodes"),
    ("objective", "binary:logistic", "criterion='log_loss'", "loss='log_loss'"),
    ("objective", "binary", "criterion='log_loss'", "loss='log_loss'"),
    ("loss_function", "Logloss", "criterion='log_loss'", "loss='log_loss'"),
    ("objective", "multi:softprob", "criterion='log_loss'", "loss='log_loss'"),
    ("objective", "reg:squarederror", "ForestRegressor here", "loss='squared_error' of bevel.Obl"),
    ("objective", "survival:cox", "ObliqueSurvivalForest", "ObliqueSurvivalForest"),
    ("objective", "rank:ndcg", "ObliqueBoostingRanker", "ObliqueBoostingRanker"),
    ("max_bin", 63, "split_search=63", "max_bins=63"),
    ("border_count", 63, "split_search=63", "max_bins=63"),
    ("early_stopping_rounds", 50, "needs no early stopping", "n_iter_no_change=50"),
    ("od_wait", 50, "needs no early stopping", "n_iter_no_change=50"),
    ("eval_metric", "auc", "no validation rows", "scoring='roc_auc'"),
    ("metric", "AUC", "no validation rows", "scoring='roc_auc'"),
    ("use_best_model", True, "All trees", "up to the lowest loss"),
    ("cat_features", ["a"], "categorical_features=['a']", "categorical_features=['a']"),
    ("enable_categorical", True, "from_dtype", "from_dtype"),
    ("one_hot_max_size", 2, "subsets", "subsets"),
    ("monotone_constraints", [1, 0], "monotonic_cst=[1, 0]", "monotonic_cst=[1, 0]"),
    ("interaction_constraints", [[0]], "interaction_cst=[[0]]", "interaction_cst=[[0]]"),
    ("boosting_type", "gbdt", "boosting is Oblique", "is what is done"),
    ("booster", "gbtree", "boosting is Oblique", "is what is done"),
    ("grow_policy", "lossguide", "growth=", "It is called growth here"),
    ("tree_method", "hist", "split_search=", "histograms"),
    ("device", "cuda", "n_jobs", "n_jobs"),
    ("task_type", "GPU", "n_jobs", "n_jobs"),
    ("random_seed", 1, "random_state=1", "random_state=1"),
    ("seed", 1, "random_state=1", "random_state=1"),
    ("nthread", 4, "n_jobs=4", "n_jobs=4"),
    ("thread_count", 4, "n_jobs=4", "n_jobs=4"),
    ("verbosity", -1, "verbose=0", "verbose=0"),
    ("silent", True, "verbose=0", "verbose=0"),
    ("missing", -999, "NaN or None", "NaN or None"),
    ("base_score", 0.5, "Leave it out", "baseline_prediction_"),
    ("importance_type", "gain", "analysis.importance", "analysis.importance"),
    ("callbacks", [], "one callback", "one callback"),
    ("extra_trees", True, 'threshold="random"', "Leave it out"),
]


@pytest.mark.parametrize(("name", "value", "forest", "boosting"), OF_BOOSTING_LIBRARIES)
def test_parameters_of_boosting_libraries_are_answered_with_ours(name, value, forest, boosting):
    both = (ObliqueForestClassifier, forest), (ObliqueBoostingClassifier, boosting)
    for estimator, answer in both:
        if answer is None:  # a parameter of the same name
            assert estimator(**{name: value}).get_params()[name] == value
            continue
        with pytest.raises(TypeError, match=f"has no parameter '{name}'") as raised:
            estimator(**{name: value})
        assert answer in str(raised.value)
        with pytest.raises(ValueError, match=f"Invalid parameter '{name}'") as raised:
            estimator().set_params(**{name: value})
        assert answer in str(raised.value)


@pytest.mark.parametrize(
    ("value", "loss"),
    [
        ("mse", "squared_error"),
        ("RMSE", "squared_error"),
        ("regression", "squared_error"),
        ("reg:squarederror", "squared_error"),
        ("MAE", "absolute_error"),
        ("regression_l1", "absolute_error"),
        ("Huber", "huber"),
        ("reg:quantileerror", "quantile"),
        ("Quantile:alpha=0.9", "quantile"),
        ("count:poisson", "poisson"),
        ("reg:gamma", "gamma"),
    ],
)
def test_losses_of_boosting_libraries_are_answered_with_ours(value, loss):
    with pytest.raises(TypeError, match=f"loss_function='{value}' is loss='{loss}' here"):
        ObliqueBoostingRegressor(loss_function=value)
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=f"'{value}' elsewhere is loss='{loss}' here"):
        ObliqueBoostingRegressor(loss=value).fit(X, y)


def test_values_of_our_own_parameters_from_elsewhere_are_answered():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="-1 elsewhere is max_depth=None here"):
        ObliqueForestClassifier(max_depth=-1).fit(X, y)
    with pytest.raises(ValueError, match="'mse' elsewhere is criterion='squared_error' here"):
        ObliqueForestRegressor(criterion="mse").fit(X, y)


def test_several_unknown_parameters_are_answered_at_once():
    with pytest.raises(TypeError) as raised:
        ObliqueBoostingRegressor(num_leaves=31, reg_alpha=1)
    assert str(raised.value) == (
        "ObliqueBoostingRegressor has no parameters 'num_leaves', 'reg_alpha'. num_leaves=31 is "
        "max_leaf_nodes=31 here. reg_alpha: There is no penalty of absolute leaf values; "
        "l2_regularization shrinks them."
    )


@pytest.mark.parametrize(
    ("name", "value", "answer"),
    [
        ("verbose", False, "It is a parameter of the estimator: verbose=0, not of fit."),
        ("early_stopping_rounds", 50, "n_iter_no_change=50 here, a parameter of the estimator."),
        ("eval_metric", "auc", "scoring='roc_auc' here, a parameter of the estimator."),
        ("cat_features", [0], "categorical_features=[0] here, a parameter of the estimator."),
        ("sample_weight_eval_set", [[1]], "sample_weight_val"),
        ("xgb_model", None, "warm_start=True"),
        ("nonsense", 1, "See the documentation of fit."),
    ],
)
def test_arguments_of_fit_elsewhere_are_answered_with_ours(name, value, answer):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=f"has no argument '{name}'") as raised:
        ObliqueBoostingClassifier().fit(X, y, **{name: value})
    assert answer in str(raised.value)


def test_class_weight_of_a_regressor_is_refused_with_what_there_is_instead():
    with pytest.raises(TypeError, match="sample_weight"):
        ObliqueForestRegressor(class_weight="balanced")


def test_a_setting_of_a_projection_that_an_estimator_does_not_have_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'projection__density'"):
        RegularizedRotationClassifier().set_params(projection__density=2)


def test_a_subclass_that_passes_parameters_on_may_take_any():
    class Mine(ObliqueForestClassifier):
        def __init__(self, extra=1, **others):
            super().__init__(**others)
            self.extra = extra

    assert Mine(extra=2, n_estimators=3).n_estimators == 3


def test_names_of_ours_are_parameters_of_an_estimator():
    kinds = (ObliqueForestClassifier, ObliqueForestRegressor, ObliqueBoostingRegressor)
    known = {name for kind in kinds for name in inspect.signature(kind).parameters}
    assert {name for names in other_names._SAME for name in names} <= known
    conditions = {
        parameter
        for table in (other_names._INSTEAD, other_names._IN_FIT, other_names._ATTRIBUTES)
        for texts in table.values()
        for parameter in texts
    }
    assert conditions <= {"", "class_weight", *known}
