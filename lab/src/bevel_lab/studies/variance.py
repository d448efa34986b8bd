"""How much of the variance of errors is due to folds, to rotations, and to neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.errors import wrong_value

__all__ = ["VarianceSplit", "split_variance"]

ONE_SIDED = 0.05  # of the upper limit of a component
ROUNDING = 1e-12  # deviations below this share of the largest error are none


@dataclass(frozen=True, repr=False)
class VarianceSplit(PrintedResult):
    """Components of the variance of one entry of a result matrix.

    Attributes
    ----------
    folds, rotations, rest : float
        Variance between fold groups, between rotation groups, and of what neither explains; the
        first two are unbiased unless they come out negative, when they are 0.
    p_folds, p_rotations : float
        Probability of a larger F statistic where all groups of that side are alike.
    rotations_at_most : float
        Upper limit of `rotations`, of 95 % confidence.
    """

    folds: float
    rotations: float
    rest: float
    p_folds: float
    p_rotations: float
    rotations_at_most: float

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares of folds, rotations and the rest in the whole variance; zeros if there is none."""
        parts = (self.folds, self.rotations, self.rest)
        whole = sum(parts)
        first, second, third = (part / whole if whole > 0.0 else 0.0 for part in parts)
        return first, second, third

    def _printed(self) -> PrintedTable:
        parts = (self.folds, self.rotations, self.rest)
        chances = (f", p = {self.p_folds:.2g}", f", p = {self.p_rotations:.2g}", "")
        names = ("fold groups", "rotation groups", "the rest")
        lines = [
            (name, f"{part:.3g} ({share:.0%}{chance})")
            for name, part, share, chance in zip(names, parts, self.shares, chances, strict=True)
        ]
        return PrintedTable("Variance of the errors, by its source", (), lines)


def split_variance(errors: npt.ArrayLike) -> VarianceSplit:
    """Split the variance of a matrix between its rows, its columns and the rest.

    A two-way analysis of variance with random effects and one observation for each entry: error =
    mean + fold group + rotation group + rest, all independent. The tests are exact if the rest is
    normal.

    Parameters
    ----------
    errors : array-like of shape (n_fold_groups, n_rotation_groups)
        At least two by two, finite.

    Returns
    -------
    VarianceSplit

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> errors = 0.2 + 0.03 * rng.normal(size=(1, 20)) + 0.01 * rng.normal(size=(20, 20))
    >>> split = split_variance(errors)
    >>> split.rotations > split.rest > split.folds, split.p_rotations < 0.001
    (True, True)
    """
    matrix = np.asarray(errors, dtype=np.float64)
    if matrix.ndim != 2 or min(matrix.shape) < 2:
        remedy = "Study two groups of folds and two of rotations, or more."
        raise wrong_value("errors", "a matrix of 2 × 2 or more", matrix.shape, remedy)
    if not np.isfinite(matrix).all():
        n_bad = np.count_nonzero(~np.isfinite(matrix))
        remedy = "Finish the study, or leave out the groups that are not complete."
        raise wrong_value("errors", "finite in all entries", f"{n_bad} that are not", remedy)
    n_rows, n_columns = matrix.shape
    freedom = (n_rows - 1, n_columns - 1, (n_rows - 1) * (n_columns - 1))
    squares = _mean_squares(matrix, freedom)
    ms_rows, ms_columns, ms_rest = squares
    limit = special.fdtri(freedom[1], freedom[2], ONE_SIDED)
    return VarianceSplit(
        folds=max(0.0, (ms_rows - ms_rest) / n_columns),
        rotations=max(0.0, (ms_columns - ms_rest) / n_rows),
        rest=ms_rest,
        p_folds=_chance(ms_rows, ms_rest, freedom[0], freedom[2]),
        p_rotations=_chance(ms_columns, ms_rest, freedom[1], freedom[2]),
        rotations_at_most=max(0.0, float(ms_columns / limit - ms_rest) / n_rows),
    )


def _mean_squares(
    matrix: npt.NDArray[np.float64], freedom: tuple[int, int, int]
) -> tuple[float, float, float]:
    """Mean squares of rows, columns and the rest; rounding errors count as 0."""
    mean = matrix.mean()
    rows, columns = matrix.mean(axis=1) - mean, matrix.mean(axis=0) - mean
    rest = matrix - mean - rows[:, None] - columns
    smallest = ROUNDING * np.abs(matrix).max()
    sums = []
    for part, times in ((rows, matrix.shape[1]), (columns, matrix.shape[0]), (rest, 1)):
        real = np.where(np.abs(part) > smallest, part, 0.0)
        sums.append(times * float((real**2).sum()))
    first, second, third = (each / n for each, n in zip(sums, freedom, strict=True))
    return first, second, third


def _chance(square: float, rest: float, freedom: int, freedom_rest: int) -> float:
    if rest == 0.0:
        return 1.0 if square == 0.0 else 0.0
    return float(special.fdtrc(freedom, freedom_rest, square / rest))
