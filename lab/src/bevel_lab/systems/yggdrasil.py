"""ydf's random forests and boosting with scikit-learn's API."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel_lab.systems.base import Task

__all__ = ["YggdrasilBoosting", "YggdrasilForest"]


class YggdrasilForest:
    """A forest of ydf: bootstrapped, to pure leaves, class shares averaged over the trees.

    ydf draws min(⌈p^exponent⌉, max_num_projections) projections (its text says max); the exponent 1
    gives p of them. Labels are codes 0, 1, ….
    """

    learner = "RandomForestLearner"

    def __init__(self, task: Task, n_trees: int, oblique: bool, setting: Mapping[str, Any]) -> None:
        self.task = task
        self.parameters: dict[str, Any] = {
            "num_trees": n_trees,
            "num_threads": task.n_jobs,
            "random_seed": task.random_state,
            "max_depth": -1,
            "min_examples": 5 if task.is_regression else 1,
            "compute_oob_performances": False,
        }
        if not task.is_regression:
            self.parameters["winner_take_all"] = False
        if oblique:
            self.parameters |= {
                "split_axis": "SPARSE_OBLIQUE",
                "sparse_oblique_num_projections_exponent": 1.0,
                "sparse_oblique_max_num_projections": task.p,
                "sparse_oblique_projection_density_factor": 3.0,
                "sparse_oblique_weights": "BINARY",
                "sparse_oblique_normalization": "NONE",
            }
        self.parameters |= setting

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "YggdrasilForest":
        """Build ydf's data set and train on it."""
        import ydf

        ydf.verbose(0)
        logging.getLogger("absl").setLevel(logging.ERROR)
        if self.task.is_regression:
            label = ydf.Column("y", ydf.Semantic.NUMERICAL)
            learner_task = ydf.Task.REGRESSION
        else:
            label = ydf.Column("y", ydf.Semantic.CATEGORICAL, min_vocab_frequency=1)
            learner_task = ydf.Task.CLASSIFICATION
        names = [f"x{column}" for column in range(X.shape[1])]
        features = [ydf.Column(name, ydf.Semantic.NUMERICAL) for name in names]
        rows = ydf.create_vertical_dataset({**_columns(X), "y": y}, columns=[*features, label])
        make = getattr(ydf, self.learner)
        self.model_ = make(label="y", task=learner_task, **self.parameters).train(rows)
        self.classes_ = None if self.task.is_regression else np.unique(y)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """The class of the largest share, or the mean."""
        if self.classes_ is None:
            return np.asarray(self.model_.predict(_columns(X)), dtype=np.float64)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Class shares; ydf orders classes by frequency and gives one column for two of them."""
        assert self.classes_ is not None
        share = np.asarray(self.model_.predict(_columns(X)), dtype=np.float64)
        if share.ndim == 1:
            share = np.column_stack([1.0 - share, share])
        order = np.argsort(np.array(self.model_.label_classes()).astype(np.int64))
        return share[:, order]


class YggdrasilBoosting(YggdrasilForest):
    """ydf's gradient boosting at its defaults, with axis or with sparse oblique splits."""

    learner = "GradientBoostedTreesLearner"

    def __init__(self, task: Task, oblique: bool, setting: Mapping[str, Any]) -> None:
        self.task = task
        self.parameters = {"num_threads": task.n_jobs, "random_seed": task.random_state}
        if oblique:
            self.parameters["split_axis"] = "SPARSE_OBLIQUE"
        self.parameters |= setting


def _columns(X: NDArray[Any]) -> dict[str, NDArray[np.float32]]:
    return {f"x{i}": np.ascontiguousarray(X[:, i], dtype=np.float32) for i in range(X.shape[1])}
