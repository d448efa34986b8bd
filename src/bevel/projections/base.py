"""What every distribution of directions answers, and the checks they share."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from bevel.counts import resolve_count
from bevel.errors import wrong_type, wrong_value


@dataclass(frozen=True)
class FamilySpec:
    """One of the samplers that the trainer runs at each node, in resolved numbers."""

    kind: str
    n_draws: int
    n_nonzeros: int = 0
    flip: bool = False
    per_node: bool = False


@dataclass(frozen=True)
class Projection(ABC):
    """What every distribution of directions answers; not used by itself."""

    name: ClassVar[str]

    def default_draws(self, n_features: int, regression: bool) -> int:
        """Draws per node when `n_projections="auto"`: √p, or p/3 in regression."""
        return max(1, n_features // 3) if regression else resolve_count("auto", "sqrt", n_features)

    def most_draws(self, n_numeric: int) -> int | None:  # noqa: ARG002
        """Distinct directions that exist, None when they are drawn with replacement."""
        return None

    @abstractmethod
    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        """Describe draws among the numeric features to the trainer; raises if impossible."""

    def shrunk_to(self, n_numeric: int) -> Projection:  # noqa: ARG002
        """Reduce default settings to what so few features allow; used when asked for by name."""
        return self


def check_real(name: str, value: object) -> None:
    remedy = "Values from 1 to 5 are usual."
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise wrong_type(name, "a positive number", value, remedy)
    if not 0.0 < float(value) < float("inf"):
        raise wrong_value(name, "a positive number", value, remedy)


def check_integer(name: str, value: object) -> None:
    remedy = "Pass a whole number of features."
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise wrong_type(name, "an integer of at least 1", value, remedy)
    if value < 1:
        raise wrong_value(name, "an integer of at least 1", value, remedy)


def check_fits(name: str, value: float, n_numeric: int) -> None:
    if value > n_numeric:
        required = f"at most the number of numeric features ({n_numeric})"
        raise wrong_value(name, required, value, f"Use {n_numeric} or less.")
