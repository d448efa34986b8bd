"""A fitted forest as analysis sees it: trees, names, and the rows of its fit given once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel.errors import NoOutOfBagError, wrong_type
from bevel.estimators._base import ObliqueForest
from bevel.estimators._recall import Weighting
from bevel.forest.flat_forest import FlatForest
from bevel.forest.kept_targets import KeptTargets
from bevel.forest.leaf_rows import LeafRows
from bevel.forest.predictor import PackedPredictor
from bevel.forest.training_rows import Bags, Target, TrainingRows, check_leaves_rows_out
from bevel.training.threads import count_threads

__all__ = ["Subject", "read_subject"]


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted forest, read.

    Attributes
    ----------
    estimator : ObliqueForest
        The fitted estimator.
    predictor : PackedPredictor
        Answers of the forest, and its trees as `predictor.forest`.
    names : tuple of str
        Of the features; x0, x1, ... if the fit saw none.
    classes : ndarray or None
        Labels of the classes; None in regression.
    hard : bool
        Whether trees vote.
    n_threads : int
        Threads to use.
    asked : str
        What is asked of the forest, for messages.
    """

    estimator: ObliqueForest
    predictor: PackedPredictor
    names: tuple[str, ...]
    classes: npt.NDArray[Any] | None
    hard: bool
    n_threads: int
    asked: str

    @property
    def forest(self) -> FlatForest:
        """The trees."""
        return self.predictor.forest

    def encode(self, X: Any) -> npt.NDArray[np.float32]:
        """Rows as trees read them: scaled, with level codes in nominal columns."""
        return self.estimator._encode(X)

    def target(self, y: Any, n_rows: int) -> Target:
        """Positions in `classes`, or numbers; the classes must be those of the fit."""
        return self.estimator._reread_target(y, n_rows)

    def training_rows(self, X: Any, y: Any) -> TrainingRows:
        """The rows of the fit with their bags; raises if they are other rows."""
        return self.estimator._training_rows(self.asked, X, y)

    def leaf_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[LeafRows, TrainingRows, Weighting]:
        """The rows of the fit in their leaves; raises if they do not give what leaves predict."""
        return self.estimator._leaf_rows(self.asked, X, y, sample_weight, self.n_threads)

    def kept_targets(self) -> KeptTargets | None:
        """Training targets of the leaves, if they were kept; of a regressor."""
        return self.estimator._kept_targets()

    def honest_bags(self) -> Bags:
        """How the bags were drawn; raises unless they leave rows out that trees know nothing of."""
        self.estimator._check_out_of_bag_is_honest(self.asked)
        bags = self.estimator._known_bags(self.asked)
        check_leaves_rows_out(bags)
        return bags

    def out_of_bag_rows(self, X: Any, y: Any) -> TrainingRows:
        """The same of a forest whose bags leave rows out that no tree has learnt from."""
        rows = self.estimator._out_of_bag_rows(self.asked, X, y)
        self.check_some_row_is_out(rows)
        return rows

    def check_some_row_is_out(self, rows: TrainingRows) -> None:
        """Raise if every row happens to be in every bag."""
        if not rows.out.any():
            raise NoOutOfBagError(
                f"{self.asked} needs a row that is out of a bag; got a forest of "
                f"{self.forest.n_trees} trees with every row in every bag. Grow more trees."
            )


def read_subject(estimator: object, asked: str) -> Subject:
    """Read a fitted forest, for the analysis called `asked`; raises if it is none."""
    if not isinstance(estimator, ObliqueForest):
        remedy = "Pass an ObliqueForestClassifier or ObliqueForestRegressor, or a preset."
        raise wrong_type(f"The forest of {asked}", "a fitted forest of Bevel", estimator, remedy)
    check_is_fitted(estimator)
    estimator.verify()  # analysis walks the forest without the checks of a mapped file
    return Subject(
        estimator,
        estimator._predictor,
        estimator._feature_names(),
        getattr(estimator, "classes_", None),
        getattr(estimator, "voting", "soft") == "hard",
        count_threads(estimator.n_jobs),
        asked,
    )
