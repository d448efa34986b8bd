"""Claims of a paper, in a form that can be compared with results.

A claim compares two sides, each a system in some of the settings. Sides are paired wherever all
else is equal (data set, repeat, fold and the other settings); the claim holds if the whole 95 %
interval of the mean difference lies where the paper says, fails if the whole interval lies
elsewhere, and is undecided otherwise. Everything here works on the flat rows of
``ResultStore.frame()``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bevel_lab.cells import OK, canonical
from bevel_lab.statistics.differences import paired_interval

__all__ = ["TOLERANCE", "Claim", "Side", "Verdict", "check_claim", "not_above"]

Row: TypeAlias = Mapping[str, Any]
Unit: TypeAlias = tuple[Any, ...]  # data set, repeat, fold, other settings
BELOW, ABOVE, ABOUT, NOT_ABOVE = "below", "above", "about", "not above"
TOLERANCE = 0.02  # what may be higher by more is not called as good, however wide the noise


@dataclass(frozen=True)
class Side:
    """A system in some of the settings: those that agree with `where`.

    `metric` is the claim's unless given.
    """

    system: str
    where: Mapping[str, Any] = field(default_factory=dict)
    metric: str | None = None

    @property
    def words(self) -> str:
        """As a table shows it: sporf (noise_dims 10)."""
        inside = ", ".join(f"{name} {value}" for name, value in self.where.items())
        return f"{self.system} ({inside})" if inside else self.system


@dataclass(frozen=True)
class Claim:
    """One thing that a paper says.

    Attributes
    ----------
    text : str
        In a sentence.
    source : str
        Figure, table or section.
    left, right : Side
        `right` is None where `left` is compared with `level`.
    direction : {"below", "above", "about", "not above"}
        Where left − right lies: below or above `margin`; within ± `margin`; or not above `margin`,
        which is what papers mean by "as good as" (`not_above`).
    metric : str
        A metric or field of the results.
    level : float
        What takes the place of `right`, or is added to it.
    factor : float
        Of `right`: 0.5 asks for half of it.
    margin : float
    data, without : tuple of str
        Data sets that are looked at (empty: all), and those that are not.
    since : mapping, default=None
        Both sides are taken as the change since they were in these settings.
    spread : str, default=None
        A setting, over whose values the standard deviation is taken of both sides.
    over : tuple of str
        Settings whose values are averaged before sides are paired.
    by_set : bool
        Take means over each data set first, so that sets are the sample; otherwise runs are.
    """

    text: str
    source: str
    left: Side
    right: Side | None = None
    direction: str = BELOW
    metric: str = "error"
    level: float = 0.0
    factor: float = 1.0
    margin: float = 0.0
    data: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    since: Mapping[str, Any] | None = None
    spread: str | None = None
    over: tuple[str, ...] = ()
    by_set: bool = False

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems it speaks of."""
        return (self.left.system,) if self.right is None else (self.left.system, self.right.system)

    def is_about(self, data: str) -> bool:
        """Whether a data set is looked at."""
        return (not self.data or data in self.data) and data not in self.without


@dataclass(frozen=True)
class Verdict:
    """What was seen of a claim: left − right, its 95 % interval, over how many pairs."""

    claim: Claim
    left: float
    right: float
    difference: float
    low: float
    high: float
    n_pairs: int

    @property
    def holds(self) -> bool | None:
        """None if the interval does not decide, or if there are fewer than two pairs."""
        margin, low, high = self.claim.margin, self.low, self.high
        if self.n_pairs < 2:
            return None
        if self.claim.direction == NOT_ABOVE:
            return not_above(low - margin, high - margin)
        inside, outside = {
            BELOW: (high < margin, low >= margin),
            ABOVE: (low > margin, high <= margin),
            ABOUT: (-margin <= low and high <= margin, low > margin or high < -margin),
        }[self.claim.direction]
        return True if inside else False if outside else None

    @property
    def word(self) -> str:
        """One of "holds", "fails", "undecided" and "not enough results"."""
        if self.n_pairs < 2:
            return "not enough results"
        return {True: "holds", False: "fails", None: "undecided"}[self.holds]

    @property
    def words(self) -> str:
        """Both sides, the difference and its interval, in one line."""
        right = f" against {self.right:.4g}" if self.n_pairs else ""
        interval = f"{self.difference:+.4g} [{self.low:+.4g}, {self.high:+.4g}]"
        return f"{self.left:.4g}{right}: {interval}, {self.n_pairs} pairs"


