"""Bevel's forest, boosting and both together as models of AutoGluon, and so of TabArena.

    from autogluon.tabular import TabularPredictor
    from benchmarks.arenas.autogluon_model import BevelBoostingModel, BevelModel

    models = {BevelModel: {}, BevelBoostingModel: {"learning_rate": 0.05}}
    predictor = TabularPredictor(label="class").fit(train, hyperparameters=models, time_limit=600)

AutoGluon passes pandas frames with nominal columns as categories and missing values as they are,
both of which Bevel takes. The number of trees is cut to what `time_limit` allows, and the `quality`
of both together to the highest step that it allows. Validation rows, where AutoGluon has them, stop
boosting; a forest needs none, and both together hold out rows of their own. Parameters are those of
the estimators.

    python -m benchmarks.arenas.autogluon_model table.csv --target label --seconds 60

fits all three to a local file with AutoGluon's own predictor and prints its leaderboard.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any, ClassVar

import pandas as pd
from autogluon.core.constants import REGRESSION
from autogluon.core.models import AbstractModel
from autogluon.core.utils.exceptions import TimeLimitExceeded
from sklearn.base import clone

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueRegressor,
)

# Share of the time for growth; the rest is for reading the table and for the first prediction.
SHARE_TO_GROW = 0.8
# Trees of the first part of a forest, whose time tells how many more there can be.
FIRST_TREES = 20
FIRST_ITERATIONS = 10
FIRST_ROWS = 1000  # of both together, whose time tells which step of quality is affordable
# Time of the steps of `quality` over that of the lowest (docs/guide/combined.md).
COST = {1: 1.0, 2: 1.75, 3: 2.5, 4: 4.25, 5: 8.25}
MAX_ITERATIONS = 1000  # of max_iter="auto" with validation rows
BYTES_PER_NODE = 40  # of a grown tree, without its directions
BYTES_PER_WEIGHT = 8  # of a direction, with the number of its feature
MAX_WEIGHTS = 10  # of most directions: those of many features are few
FIXED_BYTES = 200_000_000  # libraries, and what does not grow with the table


class BevelForestModel(AbstractModel):
    """Bevel's default forest: several families of directions share the trees."""

    ag_key = "BEVEL_FOREST"
    ag_name = "BevelForest"
    ag_priority = 60
    seed_name = "random_state"
    _supported_problem_types: ClassVar[list[str]] = ["binary", "multiclass", "regression"]
    # Nominal columns and missing values stay as they are; text and images are left out.
    _default_auxiliary_params_extra: ClassVar[dict[str, Any]] = {
        "valid_raw_types": ["int", "float", "category", "bool"]
    }
    # Trees at the defaults, and nodes of a tree for each row, in classification and regression: two
    # for each of the rows of a bag in regression, fewer where leaves hold many rows of a class.
    n_trees_default = (500, 300)
    nodes_per_row = (0.65, 1.3)

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
        X = self.preprocess(X, y=y, is_train=True)
        self.model = grow_until(self._estimator(num_cpus), X, y, sample_weight, end)
        self.params_trained["n_estimators"] = self.model.n_estimators

    def _estimator(self, num_cpus: int | str) -> Any:
        kind = self._kinds()[self.problem_type == REGRESSION]
        threads = num_cpus if isinstance(num_cpus, int) else None
        return kind(n_jobs=threads, **self._number_of_trees(), **self._get_model_params())

    def _number_of_trees(self) -> dict[str, int]:
        """A number where none is given, so that the time limit can lower it."""
        if "n_estimators" in self._get_model_params():
            return {}
        return {"n_estimators": self.n_trees_default[self.problem_type == REGRESSION]}

    @classmethod
    def _kinds(cls) -> tuple[type, type]:
        return ObliqueForestClassifier, ObliqueForestRegressor

    def _more_tags(self) -> dict[str, bool]:
        return {"can_refit_full": True}  # with the trees or iterations of `params_trained`

    def _estimate_memory_usage(self, X: pd.DataFrame, **options: Any) -> int:
        return self.estimate_memory_usage_static(
            X=X,
            problem_type=self.problem_type,
            num_classes=self.num_classes or 1,
            hyperparameters=self._get_model_params(),
            **options,
        )

    @classmethod
    def _estimate_memory_usage_static(
        cls,
        *,
        X: pd.DataFrame,
        hyperparameters: dict[str, Any] | None = None,
        problem_type: str | None = None,
        num_classes: int | None = 1,
        **_: Any,
    ) -> int:
        """What a fit takes at most above the frame: encoded columns, trees, class shares."""
        n_rows, n_columns = X.shape
        which = problem_type == REGRESSION
        n_trees = (hyperparameters or {}).get("n_estimators", cls.n_trees_default[which])
        encoded = 3 * 4 * n_rows * n_columns  # float32, sorted and scaled copies
        node = BYTES_PER_NODE + BYTES_PER_WEIGHT * min(MAX_WEIGHTS, n_columns)
        trees = int(n_trees * cls.nodes_per_row[which] * n_rows * node)
        shares = 2 * 8 * n_rows * max(1, num_classes or 1)
        return encoded + trees + shares + FIXED_BYTES

    @classmethod
    def _class_tags(cls) -> dict[str, bool]:
        return {"can_estimate_memory_usage_static": True}


