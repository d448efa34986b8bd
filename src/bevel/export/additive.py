"""Boosted forests, which the exports do not write yet."""

from __future__ import annotations

from bevel.forest.fitted_forest import FittedForest

__all__ = ["refuse_additive"]


def refuse_additive(fitted: FittedForest, what: str) -> None:
    """Raise if the trees of a forest add up instead of being averaged."""
    if fitted.additive is not None:
        raise NotImplementedError(
            f"{what} needs a forest whose trees are averaged or vote; got gradient boosting, which "
            "it cannot write yet. Use save and bevel.load, or pickle."
        )
