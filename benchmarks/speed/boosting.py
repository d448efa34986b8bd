"""Gradient boosting: Bevel and its peers at 31 leaves of 20 rows, rate 0.1, no early stopping.

All have about 255 bins for each column and no penalty, except CatBoost, whose trees need a little.
Trees grow leaf by leaf, in XGBoost and CatBoost with `grow_policy="lossguide"`. In modes that begin
with "boost-symmetric" they are symmetric trees of depth 6, in Bevel and in CatBoost.
"""

from abc import abstractmethod
from typing import Any

import numpy as np

from benchmarks.machine import version
from benchmarks.speed.rows import Work
from benchmarks.speed.systems import (
    Described,
    Estimator,
    Ydf,
    flat_sizes,
    score,
    warm_rows,
)
from benchmarks.tasks import Data

__all__ = ["make_booster"]

LEAVES, ROWS_IN_LEAF, RATE = 31, 20, 0.1
SYMMETRIC_DEPTH = 6


def is_symmetric(work: Work) -> bool:
    """Whether trees have one split for each level."""
    return work.mode.startswith("boost-symmetric")


class Booster(Estimator):
    """A library with scikit-learn's manners; fits of two iterations warm it up."""

    def __init__(self, data: Data, work: Work) -> None:
        self.data = data
        self.work = work
        self.model: Any = None
        X, y = warm_rows(data)
        self.make(2).fit(X, np.unique(y, return_inverse=True)[1] if not data.is_regression else y)

    @abstractmethod
    def make(self, n_iter: int | None = None) -> Any: ...

    def describe(self) -> Described:
        predicted = np.asarray(self.model.predict(self.data.X_test)).ravel()
        return Described(self.nodes(), float("nan"), score(self.data, predicted))

    def nodes(self) -> float:
        """Nodes per tree, where the library counts them."""
        return float("nan")


class BevelBoosting(Booster):
    """Bevel itself; "…-sparse" draws p combinations of three features for each iteration."""

    def __init__(self, data: Data, work: Work) -> None:
        import bevel

        self.bevel = bevel
        self.version = version("bevel")
        super().__init__(data, work)

    def make(self, n_iter: int | None = None) -> Any:
        work, kinds = self.work, self.bevel.projections
        axes, signs = (kinds.Axis(), "p"), (kinds.SparseSigns(work.density), work.d)
        kind = (
            self.bevel.ObliqueBoostingRegressor
            if self.data.is_regression
            else self.bevel.ObliqueBoostingClassifier
        )
        shape = (
            {"growth": "symmetric", "max_depth": SYMMETRIC_DEPTH}
            if is_symmetric(work)
            else {"max_leaf_nodes": LEAVES}
        )
        return kind(
            projection=[axes if work.mode.endswith("axis") else signs],
            max_iter=n_iter or work.n_trees,
            learning_rate=RATE,
            **shape,
            min_samples_leaf=ROWS_IN_LEAF,
            l2_regularization=0.0,
            early_stopping=False,
            scale=work.scale,
            n_jobs=work.n_threads,
            random_state=work.seed,
        )

    def nodes(self) -> float:
        return flat_sizes(self.model.forest_)[0]


class LightGBM(Booster):
    """LightGBM."""

    def __init__(self, data: Data, work: Work) -> None:
        import lightgbm

        self.lightgbm, self.version = lightgbm, lightgbm.__version__
        super().__init__(data, work)

    def make(self, n_iter: int | None = None) -> Any:
        of_numbers = self.data.is_regression
        kind = self.lightgbm.LGBMRegressor if of_numbers else self.lightgbm.LGBMClassifier
        return kind(
            n_estimators=n_iter or self.work.n_trees,
            learning_rate=RATE,
            num_leaves=LEAVES,
            min_child_samples=ROWS_IN_LEAF,
            n_jobs=self.work.n_threads,
            random_state=self.work.seed,
            verbose=-1,
        )


