"""The systems that are compared: each turns a fold into predicted labels.

Forests grow to pure leaves, on a bootstrap, with soft votes. Names starting with "bevel" are
measured again for each build of Bevel, the others once for each version of the peer.
"""

import logging
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import version
from benchmarks.quality.data import Fold

__all__ = ["COMPARISONS", "SCALES", "SYSTEMS", "build_of", "predict"]

SCALES = ("none", "minmax", "minmax_clip", "quantile", "standard", "rank", "relative_rank")
Predict = Callable[[Fold, int, int], np.ndarray]  # fold, trees, threads


def bevel(fold: Fold, n_trees: int, n_threads: int, **parameters: Any) -> np.ndarray:
    """Bevel on the frame as it is: NaN in place, nominal columns by their dtype."""
    from bevel import ObliqueForestClassifier

    model = ObliqueForestClassifier(
        n_estimators=n_trees, n_jobs=n_threads, random_state=fold.seed, **parameters
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that a fold leaves constant, and the like
        return model.fit(fold.X_train, fold.y_train).predict(fold.X_test)


def bevel_ridge(fold: Fold, n_trees: int, n_threads: int, beside: tuple[str, ...]) -> np.ndarray:
    """Ridge tuned by generalised cross-validation, alone or in a list after others.

    Others are given by name: on tables of one or two numeric columns a name adapts its density.
    """
    from bevel import projections

    members = [*beside, projections.Ridge(tune="gcv")]
    return bevel(fold, n_trees, n_threads, projection=members)


def bevel_one_hot(fold: Fold, n_trees: int, n_threads: int, **parameters: Any) -> np.ndarray:
    """Bevel on indicator columns; a missing value is a level of its own, as in the native way."""
    return bevel(one_hot(fold), n_trees, n_threads, **parameters)


def sklearn_forest(fold: Fold, n_trees: int, n_threads: int) -> np.ndarray:
    """scikit-learn's random forest, d = √p, NaN in place."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(n_trees, n_jobs=n_threads, random_state=fold.seed)
    return model.fit(fold.X_train, fold.y_train).predict(fold.X_test)


def sklearn_one_hot(fold: Fold, n_trees: int, n_threads: int) -> np.ndarray:
    """The same on indicator columns."""
    return sklearn_forest(one_hot(fold), n_trees, n_threads)


def ydf_sparse(fold: Fold, n_trees: int, n_threads: int, normalization: str) -> np.ndarray:
    """ydf's sparse oblique forest, p projections at each node, 3 features in each on average."""
    import ydf

    ydf.verbose(0)
    logging.getLogger("absl").setLevel(logging.ERROR)
    n_features = fold.X_train.shape[1]
    names = [f"x{i}" for i in range(n_features)]

    def columns(X: pd.DataFrame) -> dict[str, np.ndarray]:
        return dict(zip(names, X.to_numpy(np.float32).T.copy(), strict=True))

    features = [ydf.Column(name, ydf.Semantic.NUMERICAL) for name in names]
    label = ydf.Column("y", ydf.Semantic.CATEGORICAL, min_vocab_frequency=1)
    train = ydf.create_vertical_dataset(
        {**columns(fold.X_train), "y": fold.y_train}, columns=[*features, label]
    )
    learner = ydf.RandomForestLearner(
        label="y",
        num_trees=n_trees,
        num_threads=n_threads,
        random_seed=fold.seed,
        max_depth=-1,
        min_examples=1,
        compute_oob_performances=False,
        winner_take_all=False,
        split_axis="SPARSE_OBLIQUE",
        sparse_oblique_num_projections_exponent=1.0,
        sparse_oblique_max_num_projections=n_features,
        sparse_oblique_projection_density_factor=3.0,
        sparse_oblique_weights="BINARY",
        sparse_oblique_normalization=normalization,
    )
    model = learner.train(train)
    share = model.predict(columns(fold.X_test))
    classes = np.array(model.label_classes()).astype(np.int64)
    return classes[(share > 0.5).astype(int) if share.ndim == 1 else share.argmax(axis=1)]


def one_hot(fold: Fold) -> Fold:
    """Nominal columns as 0/1 columns, one per level seen in training (missing is a level)."""
    train, test = {}, {}
    for name in fold.X_train.columns:
        ours, theirs = fold.X_train[name], fold.X_test[name]
        if not isinstance(ours.dtype, pd.CategoricalDtype):
            train[name], test[name] = ours, theirs
            continue
        for level in np.unique(ours.cat.codes):  # -1: missing
            train[f"{name}={level}"] = (ours.cat.codes == level).astype(np.float32)
            test[f"{name}={level}"] = (theirs.cat.codes == level).astype(np.float32)
    return Fold(pd.DataFrame(train), fold.y_train, pd.DataFrame(test), fold.y_test, fold.seed)


SYSTEMS: dict[str, Predict] = {
    "bevel-axis": partial(bevel, projection="axis"),
    "bevel-sparse": partial(bevel, projection="sparse", n_projections="p"),
    **{
        f"bevel-scale-{scale}": partial(
            bevel,
            projection="sparse",
            n_projections="p",
            scale=None if scale == "none" else scale,
        )
        for scale in SCALES
    },
    "bevel-ridge-gcv": partial(bevel_ridge, beside=()),
    "bevel-list": partial(bevel_ridge, beside=("axis", "sparse")),
    "bevel-axis-onehot": partial(bevel_one_hot, projection="axis"),
    "bevel-sparse-onehot": partial(bevel_one_hot, projection="sparse", n_projections="p"),
    "sklearn": sklearn_forest,
    "sklearn-onehot": sklearn_one_hot,
    "ydf-sparse": partial(ydf_sparse, normalization="NONE"),
    "ydf-sparse-minmax": partial(ydf_sparse, normalization="MIN_MAX"),
}

# Which systems a comparison needs, and on which data sets: numeric ones, those with categories
# ("nominal"), or "all".
COMPARISONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "axis-sklearn": ("numeric", ("bevel-axis", "sklearn")),
    "sparse-ydf": (
        "numeric",
        ("bevel-sparse", "bevel-scale-none", "ydf-sparse", "ydf-sparse-minmax"),
    ),
    "scale": ("numeric", tuple(f"bevel-scale-{scale}" for scale in SCALES)),
    "categories": (
        "nominal",
        (
            *("bevel-sparse", "bevel-sparse-onehot", "bevel-axis", "bevel-axis-onehot"),
            "sklearn-onehot",
        ),
    ),
    "lists": ("all", ("bevel-list", "bevel-axis", "bevel-sparse", "bevel-ridge-gcv")),
}


def build_of(system: str, label: str) -> str:
    """What a stored result depends on: Bevel's build or the peer's version."""
    if system.startswith("bevel"):
        return label
    return version({"sklearn": "scikit-learn", "ydf": "ydf"}[system.partition("-")[0]])


def predict(system: str, fold: Fold, n_trees: int, n_threads: int) -> np.ndarray:
    """Predicted labels of the fold's test rows."""
    return SYSTEMS[system](fold, n_trees, n_threads)
