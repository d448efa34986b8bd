"""Isolation forests: leaves hold path lengths, whose mean becomes a score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma

from bevel._types import Floats
from bevel.errors import ModelFileError
from bevel.forest.flat_forest import FlatForest

__all__ = ["Isolation", "average_path_length", "with_path_lengths"]

RATIO_DIGITS = 12  # digits to which scores distinguish path lengths


@dataclass(frozen=True)
class Isolation:
    """How the mean path length of a row becomes its score.

    Attributes
    ----------
    n_samples : int
        Rows that each tree was grown on.
    offset : float
        Scores below it are those of outliers.
    """

    n_samples: int
    offset: float

    def scores(self, lengths: Floats) -> Floats:
        """Scores of rows from -1 (isolated at once) to 0; about -0.5 for ordinary ones.

        Raises ModelFileError for negative lengths, which only a mapped file that was not verified
        can have.
        """
        if (lengths < 0.0).any():
            raise ModelFileError(
                f"The path length of a leaf must be zero or more; got {lengths.min():.3g} as the "
                "mean of a row. The file is damaged: copy it again, or save the model again."
            )
        usual = float(average_path_length(np.array(float(self.n_samples))))
        ratios = lengths / usual if usual > 0 else np.ones_like(lengths)
        # Rounded, since means over trees differ in the last digits.
        return np.asarray(-(2.0 ** -np.round(ratios, RATIO_DIGITS)))


def average_path_length(n_rows: Floats) -> Floats:
    """Mean depth at which a random binary tree of `n_rows` rows isolates one of them.

    2 H(n - 1) - 2 (n - 1) / n with harmonic numbers H (Liu, Ting and Zhou 2008), here for weights
    too, which need not be whole.
    """
    n = np.maximum(np.asarray(n_rows, dtype=np.float64), 1.0)
    return np.asarray(2.0 * (digamma(n) + np.euler_gamma) - 2.0 * (n - 1.0) / n)


def with_path_lengths(forest: FlatForest, n_samples: int) -> FlatForest:
    """Return a forest of these trees with the path length of each leaf as its value.

    The path length is the depth of the leaf plus the expected depth of a tree of its rows. A leaf
    has as many of the `n_samples` rows of a tree as its share of their weight.
    """
    values = np.zeros(forest.n_nodes)
    leaves = forest.right < 0
    weight = np.asarray(forest.weight, dtype=np.float64)
    of_tree = np.repeat(weight[forest.tree_offset[:-1]], np.diff(forest.tree_offset))
    n_rows = n_samples * weight[leaves] / of_tree[leaves]
    values[leaves] = forest.depth[leaves] + average_path_length(n_rows)
    return replace(forest, leaf_value=values)
