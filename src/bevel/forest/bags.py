"""The bags of a forest: which rows each tree was grown on, drawn again from the seed."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.errors import NoOutOfBagError

if TYPE_CHECKING:
    from bevel.data.row_groups import RowGroups

__all__ = ["Bags", "check_leaves_rows_out"]


@dataclass(frozen=True)
class Bags:
    """How the bags of a forest were drawn.

    Attributes
    ----------
    n_rows : int
        Training rows.
    size : int
        Draws for each bag, of rows or of groups; 0: no bags, every tree has seen all rows.
    replace : bool
        Whether a row can be drawn twice.
    seed : int
        Seed of the forest.
    groups : RowGroups or None
        Groups that are drawn with all of their rows; None if rows are drawn.
    leaf_share : float, default=0.0
        Share of the rows of a bag that give the leaves of honest trees their values, and that no
        split is learnt on; 0 if all rows are for both.
    """

    n_rows: int
    size: int
    replace: bool
    seed: int
    groups: RowGroups | None = None
    leaf_share: float = 0.0

    @property
    def n_units(self) -> int:
        """Number of rows, or groups, that bags draw from."""
        return self.n_rows if self.groups is None else self.groups.n_groups

    @property
    def of_units(self) -> Bags:
        """The bags with each group as a single row."""
        return dataclasses.replace(self, n_rows=self.n_units, groups=None)

    @property
    def of_held_out(self) -> Bags:
        """Bags of all rows but those that the groups hold out, which are in none."""
        return dataclasses.replace(self, size=0)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether any row can be out of a bag."""
        if self.groups is not None and self.groups.held_out is not None:
            return True
        return self.size > 0 and (self.replace or self.size < self.n_units)

    def counts(self, tree: int, weights: Floats | None = None) -> npt.NDArray[np.int32]:
        """How often each row is in the bag of a tree, numbered from 0; once without bags.

        A bag without rows that weigh anything is all those that do.
        """
        return _core.bag(self.native_options(), self.n_rows, tree, weights)

    def leaf_counts(self, tree: int, weights: Floats | None = None) -> npt.NDArray[np.int32]:
        """How often each row is in the part of the bag that gives the leaves their values."""
        return _core.bag(self.native_options(), self.n_rows, tree, weights, of_leaves=True)

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
        options.leaf_share = self.leaf_share
        if self.groups is not None:
            options.set_bag_groups(self.groups.codes, self.groups.n_groups)
        return options


def check_leaves_rows_out(bags: Bags) -> None:
    """Raise if every tree has seen all rows."""
    if not bags.leaves_rows_out:
        raise NoOutOfBagError(
            "Out-of-bag errors need trees that have not seen all rows; got a forest grown without "
            "bags, or with bags of all rows. Fit with bootstrap=True."
        )
