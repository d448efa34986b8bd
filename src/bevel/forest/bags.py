"""The bags of a forest: which rows each tree was grown on, drawn again from the seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.errors import NoOutOfBagError

__all__ = ["Bags", "check_leaves_rows_out"]


@dataclass(frozen=True)
class Bags:
    """How the bags of a forest were drawn.

    Attributes
    ----------
    n_rows : int
        Training rows.
    size : int
        Draws for each bag; 0: no bags, every tree has seen all rows.
    replace : bool
        Whether a row can be drawn twice.
    seed : int
        Seed of the forest.
    """

    n_rows: int
    size: int
    replace: bool
    seed: int

    def counts(self, tree: int, weights: Floats | None = None) -> npt.NDArray[np.int32]:
        """How often each row is in the bag of a tree, numbered from 0; once without bags.

        A bag without rows that weigh anything is all those that do.
        """
        return _core.bag(self.native_options(), self.n_rows, tree, weights)

    def rows_out(self, n_trees: int, weights: Floats | None = None) -> npt.NDArray[np.bool_]:
        """Whether each row (first axis) is out of the bag of each tree, numbered from 0."""
        out = np.empty((self.n_rows, n_trees), dtype=bool)
        for tree in range(n_trees):
            out[:, tree] = self.counts(tree, weights) == 0
        return out

    def native_options(self) -> _core.Options:
        """Options as the core reads them, of which it needs those of the bags."""
        options = _core.Options()
        options.bag_size, options.replace, options.seed = self.size, self.replace, self.seed
        return options


def check_leaves_rows_out(bags: Bags) -> None:
    """Raise if every tree has seen all rows."""
    if bags.size == 0 or (not bags.replace and bags.size >= bags.n_rows):
        raise NoOutOfBagError(
            "Out-of-bag errors need trees that have not seen all rows; got a forest grown without "
            "bags, or with bags of all rows. Fit with bootstrap=True."
        )
