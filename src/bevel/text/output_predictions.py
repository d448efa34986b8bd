"""Predictions of the nodes of a tree for several outputs, each as if it were the only one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.forest.flat_forest import FlatForest, TreeView
from bevel.forest.outputs import Outputs, forest_of_output
from bevel.forest.subforest import take_trees
from bevel.printable import printable
from bevel.text.decimals import counted
from bevel.text.node_predictions import NodePredictions, read_predictions

__all__ = ["OutputPredictions", "read_output_predictions"]

MOST_WRITTEN = 4  # outputs of a node in a text


@dataclass(frozen=True, eq=False)
class OutputPredictions:
    """Predictions of some nodes for several outputs, with the methods of `NodePredictions`.

    Attributes
    ----------
    outputs : Outputs
        Names and classes of the outputs.
    forest : FlatForest
        Forest of this tree alone.
    node, end : ndarray of int64
        The nodes, and one past the last node of their subtrees.
    """

    outputs: Outputs
    forest: FlatForest
    node: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]

    @property
    def rows(self) -> Floats:
        """Weighted number of training rows; NaN in a slim forest."""
        return self._of(0).rows

    @property
    def gain(self) -> Floats:
        """Impurity that each split removes, summed over the outputs."""
        if self.forest.is_slim:
            return np.full(len(self.node), np.nan)
        return self.forest.gain[self.node].astype(np.float64)

    @cached_property
    def _known(self) -> dict[int, NodePredictions]:
        return {}

    def _of(self, k: int) -> NodePredictions:
        if k not in self._known:
            single = forest_of_output(self.forest, self.outputs, k)
            classes = () if self.outputs.classes is None else self.outputs.classes[k]
            labels = tuple(printable(str(label)) for label in classes)
            self._known[k] = read_predictions(single.tree(0), self.node, self.end, labels)
        return self._known[k]

    @property
    def _each(self) -> Mapping[str, NodePredictions]:
        names = (printable(name) for name in self.outputs.names)
        return {name: self._of(k) for k, name in enumerate(names)}

    def summary(self, place: int) -> str:
        """Predictions of the first few outputs, and rows, of a node."""
        parts = []
        for k, name in enumerate(self.outputs.names[:MOST_WRITTEN]):
            if text := self._of(k).prediction(place):
                parts.append(f"{printable(name)} {text}")
        if parts and len(self.outputs) > MOST_WRITTEN:
            parts.append(f"{len(self.outputs) - MOST_WRITTEN} more outputs")
        if not np.isnan(self.rows[place]):
            parts.append(counted(float(self.rows[place])))
        return ", ".join(parts)

    def entry(self, place: int) -> dict[str, Any]:
        """Predictions of a node as plain values, output by output; unknown ones are left out."""
        found: dict[str, Any] = {}
        if not np.isnan(self.rows[place]):
            found |= {"rows": float(self.rows[place]), "gain": float(self.gain[place])}
        each = {name: predictions.entry(place) for name, predictions in self._each.items()}
        known = {
            name: {key: value for key, value in entry.items() if key not in ("rows", "gain")}
            for name, entry in each.items()
        }
        return found | {"outputs": known}

    def columns(self) -> dict[str, Any]:
        """The predictions as columns, named after the outputs."""
        found: dict[str, Any] = {"rows": self.rows, "gain": self.gain}
        for name, predictions in self._each.items():
            columns = predictions.columns()
            found |= {
                f"{column}_{name}": values
                for column, values in columns.items()
                if column not in ("rows", "gain")
            }
        return found


def read_output_predictions(
    tree: TreeView, node: npt.NDArray[np.int64], end: npt.NDArray[np.int64], outputs: Outputs
) -> OutputPredictions:
    """Predictions of nodes whose subtrees end before `end`, for several outputs."""
    return OutputPredictions(outputs, take_trees(tree.forest, [tree.index]), node, end)
