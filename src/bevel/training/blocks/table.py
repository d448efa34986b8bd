"""A table whose rows are in blocks, as the coordinator knows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s
from bevel.data.encoding import Encoding
from bevel.training.blocks.block import Columns

__all__ = ["BlockedTable", "rows_to_gather", "sample_size"]

# Limits of nodes, in rows and bytes, that are gathered and grown by the ordinary builder.
MOST_GATHERED, GATHERED_BYTES = 2**17, 2**25
LEAST_GATHERED = 4096
# A sample of this many rows has this many in a node of 1/1024 of the table: enough for edges.
SAMPLE_ROWS, SAMPLE_BYTES = 2**16, 2**27
LEAST_SAMPLE = 4096


@dataclass(frozen=True, eq=False)
class BlockedTable:
    """A table in blocks, without its rows.

    Attributes
    ----------
    n_rows : int
        Rows of all blocks.
    encoding : Encoding
        How rows were read, and how new ones must be read.
    has_nan : ndarray of uint8, shape (p,)
        1 for numeric columns with missing values.
    sample : ndarray of float32, shape (n_sample, p), Fortran order
        Encoded rows, chosen by a hash of their number. Edges of bins are quantiles of them.
    n_classes : int
        Number of classes, 0 in regression.
    whole_weights : bool
        Whether all weights are whole numbers up to 255.
    largest_weight : float
        An upper bound of the weights.
    low, high : float
        Range of the targets of a regression.
    """

    n_rows: int
    encoding: Encoding
    has_nan: npt.NDArray[np.uint8]
    sample: Float32s
    n_classes: int
    whole_weights: bool = True
    largest_weight: float = 1.0
    low: float = 0.0
    high: float = 0.0

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.encoding.levels)

    @property
    def columns(self) -> Columns:
        """Properties of the columns that blocks need."""
        return Columns(self.encoding.levels, self.encoding.medians, self.has_nan)


def rows_to_gather(n_rows: int, n_features: int) -> int:
    """Rows of the largest node that is gathered; depends on the table alone, as the forest does."""
    by_bytes = GATHERED_BYTES // (4 * n_features)
    return max(min(MOST_GATHERED, max(LEAST_GATHERED, by_bytes)), n_rows // 1024)


def sample_size(n_features: int) -> int:
    """Rows of the sample, if the table has as many."""
    return min(SAMPLE_ROWS, max(LEAST_SAMPLE, SAMPLE_BYTES // (8 * n_features)))