class BevelBoostingModel(BevelForestModel):
    """Bevel's oblique gradient boosting, which stops by the validation rows of the arena."""

    ag_key = "BEVEL_BOOSTING"
    ag_name = "BevelBoosting"
    nodes_per_row = (0.0, 0.0)  # trees of few leaves, which the fixed part covers

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
        X = self.preprocess(X, y=y, is_train=True)
        given = {}
        if X_val is not None:
            given = {"X_val": self.preprocess(X_val), "y_val": y_val}
        if time_limit is not None:
            asked = MAX_ITERATIONS if model.max_iter == "auto" else model.max_iter
            affordable = affordable_iterations(model, X, y, SHARE_TO_GROW * time_limit)
            if affordable < asked:
                model.set_params(max_iter=affordable)
            model.set_params(callback=StopAt(start + time_limit))
        self.model = model.fit(X, y, sample_weight, **given)
        self.model.set_params(callback=None)
        self.params_trained |= {"max_iter": self.model.n_iter_, "early_stopping": False}

    @classmethod
    def _kinds(cls) -> tuple[type, type]:
        return ObliqueBoostingClassifier, ObliqueBoostingRegressor


class BevelModel(BevelForestModel):
    """Bevel's forest and boosting together, weighted by rows that neither has seen."""

    ag_key = "BEVEL"
    ag_name = "Bevel"

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        time_limit: float | None = None,
        num_cpus: int | str = 1,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        end = None if time_limit is None else time.monotonic() + time_limit
        model = self._estimator(num_cpus)
        X = self.preprocess(X, y=y, is_train=True)
        if end is not None:
            model.set_params(callback=StopAt(end))
            model.set_params(quality=affordable_quality(model, X, y, SHARE_TO_GROW * time_limit))
        self.model = model.fit(X, y, sample_weight).set_params(callback=None)
        self.params_trained["quality"] = self.model.quality_

    def _number_of_trees(self) -> dict[str, int]:
        """None: `quality` sets it."""
        return {}

    @classmethod
    def _kinds(cls) -> tuple[type, type]:
        return ObliqueClassifier, ObliqueRegressor


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


def affordable_quality(model: Any, X: Any, y: Any, seconds: float) -> int:
    """The asked step of `quality`, or a lower one, by the time of the lowest on some of the rows.

    The time is taken to be proportional to the number of rows.
    """
    asked = int(model.quality)
    few = min(len(X), FIRST_ROWS)
    start = time.monotonic()
    clone(model).set_params(quality=1).fit(X[:few], y[:few])
    of_lowest = (time.monotonic() - start) * len(X) / few
    allowed = [step for step in range(1, asked + 1) if of_lowest * COST[step] <= seconds]
    return max(allowed, default=1)


class StopAt:
    """A callback that gives the fit up when the time is over, as AutoGluon expects."""

    def __init__(self, end: float) -> None:
        self.end = end

    def __call__(self, *_: Any) -> None:
        if time.monotonic() > self.end:
            raise TimeLimitExceeded


def main() -> None:
    """Fit the models to a local file with AutoGluon's predictor; print its leaderboard."""
    from autogluon.tabular import TabularPredictor

    # By the name that AutoGluon's worker processes import, which `__main__` is not.
    from benchmarks.arenas import autogluon_model as own

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
            hyperparameters={
                own.BevelModel: {},
                own.BevelForestModel: {},
                own.BevelBoostingModel: {},
            },
            time_limit=args.seconds,
            num_bag_folds=args.bags or None,
        )
        with pd.option_context("display.width", 150, "display.max_columns", 20):
            print(predictor.leaderboard(test)[["model", "score_test", "score_val", "fit_time"]])


if __name__ == "__main__":
    main()
