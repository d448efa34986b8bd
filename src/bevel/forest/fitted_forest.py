"""The fitted forest: all that prediction, files, exports, analysis and text read of an estimator.

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
from bevel._types import Float32s
from bevel.data.encoding import Encoding
from bevel.errors import SeveralOutputsError, join_names
from bevel.forest.additive import Additive
from bevel.forest.bags import Bags
from bevel.forest.flat_forest import FlatForest
from bevel.forest.outputs import Outputs, forest_of_output
from bevel.forest.predictor import PackedPredictor
from bevel.forest.quantiles import LeafTargets
from bevel.forest.records import FamilyRecord, Isolation, RotationRecord, SurvivalRecord

__all__ = ["FittedForest", "Predictor", "StoredTargets"]


class Predictor(Protocol):
    """What `PackedPredictor` and the predictor of a mapped file have in common."""

    @property
    def forest(self) -> FlatForest:
        """The whole forest."""

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
    classes : ndarray or None
        Labels of the classes; None in regression, and of several outputs, which have their own.
    hard : bool
        Whether trees vote; otherwise class shares are averaged.
    bags : Bags or None
        How the bags were drawn; None if trees were chosen, or differ in it.
    seed : int or None
        Seed of the trees 0, 1, ...; None if only some of these trees were kept.
    class_weight : dict, str or None
        As given to the estimator.
    tuned_out_of_bag : str
        The projection that chose its penalties on out-of-bag rows; empty if none did.
    targets : LeafTargets, StoredTargets or None
        Training targets of the leaves, if they were kept.
    rotations : RotationRecord or None
        Record of a regularised rotation ensemble.
    additive : Additive or None
        How the trees of a boosted forest add up; None where trees are averaged or vote. Its trees
        have values in their leaves, whether there are classes or not.
    families : FamilyRecord or None
        Record of a forest whose families share the trees (`projection="auto"`).
    power : float
        That mean class shares are raised to (`calibration`); 1 leaves them as they are.
    isolation : Isolation or None
        How the path lengths of an isolation forest become scores; None in other forests.
    survival : SurvivalRecord or None
        Record of a survival forest, whose leaves have a curve beside their value, the mortality.
    outputs : Outputs or None
        Names and classes of several outputs; None of one.
    """

    predictor: Predictor
    encoding: Encoding
    feature_names: tuple[str, ...] | None
    classes: npt.NDArray[Any] | None
    hard: bool
    bags: Bags | None
    seed: int | None
    class_weight: Any = None
    tuned_out_of_bag: str = ""
    targets: LeafTargets | StoredTargets | None = None
    rotations: RotationRecord | None = None
    additive: Additive | None = None
    families: FamilyRecord | None = None
    power: float = 1.0
    isolation: Isolation | None = None
    survival: SurvivalRecord | None = None
    outputs: Outputs | None = None

    @property
    def forest(self) -> FlatForest:
        """The trees."""
        return self.predictor.forest

    @property
    def packed_predictor(self) -> PackedPredictor:
        """The predictor of a forest in memory; reads and checks all of a mapped one."""
        predictor = self.predictor
        return predictor if isinstance(predictor, PackedPredictor) else PackedPredictor(self.forest)

    @property
    def n_features(self) -> int:
        """Columns of the training table."""
        return len(self.encoding.levels)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; x0, x1, ... if the fit saw none."""
        return self.feature_names or tuple(f"x{feature}" for feature in range(self.n_features))

    @property
    def kept_targets(self) -> LeafTargets | None:
        """Training targets of the leaves, read from the file if need be."""
        if self.targets is None or isinstance(self.targets, LeafTargets):
            return self.targets
        return self.targets.load(self.forest)

    def check_one_output(self, caller: str) -> None:
        """Raise SeveralOutputsError if there are several outputs, which `caller` cannot take."""
        if self.outputs is not None:
            names = join_names([repr(name) for name in self.outputs.names], limit=3)
            raise SeveralOutputsError(
                f"{caller} needs a forest of one target; got a forest of {len(self.outputs)} "
                f"outputs ({names}). Ask for one of them: forest.output({self.outputs.names[0]!r})."
            )

    def output(self, k: int) -> FittedForest:
        """The fitted forest of one of several outputs, as if it were the only one."""
        outputs = self.outputs
        if outputs is None:
            raise ValueError(
                "output needs a forest of several outputs; got a forest of one. Use it as it is."
            )
        forest = forest_of_output(self.forest, outputs, k)
        return replace(
            self,
            predictor=PackedPredictor(forest),
            classes=None if outputs.classes is None else outputs.classes[k],
            class_weight=None,  # the row weights already include the class weights of all outputs
            outputs=None,
        )

    def in_memory(self) -> FittedForest:
        """Return a copy that reads nothing from a file; raises ModelFileError if it is damaged."""
        predictor, targets = self.packed_predictor, self.kept_targets
        if predictor is self.predictor and targets is self.targets:
            return self
        return replace(self, predictor=predictor, targets=targets)
