"""Angles between lines, and checks of given directions."""

from __future__ import annotations

import numbers

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.importances.projection import Directions
from bevel.errors import shorten, wrong_type, wrong_value

__all__ = ["angles", "read_angle", "read_direction", "read_directions"]


def angles(directions: Directions | npt.ArrayLike, direction: npt.ArrayLike) -> Floats:
    """Angle of each direction to a given one, in degrees from 0 to 90.

    Parameters
    ----------
    directions : Directions or array-like of shape (n_directions, n_features)
        Directions, such as `importance(forest, "projection")` or `root_directions(forest)`.
    direction : array-like of shape (n_features,)
        Direction of any length but zero.

    Returns
    -------
    ndarray of shape (n_directions,)
        Angles between lines: a direction and its negative are at 0 degrees.

    Examples
    --------
    >>> angles([[1, 0], [1, -1], [0, -2]], [1, 1]).round().tolist()
    [45.0, 90.0, 45.0]
    """
    to = read_direction(direction)
    rows = read_directions(directions, len(to))
    length = np.linalg.norm(rows, axis=1)
    # The smaller of sine and cosine is accurate near 0 and near 90 degrees.
    along = np.abs(rows @ to)
    across = np.linalg.norm(rows - np.outer(rows @ to, to), axis=1)
    if (length == 0.0).any():
        raise wrong_value("directions", "of non-zero length", "a row of zeros", "Leave it out.")
    return np.asarray(np.degrees(np.arctan2(across, along)))


def read_direction(direction: npt.ArrayLike) -> Floats:
    """Scale a direction to length one; raises if it is invalid."""
    given = np.asarray(direction, dtype=np.float64)
    length = np.linalg.norm(given)
    if given.ndim != 1 or len(given) == 0 or not np.isfinite(length) or length == 0.0:
        required = "a vector of finite numbers, not all zero"
        raise wrong_value("direction", required, direction, "Pass one weight for each feature.")
    return np.asarray(given / length)


def read_directions(directions: Directions | npt.ArrayLike, n_features: int) -> Floats:
    """Directions as rows of a matrix; raises if they are invalid."""
    if isinstance(directions, Directions):
        rows = directions.dense()
    else:
        rows = np.asarray(directions, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(
            f"directions must be rows of {n_features} weights; got shape {rows.shape}. Pass one "
            "weight for each feature."
        )
    if not np.isfinite(rows).all():
        raise wrong_value("directions", "finite", "NaN or infinity", "Leave such rows out.")
    return rows


def read_angle(angle: object) -> float:
    """An angle in radians; raises if it is invalid."""
    required, remedy = "a number of degrees in (0, 90)", "A useful one is 15."
    if isinstance(angle, bool) or not isinstance(angle, numbers.Real):
        raise wrong_type("angle", required, angle, remedy)
    if not 0.0 < float(angle) < 90.0:
        raise wrong_value("angle", required, shorten(angle), remedy)
    return float(np.radians(float(angle)))
