"""Bevel and its peers at their defaults, behind one function each."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueRegressor,
)

__all__ = ["BOOSTING", "COMBINED", "ENCODED", "FORESTS", "SYSTEMS", "Predict"]

# A system: (number of classes, training frame, targets) -> function from a frame to predictions.
Predict = Callable[[pd.DataFrame], np.ndarray]


def fit_bevel(
    classifier: Any, regressor: Any, n_classes: int, X: pd.DataFrame, y: np.ndarray
) -> Predict:
    kind = classifier if n_classes else regressor
    return _predict(kind(random_state=0, n_jobs=1).fit(X, y), n_classes)


def fit_boosting(n_classes: int, X: pd.DataFrame, y: np.ndarray, **setting: Any) -> Predict:
    """Boosting of Bevel with some parameters of its regressions."""
    kind = ObliqueBoostingClassifier if n_classes else ObliqueBoostingRegressor
    model = kind(random_state=0, n_jobs=1, **({} if n_classes else setting))
    return _predict(model.fit(X, y), n_classes)


def fit_encoded(
    classifier: Any, regressor: Any, n_classes: int, X: pd.DataFrame, y: np.ndarray
) -> Predict:
    """Bevel on numbers: indicators of at most 20 levels, cross-fitted target means of more."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, TargetEncoder

    nominal = [name for name in X if X[name].dtype == "category"]
    few = [name for name in nominal if X[name].nunique(dropna=False) <= 20]
    many = [name for name in nominal if name not in few]
    numbers = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), few),
        (TargetEncoder(cv=5, random_state=0), many),
        remainder="passthrough",
    )
    kind = classifier if n_classes else regressor
    model = make_pipeline(numbers, kind(random_state=0, n_jobs=1))
    return _predict(model.fit(X, y), n_classes)


