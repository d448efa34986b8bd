"""Bevel's forest and boosting as models of AutoGluon, and so of TabArena.

    from autogluon.tabular import TabularPredictor
    from benchmarks.arenas.autogluon_model import BevelBoostingModel, BevelForestModel

    models = {BevelForestModel: {}, BevelBoostingModel: {"learning_rate": 0.05}}
    predictor = TabularPredictor(label="class").fit(train, hyperparameters=models, time_limit=600)

AutoGluon passes pandas frames with nominal columns as categories and missing values as they are,
both of which Bevel takes. The number of trees is cut to what `time_limit` allows.
Validation rows, where AutoGluon has them, stop boosting; a forest needs none. Parameters are those
of the estimators.

    python -m benchmarks.arenas.autogluon_model table.csv --target label --seconds 60

fits both to a local file with AutoGluon's own predictor and prints its leaderboard.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

import pandas as pd
from autogluon.core.constants import REGRESSION
from autogluon.core.models import AbstractModel
from autogluon.core.utils.exceptions import TimeLimitExceeded
from sklearn.base import clone

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)

# Share of the time for growth; the rest is for reading the table and for the first prediction.
SHARE_TO_GROW = 0.8
# Trees of the first part of a forest, whose time tells how many more there can be.
FIRST_TREES = 20
FIRST_ITERATIONS = 10
MOST_ITERATIONS = 2000  # of boosting at its defaults, which may stop earlier
BYTES_PER_NODE = 40  # of a grown tree, with its directions
FIXED_BYTES = 200_000_000  # libraries, and what does not grow with the table


class BevelForestModel(AbstractModel):
    """Bevel's default forest: several families of directions share the trees."""

    ag_key = "BEVEL_FOREST"
    ag_name = "BevelForest"
    ag_priority = 60
    seed_name = "random_state"
    n_trees_default = 500
    nodes_per_row = 1.3  # of a fully grown tree: up to two nodes for each row of a bag

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        time_limit: float | None = None,
        num_cpus: int | str = 1,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        end = None if time_limit is None else time.monotonic() + SHARE_TO_GROW * time_limit
        X = self.preprocess(X, is_train=True)
        self.model = grow_until(self._estimator(num_cpus), X, y, sample_weight, end)

    def _estimator(self, num_cpus: int | str) -> Any:
        kind = self._kinds()[self.problem_type == REGRESSION]
        threads = num_cpus if isinstance(num_cpus, int) else None
        return kind(n_jobs=threads, **self._get_model_params())

    @classmethod
    def _kinds(cls) -> tuple[type, type]:
        return ObliqueForestClassifier, ObliqueForestRegressor

    @classmethod
    def supported_problem_types(cls) -> list[str]:
        """The tasks of both estimators."""
        return ["binary", "multiclass", "regression"]

    def _get_default_auxiliary_params(self) -> dict[str, Any]:
        # Nominal columns and missing values stay as they are; text and images are left out.
        own = {"valid_raw_types": ["int", "float", "category", "bool"]}
        return super()._get_default_auxiliary_params() | own

    def _estimate_memory_usage(self, X: pd.DataFrame, **options: Any) -> int:
        return self._estimate_memory_usage_static(
            X=X,
            hyperparameters=self._get_model_params(),
            num_classes=self.num_classes or 1,
            **options,
        )

    @classmethod
    def _estimate_memory_usage_static(
        cls,
        *,
        X: pd.DataFrame,
        hyperparameters: dict[str, Any] | None = None,
        num_classes: int | None = 1,
        **_: Any,
    ) -> int:
        """A bound of what a fit takes above the frame: encoded columns, trees, class shares."""
        n_rows, n_columns = X.shape
        n_trees = (hyperparameters or {}).get("n_estimators", cls.n_trees_default)
        encoded = 3 * 4 * n_rows * n_columns  # float32, sorted and scaled copies
        trees = int(n_trees * cls.nodes_per_row * n_rows * BYTES_PER_NODE)
        shares = 2 * 8 * n_rows * max(1, num_classes or 1)
        return encoded + trees + shares + FIXED_BYTES

    @classmethod
    def _class_tags(cls) -> dict[str, bool]:
        return {"can_estimate_memory_usage_static": True}


