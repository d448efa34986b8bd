"""The fitted forest, and fitted models of one table together: all that prediction, files, exports,
analysis and text read of an estimator.

An estimator makes one at the end of `fit` and hands it out as `fitted_forest_`. Nobody else looks
into estimators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel._types import AnyFloats, Float32s, Floats
from bevel.data.encoding import Encoding, Reading
from bevel.forest.aggregation import Aggregation, WeightedSum
from bevel.forest.flat_forest import FlatForest
from bevel.forest.outputs import forest_of_output
from bevel.forest.predictor import PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.quantiles import LeafTargets
from bevel.forest.records import MemberRecord
from bevel.forest.task import SeveralOutputs, Task

__all__ = ["FittedCombination", "FittedForest", "Predictor", "StoredTargets"]


class Predictor(Protocol):
    """What `PackedPredictor` and the predictor of a mapped file have in common."""

    @property
    def forest(self) -> FlatForest:
        """The whole forest."""

    @property
    def whole(self) -> PackedPredictor:
        """The predictor of the whole forest in memory."""

    @property
    def packed(self) -> _core.PackedForest:
        """The forest laid out for speed."""

    def leaves(self, X: Float32s, n_threads: int) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree."""

    def paths(self, X: Float32s, n_threads: int) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes."""


class StoredTargets(Protocol):
    """Kept targets in a file, which are read when they are first needed."""

    def load(self, forest: FlatForest) -> LeafTargets:
        """The targets, read and checked."""


@dataclass(frozen=True, eq=False)
class FittedForest:
    """A fitted forest.

    Attributes
    ----------
    predictor : Predictor
        Predicts from the trees, in memory or in a mapped file.
    encoding : Encoding
        How the columns of a table become what trees read.
    feature_names : tuple of str or None
        Names of the columns, if the training table had names.
    task : Task
        What is predicted: classes, numbers, several outputs, times or scores.
    aggregation : Aggregation
        How the numbers of the trees come together: their mean, votes, or a sum with a link.
    provenance : Provenance
        Where the trees come from: bags, seed, and what was chosen.
    targets : LeafTargets, StoredTargets or None
        Training targets of the leaves, if they were kept.
    """

    predictor: Predictor
    encoding: Encoding
    feature_names: tuple[str, ...] | None
    task: Task
    aggregation: Aggregation
    provenance: Provenance
    targets: LeafTargets | StoredTargets | None = None

    @property
    def forest(self) -> FlatForest:
        """The trees."""
        return self.predictor.forest

    @property
    def members(self) -> tuple[FittedForest, ...]:
        """The models that predict together: itself alone; see `FittedCombination`."""
        return (self,)

    @property
    def packed_predictor(self) -> PackedPredictor:
        """The predictor of a forest in memory; reads and checks all of a mapped one."""
        return self.predictor.whole

    @property
    def n_features(self) -> int:
        """Columns of the training table."""
        return len(self.encoding.levels)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; x0, x1, ... if the fit saw none."""
        return self.feature_names or tuple(f"x{feature}" for feature in range(self.n_features))

    @property
    def is_packed(self) -> bool:
        """Whether the trees are in memory, where they can read rows as they are."""
        return isinstance(self.predictor, PackedPredictor)

    @property
    def kept_targets(self) -> LeafTargets | None:
        """Training targets of the leaves, read from the file if need be."""
        if self.targets is None or isinstance(self.targets, LeafTargets):
            return self.targets
        return self.targets.load(self.forest)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Labels of the classes of the target; None without classes, and of several outputs."""
        return self.task.classes

    def columns(self, X: AnyFloats, n_threads: int, reading: Reading | None = None) -> Floats:
        """Predictions of rows, encoded or with a reading: probabilities, or a column of values."""
        return self.aggregation.columns(self.packed_predictor, X, n_threads, reading)

    def output(self, k: int) -> FittedForest:
        """The fitted forest of one of several outputs, as if it were the only one."""
        task = self.task
        if not isinstance(task, SeveralOutputs):
            raise ValueError(
                "output needs a forest of several outputs; got a forest of one. Use it as it is."
            )
        return replace(
            self,
            predictor=PackedPredictor(forest_of_output(self.forest, task, k)),
            task=task.of(k),
            # the row weights already include the class weights of all outputs
            provenance=replace(self.provenance, class_weight=None),
        )

    def with_names(self, names: tuple[str, ...]) -> FittedForest:
        """The forest with names of the columns."""
        return replace(self, feature_names=names)

    def in_memory(self) -> FittedForest:
        """Return a copy that reads nothing from a file; raises ModelFileError if it is damaged."""
        predictor, targets = self.packed_predictor, self.kept_targets
        if predictor is self.predictor and targets is self.targets:
            return self
        return replace(self, predictor=predictor, targets=targets)


@dataclass(frozen=True, eq=False)
class FittedCombination:
    """Fitted models of one table, whose predictions are added up with weights.

    Attributes
    ----------
    members : tuple of FittedForest
        The models, which have the same encoding and task.
    aggregation : WeightedSum
        Their weights.
    record : MemberRecord
        How the weights were chosen.
    """

    members: tuple[FittedForest, ...]
    aggregation: WeightedSum
    record: MemberRecord

    @property
    def encoding(self) -> Encoding:
        """How the columns of a table become what the trees of all members read."""
        return self.members[0].encoding

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if the training table had names."""
        return self.members[0].feature_names

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; x0, x1, ... if the fit saw none."""
        return self.members[0].names

    @property
    def task(self) -> Task:
        """What is predicted."""
        return self.members[0].task

    @property
    def n_features(self) -> int:
        """Columns of the training table."""
        return self.members[0].n_features

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Labels of the classes of the target; None without classes."""
        return self.task.classes

    @property
    def is_packed(self) -> bool:
        """Whether all trees are in memory, where they can read rows as they are."""
        return all(each.is_packed for each in self.members)

    def columns(self, X: AnyFloats, n_threads: int, reading: Reading | None = None) -> Floats:
        """Predictions of rows, encoded or with a reading: probabilities, or a column of values."""
        found = (each.columns(X, n_threads, reading) for each in self.members)
        return self.aggregation.combine(found)

    def with_names(self, names: tuple[str, ...]) -> FittedCombination:
        """The combination with names of the columns in each member."""
        return replace(self, members=tuple(each.with_names(names) for each in self.members))

    def in_memory(self) -> FittedCombination:
        """Return a copy that reads nothing from a file; raises ModelFileError if it is damaged."""
        members = tuple(each.in_memory() for each in self.members)
        same = all(one is other for one, other in zip(members, self.members, strict=True))
        return self if same else replace(self, members=members)
