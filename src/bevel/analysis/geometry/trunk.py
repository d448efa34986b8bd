"""Separation of the two classes of Trunk's problem along a direction (thesis, B.2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from bevel.analysis.geometry.angles import read_directions
from bevel.analysis.importances.projection import Directions
from bevel.errors import wrong_value

__all__ = ["trunk_bayes_error"]


def trunk_bayes_error(directions: Directions | npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Bayes error of Trunk's problem along directions: Φ(−|⟨μ, a⟩| / ‖a‖).

    The classes of `bevel.datasets.trunk` are normal with identity covariance and means ±μ, μ_j =
    1/√j; along a they are normal with means ±⟨μ, a⟩ and variance ‖a‖².

    Parameters
    ----------
    directions : Directions or array-like of shape (n_directions, n_features)
        Weights of the unscaled features: grow the forest with ``scale=None``.

    Returns
    -------
    ndarray of shape (n_directions,)
        Errors between Φ(−‖μ‖), along μ itself, and 1/2.

    Examples
    --------
    >>> trunk_bayes_error([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).round(3).tolist()
    [0.159, 0.114, 0.094]
    """
    if isinstance(directions, Directions):
        if directions.is_scaled:
            required = "of features as they are"
            got = "directions of a forest that scales features"
            raise wrong_value("directions", required, got, "Fit with scale=None.")
        rows = directions.dense()
    else:
        rows = np.atleast_2d(np.asarray(directions, dtype=np.float64))
        rows = read_directions(rows, rows.shape[-1])
    length = np.linalg.norm(rows, axis=1)
    if (length == 0.0).any():
        raise wrong_value("directions", "of non-zero length", "a row of zeros", "Leave it out.")
    mean = 1.0 / np.sqrt(np.arange(1, rows.shape[1] + 1))
    return np.asarray(special.ndtr(-np.abs(rows @ mean) / length))
