"""A surrogate tree in the form that `tree` draws."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel.analysis.results import SurrogateTree

__all__ = ["SurrogateRules", "surrogate_rules"]


@dataclass(frozen=True)
class _Predictions:
    """Texts and shares of the nodes."""

    texts: tuple[str, ...]
    classes: tuple[str, ...]
    means: NDArray[np.float64]  # (n_nodes, n_classes), or (n_nodes, 1) in regression

    @property
    def range(self) -> tuple[float, float]:
        return float(self.means.min()), float(self.means.max())

    def summary(self, place: int) -> str:
        return self.texts[place]


@dataclass(frozen=True)
class SurrogateRules:
    """Nodes in preorder; -1 where a node has no child or no parent."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    parent: NDArray[np.int64]
    depth: NDArray[np.int64]
    split_texts: tuple[Any, ...]
    predictions: _Predictions
    cut: NDArray[np.bool_]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def n_leaves(self) -> int:
        return int(np.sum(self.left < 0))


def surrogate_rules(tree: SurrogateTree) -> SurrogateRules:
    """The tree's nodes, with the text of each."""
    n_nodes = len(tree.tests)
    parent, depth = np.full(n_nodes, -1), np.zeros(n_nodes, dtype=np.int64)
    inner = [place for place, test in enumerate(tree.tests) if test is not None]
    left = np.full(n_nodes, -1)
    left[inner] = np.array(inner, dtype=np.int64) + 1
    for place in inner:
        for child in (int(left[place]), int(tree.right[place])):
            parent[child], depth[child] = place, depth[place] + 1
    splits = tuple(
        None if test is None else SimpleNamespace(sides=(test.text(tree.names),))
        for test in tree.tests
    )
    first, *_, rounding = str(tree).split("\n")
    return SurrogateRules(
        left=left,
        right=np.asarray(tree.right, dtype=np.int64),
        parent=parent,
        depth=depth,
        split_texts=splits,
        predictions=_predictions(tree),
        cut=np.zeros(n_nodes, dtype=bool),
        notes=(f"{first[:1].upper()}{first[1:]}.", rounding),
    )


def _predictions(tree: SurrogateTree) -> _Predictions:
    texts = tuple(tree.claim(place) for place in range(len(tree.tests)))
    if not tree.is_classifier:
        means = np.asarray(tree.prediction, dtype=np.float64).reshape(-1, 1)
        return _Predictions(texts, (), means)
    labels = [str(label) for label in tree.prediction]
    classes = tuple(sorted(set(labels)))
    means = np.array([[label == each for each in classes] for label in labels], dtype=np.float64)
    return _Predictions(texts, classes, means)
