"""Conditions on a row, as text; several conditions on one subject are merged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bevel.errors import join_names
from bevel.text.decimals import written

__all__ = ["Condition", "conjunction", "together"]

MOST_LABELS = 6


@dataclass(frozen=True)
class Condition:
    """Condition that a row must satisfy to take one side of a split.

    Attributes
    ----------
    subject : str
        Feature, or combination of features.
    low, high : float
        Bounds of the subject's value.
    low_included, high_included : bool
        Whether the bounds themselves are allowed.
    labels : tuple of str or None
        Allowed labels of a nominal column.
    missing : bool or None
        Whether a missing value satisfies it; None where missing values do not occur.
    terms : tuple
        Terms of the subject, if its text abbreviates them; otherwise empty.
    """

    subject: str
    low: float = -math.inf
    high: float = math.inf
    low_included: bool = False
    high_included: bool = True
    labels: tuple[str, ...] | None = None
    missing: bool | None = None
    terms: tuple[tuple[int, float], ...] = ()

    def __str__(self) -> str:
        return self._stated() + (" or missing" if self.missing else "")

    def _stated(self) -> str:
        if self.labels is not None:
            return f"{self.subject} in {{{join_names(self.labels, MOST_LABELS)}}}"
        over, under = "≥" if self.low_included else ">", "≤" if self.high_included else "<"
        if math.isinf(self.low):
            return f"{self.subject} {under} {written(self.high)}"
        if math.isinf(self.high):
            return f"{self.subject} {over} {written(self.low)}"
        lower = "≤" if self.low_included else "<"
        return f"{written(self.low)} {lower} {self.subject} {under} {written(self.high)}"

    def and_also(self, other: Condition) -> Condition:
        """Intersection with another condition on the same subject."""
        missing = None if self.missing is None else bool(self.missing and other.missing)
        if self.labels is not None and other.labels is not None:
            both = tuple(label for label in self.labels if label in other.labels)
            return replace(self, labels=both, missing=missing)
        low, low_out = max((self.low, not self.low_included), (other.low, not other.low_included))
        high, high_in = min((self.high, self.high_included), (other.high, other.high_included))
        return replace(
            self,
            low=low,
            high=high,
            low_included=not low_out,
            high_included=high_in,
            missing=missing,
        )


def conjunction(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Conjunction of conditions, one for each subject, in the order of their first mention."""
    drawn: dict[object, Condition] = {}
    for condition in conditions:
        about = condition.terms or condition.subject
        known = drawn.get(about)
        drawn[about] = condition if known is None else known.and_also(condition)
    return tuple(drawn.values())


def together(conditions: Sequence[Condition]) -> str:
    """Conjunction of conditions as text."""
    texts = [f"({c})" if c.missing and len(conditions) > 1 else str(c) for c in conditions]
    return " and ".join(texts) or "always"
