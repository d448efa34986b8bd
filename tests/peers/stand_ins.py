"""Bevel's estimators under the names, parameters and defaults of scikit-learn's.

The projection is "axis", so that trees are of the same kind. Parameters that Bevel names otherwise
are translated; those that it does not have are refused as unknown.
"""

import inspect
from typing import Any

import bevel

FOREST = {
    "n_estimators": 100,
    "criterion": "gini",
    "max_depth": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "max_features": "sqrt",
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "bootstrap": True,
    "oob_score": False,
    "n_jobs": None,
    "random_state": None,
    "verbose": 0,
    "warm_start": False,
    "max_samples": None,
    "monotonic_cst": None,
}
CLASSIFIER = {**FOREST, "class_weight": None}
REGRESSOR = {**FOREST, "criterion": "squared_error", "max_features": 1.0}
BOOSTING = {
    "learning_rate": 0.1,
    "max_iter": 100,
    "max_leaf_nodes": 31,
    "max_depth": None,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "max_features": 1.0,
    "max_bins": 255,
    "categorical_features": "from_dtype",
    "monotonic_cst": None,
    "interaction_cst": None,
    "warm_start": False,
    "early_stopping": "auto",
    "scoring": "loss",
    "validation_fraction": 0.1,
    "n_iter_no_change": 10,
    "tol": 1e-7,
    "verbose": 0,
    "random_state": None,
}
ISOLATION = {
    "n_estimators": 100,
    "max_samples": "auto",
    "contamination": "auto",
    "max_features": 1.0,
    "bootstrap": False,
    "n_jobs": None,
    "random_state": None,
    "verbose": 0,
    "warm_start": False,
}
ALONG_AXES = {"projection": "axis", "scale": None}


def _n_projections(self: Any) -> Any:
    """What `max_features` is in Bevel."""
    return "p" if self.max_features in (None, 1.0) else self.max_features


def _ignore(self: Any, value: Any) -> None:
    """Leave it to `max_features`."""


class Tree:
    """A tree of a forest, with what the tests read of scikit-learn's."""

    def __init__(self, forest: Any, number: int) -> None:
        self._forest, self._number = forest, number
        view = forest.forest_.tree(number)
        self.node_count, self.children_left = view.n_nodes, view.children_left
        self._depth = int(forest.forest_.depth[view.nodes].max())

    @property
    def tree_(self) -> Any:
        """Itself: scikit-learn's trees are in two layers."""
        return self

    def apply(self, X: Any) -> Any:
        """The leaf of each row."""
        return self._forest.apply(X)[:, self._number]

    def get_depth(self) -> int:
        """Splits above the deepest leaf."""
        return self._depth


def _trees(self: Any) -> list[Tree]:
    """The trees, as views."""
    return [Tree(self, number) for number in range(len(self.forest_))]


def _nominal(self: Any) -> Any:
    """Which columns are nominal; None if none is."""
    mask = self.fitted_forest_.encoding.levels > 0
    return mask if mask.any() else None


def _n_trees(self: Any) -> int:
    """What `len(forest)` is in Bevel."""
    return int(self.forest_.n_trees)


def _make(name: str, base: type, defaults: dict[str, Any], fixed: dict[str, Any]) -> type:
    """A subclass of a class of Bevel with other parameters."""
    fixed = {**ALONG_AXES, **fixed}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [inspect.Parameter(each, kind, default=value) for each, value in defaults.items()]
    signature = inspect.Signature([inspect.Parameter("self", kind), *own])

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        base.__init__(self, **fixed)
        for each in defaults:
            setattr(self, each, given.arguments[each])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    members: dict[str, Any] = {"__init__": __init__, "__len__": _n_trees, "__module__": __name__}
    members["estimators_"] = property(_trees)
    if "categorical_features" in defaults:
        members["is_categorical_"] = property(_nominal)
    if "max_features" in defaults and base is not bevel.ObliqueIsolationForest:
        members["n_projections"] = property(_n_projections, _ignore)
    return type(name, (base,), members)


EXTRA = {"threshold": "random"}
WITHOUT_BAGS = {"bootstrap": False}
STAND_INS = {
    "RandomForestClassifier": _make(
        "RandomForestClassifier", bevel.ObliqueForestClassifier, CLASSIFIER, {"calibration": None}
    ),
    "RandomForestRegressor": _make(
        "RandomForestRegressor", bevel.ObliqueForestRegressor, REGRESSOR, {}
    ),
    "ExtraTreesClassifier": _make(
        "ExtraTreesClassifier",
        bevel.ObliqueForestClassifier,
        CLASSIFIER | WITHOUT_BAGS,
        {"calibration": None, **EXTRA},
    ),
    "ExtraTreesRegressor": _make(
        "ExtraTreesRegressor", bevel.ObliqueForestRegressor, REGRESSOR | WITHOUT_BAGS, EXTRA
    ),
    "HistGradientBoostingClassifier": _make(
        "HistGradientBoostingClassifier",
        bevel.ObliqueBoostingClassifier,
        {"loss": "log_loss", **BOOSTING, "class_weight": None},
        {},
    ),
    "HistGradientBoostingRegressor": _make(
        "HistGradientBoostingRegressor",
        bevel.ObliqueBoostingRegressor,
        {"loss": "squared_error", "quantile": None, **BOOSTING},
        {},
    ),
    "IsolationForest": _make("IsolationForest", bevel.ObliqueIsolationForest, ISOLATION, {}),
}
globals().update(STAND_INS)  # where pickles look for them
