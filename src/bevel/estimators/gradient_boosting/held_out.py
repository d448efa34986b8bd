"""Choice of the training rows that a boosting estimator holds out, if any."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.training.boosting import BoostingTarget
from bevel.training.boosting_schedule import (
    EARLY_STOPPING_ROWS,
    FEWEST_ROWS_TO_HOLD_OUT,
    choose_validation_fraction,
)
from bevel.training.user_loss import UserLoss

__all__ = ["HoldsOutRows"]


class HoldsOutRows(ABC):
    """Decides by the parameters of the estimator whether rows are held out."""

    early_stopping: bool | str
    refit: bool | str
    validation_fraction: float | str
    max_iter: int | str
    warm_start: bool
    loss: Any
    scoring: Any

    @abstractmethod
    def _loss(self) -> tuple[str, str, int]:
        """Loss as the core names it, link, and number of outputs."""

    def _hold_out(
        self, target: BoostingTarget, seed: int, choose: Callable[..., npt.NDArray[np.bool_]]
    ) -> tuple[BoostingTarget, bool]:
        """Choose the rows that validate, if any, and whether all rows are fitted again afterwards.

        choose: function such as `hold_out` of validation.py.
        """
        n_rows = len(target.values)
        automatic = self.early_stopping == "auto"
        is_small = n_rows <= EARLY_STOPPING_ROWS
        may_refit = self._may_refit(target, n_rows)
        if automatic and is_small and not may_refit and not self._scores():
            return target, False
        if not automatic and not self.early_stopping:
            return target, False
        automatic_refit = automatic and is_small and may_refit
        refits = automatic_refit if self.refit == "auto" else bool(self.refit)
        share = self.validation_fraction
        if share == "auto":
            share = choose_validation_fraction(refits)
        try:
            validates = choose(target, hasattr(self, "classes_"), share, seed)
        except ValueError:
            if not automatic or self._scores():
                raise
            return target, False  # such as a class with a single row
        return replace(target, validates=validates), refits

    def _may_refit(self, target: BoostingTarget, n_rows: int) -> bool:
        """Whether "auto" may find the number of iterations on held-out rows of a small table."""
        return (
            self.max_iter == "auto"
            and self.refit is not False
            and not self.warm_start
            and n_rows >= FEWEST_ROWS_TO_HOLD_OUT
            and self._measures(target)
        )

    def _measures(self, target: BoostingTarget) -> bool:
        """Whether there is a loss or score that early stopping can compare."""
        if not callable(self.loss) or self._scores():
            return True
        return self._make_user_loss(target).measures()

    def _scores(self) -> bool:
        """Whether a scorer, not the loss, decides when to stop."""
        return not (isinstance(self.scoring, str) and self.scoring == "loss")

    def _make_user_loss(self, target: BoostingTarget) -> UserLoss:
        return UserLoss(self.loss, target.values.copy(), self._loss()[2])
