"""Rotated views of a table, for learners of other libraries: numeric features rotated, nominal not.

A view is made of rows as a dataset holds them: numeric features scaled before they are rotated
(Blaser, thesis 1.6.2: a rotation depends on units and outliers), and missing values replaced by the
median of the training rows (1.6.1), since a rotation would spread them over the row. Nominal
columns keep their level codes or become indicators, and are never rotated.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s, Floats
from bevel.data.encoding import Encoding
from bevel.data.tables import Table

__all__ = ["count_numeric", "haar_rotations", "plain_matrix", "rotated_view"]


def haar_rotations(n_rotations: int, n_features: int, seed: int, *, flip: bool = False) -> Floats:
    """Random rotations from the uniform (Haar) distribution (Blaser 1.4).

    Parameters
    ----------
    n_rotations, n_features : int
        Number of rotations and of features.
    seed : int
        64 bits; rotation r is the one that tree r of a rotation forest of this seed draws.
    flip : bool, default=False
        Admit reflections as well, that is orthogonal matrices of determinant −1.

    Returns
    -------
    ndarray of shape (n_rotations, n_features, n_features)
        Columns are the new axes: rows of features times a matrix are rotated rows.

    Examples
    --------
    >>> (rotation,) = haar_rotations(1, 3, seed=0)
    >>> bool(np.allclose(rotation @ rotation.T, np.eye(3)))
    True
    """
    rotations = [_core.haar_rotation(n_features, flip, seed, tree) for tree in range(n_rotations)]
    axes = np.array(rotations).reshape(n_rotations, n_features, n_features)
    return np.ascontiguousarray(axes.transpose(0, 2, 1))


def count_numeric(encoding: Encoding) -> int:
    """Number of features that are rotated."""
    return int(np.count_nonzero(encoding.levels == 0))


def plain_matrix(table: Table, encoding: Encoding) -> Floats:
    """A training table as one matrix: unscaled numbers, and level codes in nominal columns.

    It depends on no scale, medians or levels, which are learned later from some of its rows.
    """
    matrix = np.empty((table.n_rows, table.n_features), order="F")
    rows = slice(0, table.n_rows)
    for feature in np.flatnonzero(encoding.levels == 0).tolist():
        matrix[:, feature] = table.numbers(rows, slice(feature, feature + 1))[:, 0]
    for feature, levels in encoding.nominal.items():
        matrix[:, feature] = levels.encode(table.labels(feature), table.describe(feature))
    return matrix


def rotated_view(
    X: Float32s, encoding: Encoding, rotation: Floats | None, *, codes: bool, n_threads: int = 1
) -> Float32s:
    """View of some rows for a learner.

    Parameters
    ----------
    X : ndarray of float32, shape (n_rows, p)
        Rows as a dataset holds them: scaled, with level codes, NaN where numbers are missing.
    encoding : Encoding
        Encoding of the rows that the learner is trained on.
    rotation : ndarray of shape (n_numeric, n_numeric) or None
        From `haar_rotations`; None leaves the axes as they are.
    codes : bool
        Whether nominal columns stay in their places as codes. Otherwise each becomes C − 1
        indicators of its C levels behind the numeric features, as in Blaser 1.6.1; missing is a
        level, and one never seen counts as the last.
    n_threads : int, default=1
        Threads that rotate.

    Returns
    -------
    ndarray of float32, Fortran order
        View without missing values; each row has the same bits alone and among others.
    """
    numeric = np.flatnonzero(encoding.levels == 0)
    numbers = _completed(X, numeric, encoding.medians)
    if rotation is not None:
        turned = np.empty_like(numbers)
        _core.rotate_rows(numbers, np.asfortranarray(rotation), n_threads, turned)
        numbers = turned
    if len(numeric) == X.shape[1]:
        return numbers
    if codes:
        view = np.array(X, order="F")
        view[:, numeric] = numbers
        return view
    return np.asfortranarray(np.hstack([numbers, *_indicators(X, encoding)]))


def _completed(X: Float32s, features: npt.NDArray[np.intp], medians: Float32s) -> Float32s:
    numbers = np.asfortranarray(X[:, features])
    missing = np.isnan(numbers)
    return np.where(missing, medians[features], numbers) if missing.any() else numbers


def _indicators(X: Float32s, encoding: Encoding) -> list[Float32s]:
    """C − 1 columns for each nominal one; the last level is where all of them are zero."""
    nominal = [(feature, int(encoding.levels[feature])) for feature in sorted(encoding.nominal)]
    return [
        (X[:, feature, np.newaxis] == np.arange(n_levels - 1)).astype(np.float32)
        for feature, n_levels in nominal
    ]
