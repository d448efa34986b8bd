"""Warm starts: what a fit with ``warm_start=True`` keeps of the earlier fit."""

from __future__ import annotations

import warnings

from bevel.forest.fitted_forest import FittedForest


class WarmStart:
    """Estimators whose fits may add trees to those of an earlier fit."""

    n_estimators: int
    warm_start: bool
    _fitted: FittedForest

    def _trees_are_kept(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_fitted")

    def _trees_to_keep(self) -> FittedForest | None:
        """The forest of an earlier fit that this one adds to."""
        if not self._trees_are_kept():
            return None
        n_before = self._fitted.forest.n_trees
        if self.n_estimators < n_before:
            raise ValueError(
                f"n_estimators must be at least the {n_before} trees that exist when "
                f"warm_start=True; got {self.n_estimators}. Raise it, or set warm_start=False."
            )
        if self.n_estimators == n_before:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=4,
            )
        return self._fitted
