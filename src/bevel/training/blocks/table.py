"""What the coordinator stores of a table whose rows are in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s
from bevel.data.encoding import Encoding
from bevel.training.blocks.block import Columns

__all__ = ["BlockedTable", "rows_to_gather", "sample_size"]

# Nodes up to this size are gathered and finished by the ordinary builder, and their bytes.
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
        How rows were read, and new ones are to be.
    has_nan : ndarray of uint8, shape (p,)
        One for numeric columns with missing values.
    sample : ndarray of float32, shape (n_sample, p), Fortran order
        Encoded rows, chosen by a hash of their number. Edges of bins are quantiles of them.
    n_classes : int
        0 in regression.
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
        """What blocks need to know."""
        return Columns(self.encoding.levels, self.encoding.medians, self.has_nan)


def rows_to_gather(n_rows: int, n_features: int) -> int:
    """Rows of the largest node that is gathered: by the table alone, as it changes the forest."""
    by_bytes = GATHERED_BYTES // (4 * n_features)
    return max(min(MOST_GATHERED, max(LEAST_GATHERED, by_bytes)), n_rows // 1024)


def sample_size(n_features: int) -> int:
    """Rows of the sample, if the table has as many."""
    return min(SAMPLE_ROWS, max(LEAST_SAMPLE, SAMPLE_BYTES // (8 * n_features)))
