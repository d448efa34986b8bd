"""Small trees of short splits that imitate a forest with long splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows, predictions
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.data.columns import Columns
from bevel.estimators import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.projections import Axis, SparseSigns

__all__ = ["N_TREES", "forest_predictions", "grow_imitation", "imitates"]

N_TREES = 100


def forest_predictions(analysed: AnalysedForest, X: Any, rows: EvaluationRows) -> npt.NDArray[Any]:
    """Predictions of the forest, out of bag where possible."""
    estimator: Any = analysed.estimator
    predicted = np.asarray(estimator.predict(X))
    if rows.out is None:
        return predicted
    means, known = predictions(analysed, rows), rows.known
    if analysed.classes is None:
        predicted[known] = means[known, 0]
    else:
        predicted[known] = analysed.classes[means[known].argmax(axis=1)]
    return predicted


def grow_imitation(
    analysed: AnalysedForest,
    columns: Columns,
    imitated: npt.NDArray[Any],
    max_depth: int,
    max_terms: int,
    min_rows: int,
) -> AnalysedForest | None:
    """Fit small trees to predictions; None if the predictions do not differ.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest.
    columns : Columns
        Rows in the user's units.
    imitated : ndarray of shape (n,)
        Predictions of the rows by the forest.
    max_depth, max_terms : int
        Most splits above a leaf, and desired number of features of a split, which a few exceed.
    min_rows : int
        Fewest rows of a leaf.
    """
    if imitated.ndim > 1 or len(np.unique(imitated)) < 2:
        return None
    is_classifier = analysed.classes is not None
    kind: Any = ObliqueForestClassifier if is_classifier else ObliqueForestRegressor
    nominal = [int(f) for f in np.flatnonzero(analysed.forest.levels)]
    n_numeric = analysed.forest.n_features - len(nominal)
    one_by_one = max_terms == 1 or n_numeric < 2
    grown = kind(
        N_TREES,
        projection=Axis() if one_by_one else SparseSigns(min(2.0, n_numeric / 2)),
        max_depth=max_depth,
        min_samples_leaf=max(1, min_rows),
        categorical_features=nominal or None,
        n_jobs=analysed.n_threads,
        random_state=0,
    )
    return read_forest(grown.fit(columns, imitated), analysed.caller)


def imitates(imitated: npt.NDArray[Any], found: npt.NDArray[Any], is_classifier: bool) -> float:
    """Share of equal labels, or in regression the share of variance explained."""
    if is_classifier:
        return float(np.mean(imitated == found))
    spread: Floats = imitated - imitated.mean()
    total = float((spread**2).sum())
    error = float(((imitated - found.astype(float)) ** 2).sum())
    return 1.0 - error / total if total > 0.0 else float(error == 0.0)
