"""The results of a run as arrays: cases × systems × splits.

A *case* is a data set in a setting. Some settings make another system of a system instead: RR-RF
with ranked features competes with plain RR-RF on the same case. Means are taken only where a system
has finished every split of a case that any system has, so that no system is judged on fewer or
easier rows than another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel_lab.cells import OK, canonical

__all__ = ["Case", "Tally", "contender"]

Row = Mapping[str, Any]

# Settings that belong to a system, with the words for them; None, or the plain value, has no word.
VARIANTS: Mapping[str, Callable[[Any], str]] = {
    "scaling": lambda value: str(value).replace("_", " ") if value is not None else "",
    "trees": lambda value: f"{value} trees",
    "flip": lambda value: "flips" if value else "",
    "shuffle": lambda value: "shuffled" if value else "",
}


def contender(system: str, setting: Mapping[str, Any]) -> str:
    """A system with what is special about it: ``rr-rf (rank)``."""
    words = [write(setting[name]) for name, write in VARIANTS.items() if name in setting]
    inside = ", ".join(word for word in words if word)
    return f"{system} ({inside})" if inside else system


@dataclass(frozen=True)
class Case:
    """A data set in a setting, and the size of its problem."""

    data: str
    setting: Mapping[str, Any]
    n_train: int
    n_test: int
    n_features: int
    n_classes: int

    @property
    def name(self) -> str:
        """As in messages: iris (noise_dims 10)."""
        inside = ", ".join(f"{name} {value}" for name, value in self.setting.items())
        return f"{self.data} ({inside})" if inside else self.data

    @property
    def test_share(self) -> float:
        """Rows tested as a share of all; 0 for simulations, whose splits share no rows.

        Only they test more rows than they train on.
        """
        return self.n_test / (self.n_train + self.n_test) if self.n_test <= self.n_train else 0.0


class Tally:
    """Finished cells of a run.

    Parameters
    ----------
    rows : sequence of mappings
        ``ResultStore.frame()``; those that failed or were skipped do not count.
    systems : sequence of str, default=()
        The order of the systems; others follow as they come.
    """

    def __init__(self, rows: Sequence[Row], systems: Sequence[str] = ()) -> None:
        self.rows = [_competing(row) for row in rows if row["status"] == OK]
        seen = list(dict.fromkeys(row["system"] for row in self.rows))
        order = {name: place for place, name in enumerate(systems)}
        seen.sort(key=lambda name: order.get(name, order.get(name.split(" (")[0], len(order))))
        self.systems = tuple(seen)
        cases: dict[tuple[str, str], Case] = {}
        for row in self.rows:
            cases.setdefault(_case_key(row), _case(row))
        self._case_keys = list(cases)
        self.cases = tuple(cases.values())
        self.splits = tuple(sorted({(row["repeat"], row["fold"]) for row in self.rows}))
        self.present: NDArray[np.bool_] = ~np.isnan(self._fill(lambda _: 1.0))

    def part(self, keep: Sequence[Case]) -> "Tally":
        """A tally of some of the cases of the run."""
        kept = {(case.data, canonical(dict(case.setting))) for case in keep}
        return Tally([row for row in self.rows if _case_key(row) in kept], self.systems)

    @property
    def measure(self) -> str:
        """What systems are ranked by: the error, or the squared error in regression."""
        return "error" if any("error" in row for row in self.rows) else "mse"

    @property
    def setting_names(self) -> tuple[str, ...]:
        """What was varied: names whose values are not the same in all cases."""
        names = dict.fromkeys(name for case in self.cases for name in case.setting)
        return tuple(
            name
            for name in names
            if len({canonical(case.setting.get(name)) for case in self.cases}) > 1
        )

    @property
    def whole(self) -> NDArray[np.bool_]:
        """``[case, system]``: has the system finished all splits that any system has?"""
        due = np.asarray(self.present.any(axis=1))[:, None, :]  # of a case, by any system
        return np.asarray((self.present | ~due).all(axis=2) & self.present.any(axis=2))

    def scores(self, metric: str) -> NDArray[np.float64]:
        """Values of a metric, ``[case, system, split]``; NaN where there is none."""
        return self._fill(lambda row: float(row.get(metric, np.nan)))

    def table(self, metric: str) -> NDArray[np.float64]:
        """Means over the splits, ``[case, system]``; NaN where a system is not `whole`."""
        scores = self.scores(metric)
        known = np.isfinite(scores)
        count = known.sum(axis=2)
        mean = np.where(known, scores, 0.0).sum(axis=2) / np.maximum(count, 1)
        return np.where(self.whole & (count > 0), mean, np.nan)

    def _fill(self, value: Any) -> NDArray[np.float64]:
        case_of = {key: number for number, key in enumerate(self._case_keys)}
        system_of = {name: number for number, name in enumerate(self.systems)}
        split_of = {split: number for number, split in enumerate(self.splits)}
        filled = np.full((len(self.cases), len(self.systems), len(self.splits)), np.nan)
        for row in self.rows:
            place = (
                case_of[_case_key(row)],
                system_of[row["system"]],
                split_of[row["repeat"], row["fold"]],
            )
            filled[place] = value(row)
        return filled


def _competing(row: Row) -> Row:
    """The row with the settings of its system moved into the system's name."""
    setting = row["setting"]
    if not VARIANTS.keys() & setting.keys():
        return row
    rest = {name: value for name, value in setting.items() if name not in VARIANTS}
    return {**row, "system": contender(row["system"], setting), "setting": rest}


def _case_key(row: Row) -> tuple[str, str]:
    return row["data"], canonical(dict(row["setting"]))


def _case(row: Row) -> Case:
    sizes = (int(row[name]) for name in ("n_train", "n_test", "n_features", "n_classes"))
    return Case(row["data"], dict(row["setting"]), *sizes)