class BevelBoostingModel(BevelForestModel):
    """Bevel's oblique gradient boosting, which stops by the validation rows of the arena."""

    ag_key = "BEVEL_BOOSTING"
    ag_name = "BevelBoosting"
    nodes_per_row = 0.0  # trees of 31 leaves, which the fixed part covers

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        X_val: pd.DataFrame | None = None,
        y_val: pd.Series | None = None,
        time_limit: float | None = None,
        num_cpus: int | str = 1,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        start = time.monotonic()
        model = self._estimator(num_cpus)
        X = self.preprocess(X, is_train=True)
        given = {}
        if X_val is not None:
            given = {"X_val": self.preprocess(X_val), "y_val": y_val}
        if time_limit is not None:
            affordable = affordable_iterations(model, X, y, SHARE_TO_GROW * time_limit)
            if affordable < MOST_ITERATIONS:
                model.set_params(max_iter=affordable)
            model.set_params(callback=StopAt(start + time_limit))
        self.model = model.fit(X, y, sample_weight, **given)
        self.model.set_params(callback=None)

    @classmethod
    def _kinds(cls) -> tuple[type, type]:
        return ObliqueBoostingClassifier, ObliqueBoostingRegressor


def grow_until(forest: Any, X: Any, y: Any, weight: Any, end: float | None) -> Any:
    """Fit a forest, with as many of its trees as can be grown until then; at least the first ones.

    Growing on from the first trees gives the forest that growing all at once gives.
    """
    wanted = forest.n_estimators
    if end is None:
        return forest.fit(X, y, weight)
    start, n_trees = time.monotonic(), min(FIRST_TREES, wanted)
    forest.set_params(n_estimators=n_trees, warm_start=True).fit(X, y, weight)
    while n_trees < wanted:
        now = time.monotonic()
        affordable = int((end - now) / ((now - start) / n_trees))
        # At most twice as many trees at once: the first ones tell little about the time of all.
        more = min(wanted - n_trees, affordable, 2 * n_trees)
        if more < 1:
            break
        n_trees += more
        forest.set_params(n_estimators=n_trees).fit(X, y, weight)
    return forest.set_params(warm_start=False)


def affordable_iterations(model: Any, X: Any, y: Any, seconds: float) -> int:
    """Iterations of boosting that fit into the time, by the time of the first ones."""
    start = time.monotonic()
    first = clone(model).set_params(max_iter=FIRST_ITERATIONS, early_stopping=False)
    first.fit(X, y)
    taken = time.monotonic() - start
    return max(FIRST_ITERATIONS, int((seconds - taken) / (taken / FIRST_ITERATIONS)))


class StopAt:
    """A callback that gives the fit up when the time is over, as AutoGluon expects."""

    def __init__(self, end: float) -> None:
        self.end = end

    def __call__(self, *_: Any) -> None:
        if time.monotonic() > self.end:
            raise TimeLimitExceeded


def main() -> None:
    """Fit both models to a local file with AutoGluon's predictor; print its leaderboard."""
    from autogluon.tabular import TabularPredictor

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("table", help="a CSV or Parquet file")
    parser.add_argument("--target", default="target")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--bags", type=int, default=0, help="folds of AutoGluon's bagging")
    args = parser.parse_args()
    read = pd.read_parquet if args.table.endswith(".parquet") else pd.read_csv
    rows = read(args.table).sample(frac=1.0, random_state=0)
    train, test = rows[: len(rows) * 3 // 4], rows[len(rows) * 3 // 4 :]
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(label=args.target, path=folder, verbosity=1).fit(
            train,
            hyperparameters={BevelForestModel: {}, BevelBoostingModel: {}},
            time_limit=args.seconds,
            num_bag_folds=args.bags or None,
        )
        with pd.option_context("display.width", 150, "display.max_columns", 20):
            print(predictor.leaderboard(test)[["model", "score_test", "score_val", "fit_time"]])


if __name__ == "__main__":
    main()
