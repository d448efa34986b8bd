"""The stages of a boosting fit: choice of directions, number of iterations, fit of all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bevel.data.dataset import Dataset
from bevel.estimators.gradient_boosting.boosted_trees import _additive, _record
from bevel.forest.fitted_forest import FittedForest
from bevel.projections.base import FamilySpec
from bevel.projections.families import read_projection
from bevel.training.boosting import (
    BoostingFit,
    BoostingOptions,
    BoostingTarget,
    resolve_directions,
)
from bevel.training.boosting_schedule import REFIT_FACTOR, choose_refit_rate, is_clearly_better
from bevel.training.feature_constraints import FeatureConstraints
from bevel.training.validation_scorer import ValidationScorer

__all__ = ["FIRST_STAGE", "BoostingWork", "FitsInStages"]

# Names of the stages in progress bars.
FIRST_STAGE = "boosting"
FEATURES_STAGE = "boosting, single features"
REFIT_STAGE = "boosting all rows"


@dataclass(frozen=True, eq=False)
class BoostingWork:
    """Rows, targets and options that a stage grows trees with."""

    dataset: Dataset
    target: BoostingTarget
    constraints: FeatureConstraints
    options: BoostingOptions
    seed: int
    before: FittedForest | None = None
    scorer: ValidationScorer | None = None


class FitsInStages(ABC):
    """Compares directions on validation rows, if there are any, and may refit on all rows."""

    learning_rate: float | str
    warm_start: bool

    @property
    @abstractmethod
    def n_iter_(self) -> int:
        """Number of iterations in the model."""

    @abstractmethod
    def _members(self) -> Any:
        """Projections chosen by the user; None: the library chooses."""

    @abstractmethod
    def _boost(
        self, work: BoostingWork, families: list[FamilySpec], stage: str = FIRST_STAGE
    ) -> BoostingFit:
        """Grow the trees of a stage."""

    @abstractmethod
    def _assemble(self, work: BoostingWork, fitted: BoostingFit) -> FittedForest:
        """Make the fitted forest of the trees of a stage."""

    def _fit_in_stages(self, work: BoostingWork, refits: bool) -> None:
        candidates = self._candidates(work)
        families, fitted = candidates[0], self._boost(work, candidates[0])
        if len(candidates) > 1 and not fitted.interrupted:
            families, fitted = self._choose(work, fitted, *candidates)
        self._fitted = self._assemble(work, fitted)
        if fitted.interrupted:
            raise self._interruption()
        if refits:
            self._fitted = self._refit(work, families)

    def _interruption(self) -> KeyboardInterrupt:
        """The exception of Ctrl-C, raised once the estimator has the trees grown so far."""
        return KeyboardInterrupt(
            f"fit was interrupted; the estimator has the {self.n_iter_} iterations of its last "
            "stage that were done, and can predict by them."
        )

    def _candidates(self, work: BoostingWork) -> list[list[FamilySpec]]:
        """Directions to try: features with combinations; in validated regressions, features alone.

        In classification, held-out rows have not led to better choices of directions.
        """
        members = self._members()
        kinds = [members]
        validates = work.target.validates is not None
        if members is None and validates and not self.warm_start and not self._is_classifier():
            kinds.append(read_projection("axis", "auto"))
        n_rows, levels = len(work.dataset.X), work.dataset.encoding.levels
        found = [resolve_directions(kind, n_rows, levels, work.constraints) for kind in kinds]
        return found if found[0] != found[-1] else found[:1]

    def _choose(
        self,
        work: BoostingWork,
        first: BoostingFit,
        families: list[FamilySpec],
        features_alone: list[FamilySpec],
    ) -> tuple[list[FamilySpec], BoostingFit]:
        """Choose features alone if they are clearly better; after Ctrl-C, the first fit."""
        grow = partial(self._boost, work, features_alone, FEATURES_STAGE)
        fitted = _unless_interrupted(grow)
        if fitted is None:
            return families, replace(first, interrupted=True)
        if is_clearly_better(fitted.validation_loss, first.validation_loss):
            return features_alone, fitted
        return families, first

    def _refit(self, work: BoostingWork, families: list[FamilySpec]) -> FittedForest:
        """Fit all rows, with a number of iterations that follows from the held-out ones.

        The validation scores and residuals of the first fit are kept, since none of its trees was
        grown on these rows. After Ctrl-C the estimator has the first fit.
        """
        first = self._fitted
        work = replace(
            work,
            options=self._refit_options(work.options),
            target=replace(work.target, validates=None),
            scorer=None,
        )
        fitted = _unless_interrupted(partial(self._boost, work, families, REFIT_STAGE))
        if fitted is None:
            raise self._interruption()
        whole = self._assemble(work, fitted)
        known, own = _record(first), _record(whole)
        record = replace(known, training_score=own.training_score)
        return replace(whole, additive=replace(_additive(whole), record=record))

    def _is_classifier(self) -> bool:
        return hasattr(self, "classes_")

    def _refit_options(self, options: BoostingOptions) -> BoostingOptions:
        rate = options.learning_rate
        if self.learning_rate == "auto":
            rate = choose_refit_rate(self._is_classifier())
        n_iter = round(REFIT_FACTOR * self.n_iter_ * options.learning_rate / rate)
        return replace(options, learning_rate=rate, max_iter=max(1, n_iter), n_iter_no_change=0)


def _unless_interrupted(grow: Callable[[], BoostingFit]) -> BoostingFit | None:
    """Grow a later stage; None after Ctrl-C, so that the earlier stages are used."""
    try:
        fitted = grow()
    except KeyboardInterrupt:
        return None
    return None if fitted.interrupted else fitted
