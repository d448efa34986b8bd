"""A fitted forest under analysis: its trees, names, and training rows given again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel._types import Target
from bevel.errors import NoOutOfBagError, wrong_type
from bevel.estimators._base import ObliqueForest
from bevel.estimators._reading import encode_rows
from bevel.estimators.gradient_boosting.base import ObliqueBoosting
from bevel.estimators.outliers.isolation import ObliqueIsolationForest
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest
from bevel.forest.kept_targets import KeptTargets
from bevel.forest.leaf_rows import LeafRows
from bevel.forest.predictor import PackedPredictor
from bevel.forest.training_rows import (
    TrainingRows,
    Weighting,
    bags_that_leave_rows_out,
    known_bags,
    leaf_rows_of,
    out_of_bag_rows,
    reread_target,
    training_rows_of,
)
from bevel.training.threads import count_threads

__all__ = ["AnalysedForest", "read_forest"]


@dataclass(frozen=True, eq=False)
class AnalysedForest:
    """A fitted forest under analysis.

    Attributes
    ----------
    estimator : ObliqueForest, ObliqueBoosting or ObliqueIsolationForest
        The fitted estimator.
    fitted : FittedForest
        Forest of the estimator, in memory.
    n_threads : int
        Threads to use.
    caller : str
        Name of the calling function, for messages.
    """

    estimator: ObliqueForest | ObliqueBoosting | ObliqueIsolationForest
    fitted: FittedForest
    n_threads: int
    caller: str

    @property
    def predictor(self) -> PackedPredictor:
        """Predictions of the forest."""
        return self.fitted.packed_predictor

    @property
    def forest(self) -> FlatForest:
        """The trees."""
        return self.fitted.forest

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; x0, x1, ... if the fit saw none."""
        return self.fitted.names

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Labels of the classes; None in regression."""
        return self.fitted.classes

    @property
    def output_name(self) -> str:
        """Name of the prediction, in the middle of a sentence."""
        return "prediction" if self.fitted.survival is None else "risk"

    @property
    def hard(self) -> bool:
        """Whether trees vote."""
        return self.fitted.hard

    def encode(self, X: Any) -> npt.NDArray[np.float32]:
        """Rows as the trees read them: scaled, with level codes in nominal columns."""
        return encode_rows(self.estimator, X)

    def target(self, y: Any, n_rows: int) -> Target:
        """Positions in `classes`, or numbers; the classes must be those of the fit."""
        return reread_target(self.fitted, y, n_rows)

    def training_rows(self, X: Any, y: Any) -> TrainingRows:
        """The rows of the fit with their bags; raises if they are other rows."""
        known_bags(self.fitted, self.caller)  # raises before rows are read
        return training_rows_of(self.fitted, self.encode(X), y, self.caller)

    def leaf_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[LeafRows, TrainingRows, Weighting]:
        """The rows of the fit in their leaves; raises if they contradict the leaf predictions."""
        known_bags(self.fitted, self.caller)
        rows = self.encode(X)
        return leaf_rows_of(self.fitted, rows, y, sample_weight, self.caller, self.n_threads)

    def kept_targets(self) -> KeptTargets | None:
        """Training targets of the leaves of a regressor, if they were kept."""
        return self.fitted.kept_targets

    def honest_bags(self) -> Bags:
        """How the bags were drawn; raises unless each tree has rows it has not seen."""
        return bags_that_leave_rows_out(self.fitted, self.caller)

    def out_of_bag_rows(self, X: Any, y: Any) -> TrainingRows:
        """The rows of the fit with their bags; raises unless each tree has rows it has not seen."""
        self.honest_bags()
        rows = out_of_bag_rows(self.fitted, self.encode(X), y, self.caller)
        self.check_some_row_is_out(rows)
        return rows

    def recognised_rows(self, encoded: npt.NDArray[np.float32], y: Any) -> TrainingRows | None:
        """The rows of the fit; None for other rows, and if bags are not known."""
        try:
            return training_rows_of(self.fitted, encoded, y, self.caller)
        except ValueError:  # other rows, or bags that cannot be drawn again
            return None

    def leaves_rows_out(self) -> bool:
        """Whether each tree has rows it has not seen."""
        try:
            self.honest_bags()
        except NoOutOfBagError:
            return False
        return True

    def check_some_row_is_out(self, rows: TrainingRows) -> None:
        """Raise if every row happens to be in every bag."""
        if not rows.out.any():
            raise NoOutOfBagError(
                f"{self.caller} needs a row that is out of a bag; got a forest of "
                f"{self.forest.n_trees} trees with every row in every bag. Grow more trees."
            )


def read_forest(
    estimator: object,
    caller: str,
    *,
    trees_only: bool = False,
    leaves_only: bool = False,
    several_outputs: bool = False,
) -> AnalysedForest:
    """Read a fitted forest for the function `caller`; raises if it is not one.

    Parameters
    ----------
    estimator : object
        A fitted estimator, or an `AnalysedForest`.
    caller : str
        Name of the function, for messages.
    trees_only : bool, default=False
        Whether the function only reads single trees and their splits, so that boosted trees are
        allowed; others need trees that each predict the target.
    leaves_only : bool, default=False
        Whether the function only reads the leaves of rows, so that an isolation forest is
        allowed.
    several_outputs : bool, default=False
        Whether the function reads no predictions, so that several outputs are allowed.
    """
    if isinstance(estimator, AnalysedForest):
        return estimator
    if isinstance(estimator, ObliqueBoosting) and not trees_only:
        raise TypeError(
            f"{caller} needs a forest whose trees are averaged or vote, each grown on a bag; got "
            f"{type(estimator).__name__}, whose trees add up. Use an ObliqueForest, or "
            "importance, shapley_values, partial_dependence or tree_rules."
        )
    if isinstance(estimator, ObliqueIsolationForest) and not leaves_only:
        raise TypeError(
            f"{caller} needs a forest that was fitted to a target; got ObliqueIsolationForest, "
            "whose splits are random. Use score_samples, proximity, principal_coordinates or "
            "nearest_rows, or fit an ObliqueForestClassifier to its predict(X)."
        )
    if not isinstance(estimator, ObliqueForest | ObliqueBoosting | ObliqueIsolationForest):
        remedy = "Pass an ObliqueForestClassifier or ObliqueForestRegressor, or a preset."
        raise wrong_type(f"The forest of {caller}", "a fitted forest of Bevel", estimator, remedy)
    check_is_fitted(estimator)
    if not several_outputs:
        estimator.fitted_forest_.check_one_output(caller)
    estimator.verify()  # analysis walks the forest without the checks of a mapped file
    return AnalysedForest(
        estimator, estimator.fitted_forest_, count_threads(estimator.n_jobs), caller
    )