def fit_lightgbm(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    import lightgbm

    kind = lightgbm.LGBMClassifier if n_classes else lightgbm.LGBMRegressor
    return _predict(kind(random_state=0, n_jobs=1, verbose=-1).fit(X, y), n_classes)


def fit_xgboost(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    import xgboost

    kind = xgboost.XGBClassifier if n_classes else xgboost.XGBRegressor
    return _predict(kind(random_state=0, n_jobs=1, enable_categorical=True).fit(X, y), n_classes)


def fit_catboost(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    import catboost

    kind = catboost.CatBoostClassifier if n_classes else catboost.CatBoostRegressor
    model = kind(
        random_seed=0,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        cat_features=[name for name in X if X[name].dtype == "category"],
    )
    model.fit(_as_text(X), y)
    predict = _predict(model, n_classes)
    return lambda frame: predict(_as_text(frame))


def fit_hist_gb(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    # Columns of more levels than it takes are read as numbers.
    many = [name for name in X if X[name].dtype == "category" and X[name].nunique() > 255]

    def read(frame: pd.DataFrame) -> pd.DataFrame:
        codes = {name: frame[name].cat.set_categories(X[name].cat.categories) for name in many}
        return frame.assign(**{name: column.cat.codes for name, column in codes.items()})

    predict = _predict(kind(random_state=0).fit(read(X), y), n_classes)
    return lambda frame: predict(read(frame))


def fit_ydf(n_classes: int, X: pd.DataFrame, y: np.ndarray, **setting: Any) -> Predict:
    import ydf

    learner = partial(ydf.GradientBoostedTreesLearner, **setting)
    return _train_ydf(learner, n_classes, X, y)


def fit_sklearn_forest(name: str, n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    """500 trees; indicators for nominal columns, means for missing numbers."""
    from sklearn import ensemble
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    kind = getattr(ensemble, name + ("Classifier" if n_classes else "Regressor"))
    nominal = [name for name in X if X[name].dtype == "category"]
    indicators = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), nominal), remainder=SimpleImputer()
    )
    model = make_pipeline(indicators, kind(500, n_jobs=1, random_state=0))
    return _predict(model.fit(X, y), n_classes)


def fit_ydf_forest(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    """500 trees of p sparse oblique projections; of classes to pure leaves, with mean shares."""
    import ydf

    full = {"winner_take_all": False, "min_examples": 1, "max_depth": -1}
    learner = partial(
        ydf.RandomForestLearner,
        num_trees=500,
        split_axis="SPARSE_OBLIQUE",
        sparse_oblique_num_projections_exponent=1.0,
        sparse_oblique_normalization="MIN_MAX",
        compute_oob_performances=False,
        **(full if n_classes else {}),
    )
    return _train_ydf(learner, n_classes, X, y)


def _train_ydf(learner: Any, n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    import ydf

    ydf.verbose(0)
    task = ydf.Task.CLASSIFICATION if n_classes else ydf.Task.REGRESSION
    kind = ydf.Semantic.CATEGORICAL if n_classes else ydf.Semantic.NUMERICAL
    label = ydf.Column("y", kind, min_vocab_frequency=1) if n_classes else ydf.Column("y", kind)
    names = [ydf.Column(name) for name in X]
    rows = ydf.create_vertical_dataset({**_columns(X), "y": y}, columns=[*names, label])
    model = learner(label="y", task=task, num_threads=1, random_seed=0).train(rows)

    def predict(frame: pd.DataFrame) -> np.ndarray:
        values = np.asarray(model.predict(_columns(frame)), dtype=np.float64)
        if not n_classes:
            return values
        if values.ndim == 1:
            values = np.column_stack([1.0 - values, values])
        return values[:, np.argsort(np.array(model.label_classes()).astype(int))]

    return predict


Fit = Callable[[int, pd.DataFrame, np.ndarray], Predict]
BOOSTING: dict[str, Fit] = {
    "bevel": partial(fit_bevel, ObliqueBoostingClassifier, ObliqueBoostingRegressor),
    "lightgbm": fit_lightgbm,
    "xgboost": fit_xgboost,
    "hist_gb": fit_hist_gb,
    "catboost": fit_catboost,
    "ydf": fit_ydf,
    "ydf_oblique": partial(fit_ydf, split_axis="SPARSE_OBLIQUE"),
}
FORESTS: dict[str, Fit] = {
    "bevel_forest": partial(fit_bevel, ObliqueForestClassifier, ObliqueForestRegressor),
    "random_forest": partial(fit_sklearn_forest, "RandomForest"),
    "extra_trees": partial(fit_sklearn_forest, "ExtraTrees"),
    "ydf_forest": fit_ydf_forest,
}
COMBINED: dict[str, Fit] = {
    "bevel_combined": partial(fit_bevel, ObliqueClassifier, ObliqueRegressor),
}
# Leaves of one value, and linear models in leaves, of regressions; "bevel" chooses.
LEAVES: dict[str, Fit] = {
    "bevel_plain_leaves": partial(fit_boosting, linear_leaves=False),
    "bevel_linear_leaves": partial(fit_boosting, linear_leaves=True),
}
# Nominal columns encoded as numbers before the fit, for comparison.
ENCODED: dict[str, Fit] = {
    "bevel_encoded": partial(fit_encoded, ObliqueBoostingClassifier, ObliqueBoostingRegressor),
    "bevel_forest_encoded": partial(fit_encoded, ObliqueForestClassifier, ObliqueForestRegressor),
}
SYSTEMS = BOOSTING | FORESTS | COMBINED | LEAVES | ENCODED


def _as_text(X: pd.DataFrame) -> pd.DataFrame:
    """CatBoost wants text in nominal columns, also for what is missing."""
    nominal = [name for name in X if X[name].dtype == "category"]
    return X.assign(**{name: X[name].astype(object).fillna("missing") for name in nominal})


def _columns(X: pd.DataFrame) -> dict[str, np.ndarray]:
    """What ydf reads: numbers, and text for nominal columns."""
    return {
        name: X[name].astype(object).fillna("").to_numpy(str)
        if X[name].dtype == "category"
        else X[name].to_numpy(np.float32)
        for name in X
    }


def _predict(model: Any, n_classes: int) -> Predict:
    if n_classes:
        return lambda X: np.asarray(model.predict_proba(X))
    return lambda X: np.asarray(model.predict(X)).ravel()
