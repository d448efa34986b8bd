"""Chooses rows to explain: a typical one, the most doubtful one, the worst mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.forest.flat_forest import FlatForest

__all__ = ["RepresentativeRow", "find_representative_rows"]


@dataclass(frozen=True)
class RepresentativeRow:
    """A row, and the reason why it was chosen.

    Attributes
    ----------
    why : {"typical", "doubtful", "wrong", "asked"}
    place : int
        Position among the evaluated rows.
    predicted : tuple of float
        Predictions of the forest: class probabilities, or one value.
    truth : float or None
        The true target, as position among the classes or as value, if it is known.
    spread : float
        Standard deviation of the trees' predictions in regression, 0 in classification and for
        boosting.
    number : int
        Number by which the row is called.
    """

    why: str
    place: int
    predicted: tuple[float, ...]
    truth: float | None
    spread: float
    number: int = 0


def find_representative_rows(
    forest: FlatForest,
    leaves: npt.NDArray[np.int32],
    predicted: Floats,
    truth: npt.NDArray[Any] | None,
    requested: Sequence[int] | npt.NDArray[np.integer[Any]] = (),
    *,
    adds_up: bool = False,
) -> list[RepresentativeRow]:
    """Choose rows, each for a single reason.

    - typical: the row that shares most leaves with other rows, among those predicted well;
    - doubtful: the one with the smallest lead of a class over the next, or the largest spread of
      the trees' predictions in regression;
    - wrong: the one whose true class has the smallest probability, or the largest error; only if
      the class predicted is not the true one.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    leaves : ndarray of int32, shape (n, n_trees)
        Leaves of the rows.
    predicted : ndarray of shape (n, n_classes), or (n, 1) in regression
        Predictions of the forest.
    truth : ndarray of shape (n,), or None
        Positions among the classes, or values.
    requested : sequence of int
        Positions of requested rows; they come last.
    adds_up : bool, default=False
        Whether trees are added up, as in boosting; their spread then does not measure doubt.
    """
    is_classifier = predicted.shape[1] > 1 or forest.n_classes > 0
    error = _error(is_classifier, predicted, truth)
    has_spread = not is_classifier and not adds_up
    spread = _spread(forest, leaves) if has_spread else np.zeros(len(leaves))
    doubt = _doubt(predicted) if is_classifier else spread
    shared = np.where(error <= np.median(error), _shared_leaves(leaves), -1)
    reasons: list[tuple[str, npt.NDArray[Any]]] = [("typical", shared), ("doubtful", doubt)]
    if truth is not None:
        wrong = predicted.argmax(axis=1) != truth if is_classifier else error > 0.0
        reasons.insert(1, ("wrong", np.where(wrong, error, -1.0)))
    chosen: dict[int, str] = {}
    for why, score in reasons:
        free = np.where(np.isin(np.arange(len(score)), list(chosen)), -1.0, score)
        if free.max() > 0.0:
            chosen[int(free.argmax())] = why
    for place in requested:
        chosen.setdefault(int(place), "asked")
    order = ("typical", "doubtful", "wrong", "asked")
    return [
        RepresentativeRow(
            why,
            place,
            tuple(predicted[place].tolist()),
            None if truth is None else float(truth[place]),
            float(spread[place]),
        )
        for place, why in sorted(chosen.items(), key=lambda item: order.index(item[1]))
    ]


def _error(is_classifier: bool, predicted: Floats, truth: npt.NDArray[Any] | None) -> Floats:
    """Distance from the truth; zero where it is not known."""
    if truth is None:
        return np.zeros(len(predicted))
    if is_classifier:
        return np.asarray(1.0 - predicted[np.arange(len(predicted)), truth])
    return np.asarray(np.abs(predicted[:, 0] - truth))


def _spread(forest: FlatForest, leaves: npt.NDArray[np.int32]) -> Floats:
    return np.asarray(forest.leaf_value[forest.tree_offset[:-1] + leaves].std(axis=1))


def _doubt(predicted: Floats) -> Floats:
    """One minus the lead of the first class over the second."""
    if predicted.shape[1] < 2:
        return np.zeros(len(predicted))
    best = np.partition(predicted, -2, axis=1)[:, -2:]
    return np.asarray(1.0 - (best[:, 1] - best[:, 0]))


def _shared_leaves(leaves: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Number of rows that each row shares its leaf with, summed over trees: Breiman's proximity."""
    shared = np.zeros(len(leaves), dtype=np.int64)
    for leaf in leaves.T:
        shared += np.bincount(leaf)[leaf]
    return shared
