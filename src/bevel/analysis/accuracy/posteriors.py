"""Distance of estimated class probabilities from the true ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.errors import wrong_value

__all__ = ["check_shares", "hellinger_distance"]


def hellinger_distance(estimate: npt.ArrayLike, truth: npt.ArrayLike) -> Floats:
    """Hellinger distance between two distributions over the classes, row by row.

    ``sqrt(sum_k (sqrt(p_k) - sqrt(q_k))² / 2)``: from 0 for equal ones to 1 for disjoint ones.

    Parameters
    ----------
    estimate : array-like of shape (n_rows, n_classes)
        Estimated probabilities, such as those of ``predict_proba``.
    truth : array-like of shape (n_rows, n_classes)
        True posterior probabilities of the same rows, classes in the same order.

    Returns
    -------
    ndarray of shape (n_rows,)
        Distances; the papers report their mean.

    References
    ----------
    Tomita's thesis, section 2.3.1 and Figure 2.2.

    Examples
    --------
    >>> hellinger_distance([[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0]])
    array([0., 1.])
    """
    one, other = check_shares("estimate", estimate), check_shares("truth", truth)
    if one.shape != other.shape:
        remedy = "Pass the same rows and classes in both."
        raise wrong_value("truth", f"of shape {one.shape}, as estimate", other.shape, remedy)
    # Probabilities may sum to slightly more than one; distances stay within their range.
    squared = ((np.sqrt(one) - np.sqrt(other)) ** 2).sum(axis=1) / 2.0
    return np.asarray(np.sqrt(np.clip(squared, 0.0, 1.0)))


def check_shares(name: str, shares: npt.ArrayLike) -> Floats:
    """Class probabilities, row by row; raises if they are invalid."""
    array = np.asarray(shares, dtype=np.float64)
    if array.ndim != 2:
        remedy = "Pass one column for each class."
        raise wrong_value(name, "of shape (n_rows, n_classes)", array.shape, remedy)
    wrong = np.flatnonzero(~((array >= 0.0).all(axis=1) & (np.abs(array.sum(axis=1) - 1) < 1e-6)))
    if len(wrong):
        required = "rows of probabilities, not negative and summing to one"
        remedy = f"See row index {wrong[0]}."
        raise wrong_value(name, required, array[wrong[0]].tolist(), remedy)
    return array
