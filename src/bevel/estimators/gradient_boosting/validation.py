"""The rows that boosting does not train on: given by the user, or held out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from bevel._types import Floats
from bevel.data.dataset import Dataset
from bevel.training.boosting import BoostingTarget

__all__ = ["append_rows", "hold_out"]


def append_rows(
    dataset: Dataset,
    target: BoostingTarget,
    rows: npt.NDArray[np.float32],
    validation: BoostingTarget,
) -> tuple[Dataset, BoostingTarget]:
    """Dataset and target with validation rows behind the training rows.

    Parameters
    ----------
    dataset : Dataset
        Training rows.
    target : BoostingTarget
        Their targets.
    rows : ndarray of float32
        Validation rows, encoded as the training rows are.
    validation : BoostingTarget
        Their targets.
    """
    n_before, n = len(dataset.X), len(dataset.X) + len(rows)
    X = np.empty((n, rows.shape[1]), dtype=np.float32, order="F")
    X[:n_before], X[n_before:] = dataset.X, rows
    numeric = dataset.encoding.levels == 0
    has_nan = (dataset.has_nan != 0) | (np.isnan(rows).any(axis=0) & numeric)
    joined = BoostingTarget(
        np.concatenate([target.values, validation.values]),
        _join_weights(target, validation),
        np.arange(n) >= n_before,
    )
    return Dataset(X, has_nan.astype(np.uint8), dataset.encoding), joined


def hold_out(
    target: BoostingTarget, is_classifier: bool, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Which training rows validate, of each class alike.

    Parameters
    ----------
    target : BoostingTarget
        Targets of the training rows.
    is_classifier : bool
        Whether targets are classes.
    fraction : float
        Share of the rows to hold out.
    seed : int
        Of the choice.
    """
    n_rows = len(target.values)
    try:
        _, held_out = train_test_split(
            np.arange(n_rows),
            test_size=fraction,
            random_state=seed % 2**32,
            stratify=target.values if is_classifier else None,
        )
    except ValueError as error:
        raise ValueError(
            f"early_stopping needs rows of every class to hold out; got {n_rows} rows and "
            f"validation_fraction={fraction} ({error}). Pass X_val and y_val, or set "
            "early_stopping=False."
        ) from error
    validates = np.zeros(n_rows, dtype=np.bool_)
    validates[held_out] = True
    return validates


def _join_weights(first: BoostingTarget, second: BoostingTarget) -> Floats | None:
    if first.weights is None and second.weights is None:
        return None
    both = [
        np.ones(len(part.values)) if part.weights is None else part.weights
        for part in (first, second)
    ]
    return np.concatenate(both)