def not_above(low: float, high: float) -> bool | None:
    """Whether a difference with this interval is zero or below; None if the interval is too wide.

    False if the whole interval is above zero. True if it is not, and ends at most `TOLERANCE`
    above.
    """
    if low > 0.0:
        return False
    return True if high <= TOLERANCE else None


def check_claim(claim: Claim, rows: Sequence[Row]) -> Verdict:
    """Hold a claim against the results of a run.

    Parameters
    ----------
    claim : Claim
    rows : sequence of mappings
        ``ResultStore.frame()``; rows that failed are left out, and so are their pairs.
    """
    rows = [row for row in rows if row["status"] == OK and claim.is_about(row["data"])]
    left = _values(claim, claim.left, rows)
    if claim.right is None:
        right = dict.fromkeys(left, claim.level)
    else:
        found = _values(claim, claim.right, rows)
        right = {unit: claim.factor * value + claim.level for unit, value in found.items()}
    units = [unit for unit in left if unit in right]
    if claim.by_set:
        left, right = _by_set(left, units), _by_set(right, units)
        units = list(left)
    ours, theirs = (np.array([side[unit] for unit in units]) for side in (left, right))
    return _verdict(claim, ours, theirs)


def _verdict(claim: Claim, left: NDArray[np.float64], right: NDArray[np.float64]) -> Verdict:
    if not len(left):
        return Verdict(claim, np.nan, np.nan, np.nan, -np.inf, np.inf, 0)
    seen = paired_interval(left, right)
    means = float(left.mean()), float(right.mean())
    return Verdict(claim, *means, seen.mean, seen.low, seen.high, seen.n)


def _values(claim: Claim, side: Side, rows: Iterable[Row]) -> dict[Unit, float]:
    """One value for each unit: all that tells rows apart but the system and what the claim sets."""
    metric = side.metric or claim.metric
    mine = [
        row
        for row in rows
        if row["system"] == side.system and not np.isnan(row.get(metric, np.nan))
    ]
    ignored = {*side.where, *(claim.since or {}), *claim.over}
    if claim.spread:
        ignored.add(claim.spread)
    if claim.right is not None:  # what one side fixes and the other has not cannot pair
        ignored |= {*claim.left.where, *claim.right.where}
    now = _grouped(mine, side.where, metric, ignored)
    if claim.spread:
        return {unit: float(np.std(each, ddof=1)) for unit, each in now.items() if len(each) > 1}
    values = {unit: float(np.mean(each)) for unit, each in now.items()}
    if claim.since is None:
        return values
    before = _grouped(mine, {**side.where, **claim.since}, metric, ignored)
    return {unit: values[unit] - float(np.mean(before[unit])) for unit in values if unit in before}


def _grouped(
    rows: Iterable[Row], where: Mapping[str, Any], metric: str, ignored: set[str]
) -> dict[Unit, list[float]]:
    groups: dict[Unit, list[float]] = {}
    for row in rows:
        setting = row["setting"]
        if any(setting.get(name) != value for name, value in where.items()):
            continue
        others = {name: value for name, value in setting.items() if name not in ignored}
        unit = (row["data"], row["repeat"], row["fold"], canonical(others))
        groups.setdefault(unit, []).append(float(row[metric]))
    return groups


def _by_set(values: Mapping[Unit, float], units: Iterable[Unit]) -> dict[Unit, float]:
    groups: dict[Unit, list[float]] = {}
    for unit in units:
        groups.setdefault((unit[0],), []).append(values[unit])
    return {name: float(np.mean(each)) for name, each in groups.items()}
