"""Loads an estimator from a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from bevel.estimators._grown_trees import set_attributes
from bevel.estimators.forest import (
    ObliqueForest,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)
from bevel.estimators.registry import KINDS, SAVABLE
from bevel.files.layout import only_file_errors, read_contents
from bevel.files.model import StoredEstimator, read_model

__all__ = ["load", "restore"]


def load(
    path: str | os.PathLike[str], mmap: bool = False
) -> ObliqueForestClassifier | ObliqueForestRegressor:
    """Load an estimator that `save` has written.

    Nothing in a file is executed, and the cost of loading is proportional to its size, so that
    untrusted files can be loaded; the worst that a hostile file can do is predict nonsense.

    Parameters
    ----------
    path : str or path
        The file. Raises ModelFileError if it is damaged, of a later version of the format, or a
        pipe or device.
    mmap : bool, default=False
        False reads the file into memory and verifies all of it: checksums, bounds, structure. True
        reads the header only, maps the file and predicts from it, so that a forest of any size
        predicts its first row at once and several processes share one copy; indices are checked as
        rows go down the trees. Call `verify()` on the estimator to read and verify the rest; what
        needs the whole forest, such as `forest_`, does so too. Do not write into the file
        meanwhile: calls raise ModelFileError if it was written to before them, and a file that is
        made shorter while a call reads it ends the process. `save` puts a new file in its place,
        which is safe.

    Returns
    -------
    ObliqueForestClassifier or ObliqueForestRegressor
        The fitted estimator, or one of a class derived from these, such as
        RegularizedRotationClassifier. Out-of-bag predictions of single rows are not in files.

    Examples
    --------
    >>> import bevel
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = bevel.ObliqueForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     forest.save(f"{folder}/iris.bevel")
    ...     bevel.load(f"{folder}/iris.bevel").predict(X[:1])
    array([0])
    """
    with only_file_errors(os.fspath(path)):
        stored = read_model(read_contents(Path(path), mmap), KINDS, mapped=mmap)
        return restore(stored)  # type: ignore[no-any-return]


def restore(stored: StoredEstimator) -> Any:
    """Restore the estimator to the state after `fit`."""
    estimator = SAVABLE[stored.name](**stored.parameters)
    fitted = stored.fitted
    estimator.n_features_in_ = fitted.n_features
    if fitted.feature_names is not None:
        estimator.feature_names_in_ = np.array(fitted.feature_names, dtype=object)
    set_attributes(estimator, fitted.task)
    if isinstance(estimator, ObliqueForest):
        estimator.n_outputs_ = fitted.task.n_outputs
    if stored.oob_score is not None:
        estimator.oob_score_ = stored.oob_score
    estimator._fitted = fitted
    return estimator
