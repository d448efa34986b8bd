"""Systems of other libraries; each needs its package, in this interpreter or in another one."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from bevel.extras import import_optional
from bevel_lab.systems.base import PEER, Estimator, Grid, System, Task

__all__ = ["EXTRA", "systems"]

EXTRA = "bevel-lab[peers]"


def systems() -> list[System]:
    """All of them."""
    return [*_boosting_systems(), *_ydf_boosting_systems(), *_forest_systems()]


def _boosting_systems() -> list[System]:
    return [
        System(
            "xgboost",
            "XGBoost",
            PEER,
            "XGBClassifier / XGBRegressor at its defaults; tuned: SPORF appendix B.",
            partial(_boosting, "xgboost", "XGB", {}),
            needs="xgboost",
            tuning=Grid(_xgboost_grid, by="cv"),
            missing=True,
        ),
        System(
            "lightgbm",
            "LightGBM",
            PEER,
            "LGBMClassifier / LGBMRegressor at its defaults.",
            partial(_boosting, "lightgbm", "LGBM", {"verbose": -1}),
            needs="lightgbm",
            missing=True,
        ),
        System(
            "catboost",
            "CatBoost",
            PEER,
            "CatBoostClassifier / CatBoostRegressor at its defaults.",
            _catboost,
            needs="catboost",
            missing=True,
        ),
    ]


def _ydf_boosting_systems() -> list[System]:
    return [
        System(
            "ydf-boosting",
            "ydf boosting",
            PEER,
            "ydf.GradientBoostedTreesLearner at its defaults.",
            partial(_ydf_boosting, False),
            needs="ydf",
            missing=True,
        ),
        System(
            "ydf-oblique-boosting",
            "ydf oblique boosting",
            PEER,
            "ydf.GradientBoostedTreesLearner with sparse oblique splits, else at its defaults.",
            partial(_ydf_boosting, True),
            needs="ydf",
            missing=True,
        ),
    ]


def _forest_systems() -> list[System]:
    return [
        System(
            "ydf-rf",
            "ydf RF",
            PEER,
            "ydf.RandomForestLearner with axis splits, 500 trees to pure leaves.",
            partial(_ydf, False),
            needs="ydf",
            has_trees=True,
            missing=True,
        ),
        System(
            "ydf-oblique",
            "ydf oblique",
            PEER,
            "ydf.RandomForestLearner with sparse oblique splits, p projections of 3 features on "
            "average at each node, 500 trees to pure leaves.",
            partial(_ydf, True),
            needs="ydf",
            has_trees=True,
            missing=True,
        ),
        System(
            "rotation-forest-aeon",
            "Rotation Forest (aeon)",
            PEER,
            "aeon's RotationForestClassifier / Regressor, 200 trees, its default.",
            _rotation_forest_aeon,
            needs="aeon",
            has_trees=True,
        ),
        System(
            "rotation-forest-sktime",
            "Rotation Forest (sktime)",
            PEER,
            "sktime's RotationForest, 200 trees, its default.",
            _rotation_forest_sktime,
            needs="sktime",
            has_trees=True,
            tasks=("classification",),
        ),
        System(
            "treeple-oblique",
            "treeple oblique",
            PEER,
            "treeple's ObliqueRandomForestClassifier / Regressor, d = p, 3 features on average, "
            "500 trees.",
            _treeple,
            needs="treeple",
            has_trees=True,
        ),
    ]


def _imported(package: str, name: str) -> Callable[..., Any]:
    """A class of an optional package, by its full name."""
    import_optional(package.split(".")[0], needed_by="This system", install=EXTRA)
    maker: Callable[..., Any] = getattr(
        import_optional(package, needed_by="This system", install=EXTRA), name
    )
    return maker


def _kind(task: Task) -> str:
    return "Regressor" if task.is_regression else "Classifier"


def _boosting(
    package: str, prefix: str, own: dict[str, Any], task: Task, **setting: Any
) -> Estimator:
    make = _imported(package, prefix + _kind(task))
    fixed = {"random_state": task.random_state, "n_jobs": task.n_jobs}
    model: Estimator = make(**{**own, **fixed, **setting})
    return model


def _xgboost_grid(task: Task) -> list[dict[str, Any]]:  # noqa: ARG001
    """SPORF appendix B; depth 100000 is no limit, which XGBoost writes 0."""
    values = product((100, 1000), (0.5, 0.75, 1.0), (0.001, 0.01), (0.4, 0.6, 0.8, 1.0))
    return [
        {
            "n_estimators": rounds,
            "subsample": subsample,
            "learning_rate": eta,
            "colsample_bytree": columns,
            "max_depth": depth,
            "min_child_weight": 1,
            "gamma": 0,
        }
        for rounds, subsample, eta, columns in values
        for depth in (4, 6, 8, 10, 0)
    ]


def _catboost(task: Task, **setting: Any) -> Estimator:
    make = _imported("catboost", "CatBoost" + _kind(task))
    model: Estimator = make(
        random_seed=task.random_state,
        thread_count=task.n_jobs,
        verbose=False,
        allow_writing_files=False,
        **setting,
    )
    return model


def _ydf(oblique: bool, task: Task, *, n_trees: int = 500, **setting: Any) -> Estimator:
    from bevel_lab.systems.yggdrasil import YggdrasilForest

    _imported("ydf", "RandomForestLearner")
    return YggdrasilForest(task, n_trees, oblique, setting)


def _ydf_boosting(oblique: bool, task: Task, **setting: Any) -> Estimator:
    from bevel_lab.systems.yggdrasil import YggdrasilBoosting

    _imported("ydf", "GradientBoostedTreesLearner")
    return YggdrasilBoosting(task, oblique, setting)


def _rotation_forest_aeon(task: Task, **setting: Any) -> Estimator:
    module = "regression" if task.is_regression else "classification"
    return _rotation_forest(
        f"aeon.{module}.sklearn", "RotationForest" + _kind(task), task, **setting
    )


def _rotation_forest_sktime(task: Task, **setting: Any) -> Estimator:
    return _rotation_forest("sktime.classification.sklearn", "RotationForest", task, **setting)


def _rotation_forest(
    module: str,
    name: str,
    task: Task,
    *,
    n_trees: int = 200,
    python: str | None = None,
    **setting: Any,
) -> Estimator:
    fixed = {"random_state": task.random_state, "n_jobs": task.n_jobs, "n_estimators": n_trees}
    return _local_or_remote(module, name, {**fixed, **setting}, python)


def _treeple(
    task: Task, *, n_trees: int = 500, python: str | None = None, **setting: Any
) -> Estimator:
    parameters = {
        "n_estimators": n_trees,
        "max_features": task.p,
        "feature_combinations": min(3, task.p),
        "bootstrap": True,
        "random_state": task.random_state,
        "n_jobs": task.n_jobs,
        **setting,
    }
    return _local_or_remote("treeple", "ObliqueRandomForest" + _kind(task), parameters, python)


def _local_or_remote(
    module: str, name: str, parameters: dict[str, Any], python: str | None
) -> Estimator:
    """An estimator in this interpreter, or in the one given."""
    if python is not None:
        from bevel_lab.systems.remote import RemoteEstimator

        return RemoteEstimator(python, module, name, parameters)
    model: Estimator = _imported(module, name)(**parameters)
    return model