class XGBoostHist(Booster):
    """XGBoost with `tree_method="hist"`."""

    def __init__(self, data: Data, work: Work) -> None:
        import xgboost

        self.xgboost, self.version = xgboost, xgboost.__version__
        super().__init__(data, work)

    def make(self, n_iter: int | None = None) -> Any:
        of_numbers = self.data.is_regression
        kind = self.xgboost.XGBRegressor if of_numbers else self.xgboost.XGBClassifier
        return kind(
            n_estimators=n_iter or self.work.n_trees,
            learning_rate=RATE,
            tree_method="hist",
            grow_policy="lossguide",
            max_leaves=LEAVES,
            max_depth=0,
            max_bin=255,
            reg_lambda=0.0,
            n_jobs=self.work.n_threads,
            random_state=self.work.seed,
        )


class CatBoost(Booster):
    """CatBoost, with trees of free shape unless they are to be symmetric."""

    def __init__(self, data: Data, work: Work) -> None:
        import catboost

        self.catboost, self.version = catboost, catboost.__version__
        super().__init__(data, work)

    def make(self, n_iter: int | None = None) -> Any:
        of_numbers = self.data.is_regression
        kind = self.catboost.CatBoostRegressor if of_numbers else self.catboost.CatBoostClassifier
        shape = (
            {"depth": SYMMETRIC_DEPTH}
            if is_symmetric(self.work)
            else {
                "grow_policy": "Lossguide",
                "max_leaves": LEAVES,
                "min_data_in_leaf": ROWS_IN_LEAF,
            }
        )
        return kind(
            iterations=n_iter or self.work.n_trees,
            learning_rate=RATE,
            **shape,
            bootstrap_type="No",
            border_count=254,
            thread_count=self.work.n_threads,
            random_seed=self.work.seed,
            allow_writing_files=False,
            verbose=False,
        )


class YdfBoosting(Ydf):
    """ydf's boosting, with d sparse projections at each node; its data set is made beforehand."""

    def learner(self, n_trees: int) -> Any:
        work = self.work
        task = self.ydf.Task.REGRESSION if self.data.is_regression else self.ydf.Task.CLASSIFICATION
        return self.ydf.GradientBoostedTreesLearner(
            label="y",
            task=task,
            num_trees=n_trees,
            shrinkage=RATE,
            growing_strategy="BEST_FIRST_GLOBAL",
            max_num_nodes=LEAVES,
            max_depth=-1,
            min_examples=ROWS_IN_LEAF,
            validation_ratio=0.0,
            early_stopping="NONE",
            num_threads=work.n_threads,
            random_seed=work.seed,
            split_axis="SPARSE_OBLIQUE",
            sparse_oblique_num_projections_exponent=1.0,
            sparse_oblique_max_num_projections=work.d,
            sparse_oblique_projection_density_factor=float(work.density),
            sparse_oblique_weights="BINARY",
            sparse_oblique_normalization="NONE",
        )

    def check(self) -> None:
        """Both tasks, sparse only."""
        if self.work.mode != "boost-sparse":
            raise ValueError("ydf is compared in sparse boosting only.")

    def dataset(self, X: np.ndarray, y: np.ndarray) -> Any:
        if not self.data.is_regression:
            return super().dataset(X, y)
        return self.ydf.create_vertical_dataset({"x": X, "y": y})

    def describe(self) -> Described:
        values = self.model.predict({"x": self.data.X_test})
        if not self.data.is_regression:
            classes = np.array(self.model.label_classes()).astype(np.int64)
            values = classes[(values > 0.5).astype(int) if values.ndim == 1 else values.argmax(1)]
        return Described(float("nan"), float("nan"), score(self.data, values))


SYSTEMS = {
    "bevel": BevelBoosting,
    "lightgbm": LightGBM,
    "xgboost": XGBoostHist,
    "catboost": CatBoost,
    "ydf": YdfBoosting,
}


def make_booster(name: str, data: Data, work: Work) -> Booster | YdfBoosting:
    """A system by name, warmed up."""
    return SYSTEMS[name](data, work)
