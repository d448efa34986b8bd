"""What a rotation study has found: the matrix of errors, what is in it, and a verdict in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.extras import import_optional
from bevel_lab.cells import OK
from bevel_lab.studies.layout import ROTATION_GROUP, rotation_seed
from bevel_lab.studies.variance import VarianceSplit, split_variance

__all__ = ["RotationGain", "RotationStudy", "read_studies"]

Floats = npt.NDArray[np.float64]
SIGNIFICANT = 0.01


@dataclass(frozen=True)
class RotationGain:
    """A study beside one of a learner that does not rotate, on the same folds.

    Attributes
    ----------
    difference : float
        Mean error of the study minus that of the other one: below 0 where rotations help.
    standard_error : float
        Of the difference, over fold groups.
    p_value : float
        Of a paired t-test over fold groups.
    n_better, n_rotation_groups : int
        Rotation groups whose mean error is below the other study's, of how many.
    sampling_error : float
        Standard error of the study's error as an estimate for new rows.
    """

    difference: float
    standard_error: float
    p_value: float
    n_better: int
    n_rotation_groups: int
    sampling_error: float

    @property
    def rotations_help(self) -> str:
        """ "yes", "no" (they harm) or "undecided"."""
        if not self.p_value < SIGNIFICANT:
            return "undecided"
        return "yes" if self.difference < 0.0 else "no"

    @property
    def verdict(self) -> str:
        """Whether rotations help, as a sentence."""
        what = {
            "yes": "Rotations help",
            "no": "Rotations do not help: they raise the error",
            "undecided": "No significant difference to the learner without rotations",
        }[self.rotations_help]
        return self._sentence(what, f"{self._better} err less than it")

    def beside(self, name: str, other: str) -> str:
        """Which of two learners errs less, as a sentence; the other one may rotate as well."""
        what = {
            "yes": f"{name} errs less than {other}",
            "no": f"{name} errs more than {other}",
            "undecided": f"No significant difference of {name} and {other}",
        }[self.rotations_help]
        return self._sentence(what, f"{self._better} of {name} err less than {other}")

    @property
    def _better(self) -> str:
        return f"{self.n_better} of {self.n_rotation_groups} rotation groups"

    def _sentence(self, what: str, how_many: str) -> str:
        numbers = f"{self.difference:+.4f} ± {self.standard_error:.4f}, p = {self.p_value:.2g}"
        groups = f"; {how_many}" if self.n_rotation_groups > 1 else ""
        text = f"{what} ({numbers}){groups}."
        if self.rotations_help != "undecided" and abs(self.difference) < self.sampling_error:
            text += (
                f" That holds for these rows; the sampling error of either is {_plus_minus(self)}, "
                "so that other rows of the same kind may give another result."
            )
        return text


@dataclass(frozen=True, eq=False, repr=False)
class RotationStudy(PrintedResult):
    """Errors of a learner on all pairs of fold groups and rotation groups.

    Attributes
    ----------
    errors : ndarray of shape (n_fold_groups, n_rotation_groups)
        Error of the cross-validation of each pair: the share of wrong labels, or the mean squared
        error. A learner that was not run for each rotation group has a single column.
    n_rows : int
        Rows of the data set; each is tested once in every entry.
    sampling_error : float
        Standard error of an entry as an estimate for new rows: √(variance of the rows' losses / n).
    rotation_seeds : ndarray of int64, shape (n_rotation_groups,)
        What makes each group again: the estimator's ``rotation_state``, or its ``random_state`` if
        it has no other.
    measure : str
        "error rate" or "mean squared error".
    name : str
        Of the learner.
    """

    errors: Floats
    n_rows: int
    sampling_error: float
    rotation_seeds: npt.NDArray[np.int64]
    measure: str = "error rate"
    name: str = ""

    @property
    def fold_group_means(self) -> Floats:
        """Mean error of each fold group over the rotation groups."""
        return np.asarray(self.errors.mean(axis=1))

    @property
    def rotation_group_means(self) -> Floats:
        """Mean error of each rotation group over the fold groups."""
        return np.asarray(self.errors.mean(axis=0))

    @property
    def best_rotation_group(self) -> int:
        """The rotation group of the lowest mean error, from 0; the first of several.

        Its mean is that of the luckiest of many: it is too low where rotations do not matter.
        """
        return int(np.argmin(self.rotation_group_means))

    @property
    def best_rotation_seed(self) -> int:
        """Seed of the best rotation group."""
        return int(self.rotation_seeds[self.best_rotation_group])

    @cached_property
    def split(self) -> VarianceSplit:
        """The variance, split between folds, rotations and the rest."""
        return split_variance(self.errors)

    @property
    def rotations_matter(self) -> str:
        """Does it matter which rotations are used: "yes", "a little", "no" or "undecided".

        "yes" and "a little" are significant at 1 %; their spread is above, or below, that of the
        fold groups. "undecided": not significant, yet the spread may be above that of the folds.
        """
        if min(self.errors.shape) < 2:
            return "undecided"
        if self.split.p_rotations < SIGNIFICANT:
            return "yes" if self.split.rotations >= self.split.folds else "a little"
        return "undecided" if self.split.rotations_at_most > self.split.folds else "no"

    @property
    def is_large_enough(self) -> bool:
        """Whether the folds alone move the error by less than new rows would.

        Where they do not, the learner is unstable or the set too small to judge it (3.3.2).
        """
        if len(self.errors) < 2:
            return False
        folds = self.split.folds if self.errors.shape[1] > 1 else float(self.errors.var(ddof=1))
        return bool(np.sqrt(folds) <= self.sampling_error)

    @property
    def verdict(self) -> str:
        """Do rotations matter on this data, and is the set large enough to decide?"""
        return f"{self._words_on_rotations()} {self._words_on_size()}"

    def against(self, plain: RotationStudy) -> RotationGain:
        """Compare with a learner that does not rotate, studied on the same fold groups.

        Parameters
        ----------
        plain : RotationStudy
            Of the same rows and with the same ``random_state``, so that folds are the same; its
            rotation groups may be fewer.

        Returns
        -------
        RotationGain
        """
        mine, other = self.fold_group_means, plain.fold_group_means
        if self.n_rows != plain.n_rows or len(mine) != len(other) or len(mine) < 2:
            required = f"a study of the same {self.n_rows} rows and {len(mine)} ≥ 2 fold groups"
            got = f"one of {plain.n_rows} rows and {len(other)} fold groups"
            remedy = "Study both with the same X, y, fold_groups and random_state."
            raise ValueError(f"plain must be {required}; got {got}. {remedy}")
        differences = mine - other
        difference = float(differences.mean())
        error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
        return RotationGain(
            difference,
            error,
            _two_sided(difference, error, len(differences) - 1),
            int(np.count_nonzero(self.rotation_group_means < other.mean())),
            len(self.rotation_group_means),
            self.sampling_error,
        )

    def to_pandas(self) -> Any:
        """The matrix as a data frame: fold groups down, rotation groups across."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        n_folds, n_rotations = self.errors.shape
        return pandas.DataFrame(
            self.errors, group_names("FG", n_folds), group_names("RG", n_rotations)
        )

    def _printed(self) -> PrintedTable:
        n_folds, n_rotations = self.errors.shape
        of = f" of {self.name}" if self.name else ""
        means = self.rotation_group_means
        best = self.best_rotation_group
        lines: list[tuple[str, float | str]] = [
            (f"mean {self.measure}", f"{self.errors.mean():.4f}"),
            ("sampling error", _plus_minus(self)),
        ]
        if min(self.errors.shape) > 1:
            spreads = [np.sqrt(each) for each in (self.split.folds, self.split.rotations)]
            spreads.append(np.sqrt(self.split.rest))
            names = ("between fold groups", "between rotation groups", "of the rest")
            for name, spread, share in zip(names, spreads, self.split.shares, strict=True):
                lines.append((f"deviation {name}", f"{spread:.4f} ({share:.0%} of the variance)"))
            lines.append(("best rotation group", f"RG-{best + 1:02d} ({means[best]:.4f})"))
        size = f"{n_folds} fold × {n_rotations} rotation groups, {self.n_rows} rows"
        return PrintedTable(f"Rotation study{of}: {size}", (), lines, (self.verdict,))

    def _words_on_rotations(self) -> str:
        if min(self.errors.shape) < 2:
            return "A verdict on rotations needs two rotation groups and two fold groups."
        split = self.split
        turned, folded = np.sqrt(split.rotations), np.sqrt(split.folds)
        chance = f"p = {split.p_rotations:.2g}"
        means = self.rotation_group_means
        best, worst = means.min(), means.max()
        choice = f"group means run from {best:.4f} to {worst:.4f}"
        if self.rotations_matter == "yes":
            return (
                f"It matters which rotations are used: they move the error by {turned:.4f} "
                f"({chance}), folds by {folded:.4f}; {choice}, and a choice among them is "
                "worth its while."
            )
        if self.rotations_matter == "a little":
            return (
                f"It matters a little which rotations are used: they move the error by "
                f"{turned:.4f} ({chance}), less than folds do ({folded:.4f}); {choice}."
            )
        most = np.sqrt(split.rotations_at_most)
        if self.rotations_matter == "no":
            return (
                "It does not matter which rotations are used: groups differ no more than by chance "
                f"({chance}), by {most:.4f} at most, and folds by {folded:.4f}."
            )
        return (
            f"Undecided: rotation groups differ no more than by chance ({chance}), but may move "
            f"the error by up to {most:.4f}, and folds do by {folded:.4f}. Study more groups."
        )

    def _words_on_size(self) -> str:
        rows = f"{self.n_rows:,} rows"
        if len(self.errors) < 2:
            return f"Whether {rows} are enough cannot be decided from one fold group."
        if self.is_large_enough:
            return (
                f"The set is large enough: {rows} determine the error to {_plus_minus(self)}, and "
                "folds move it by less."
            )
        return (
            f"The set is too small, or the learner too unstable, to judge: folds alone move "
            f"the error by more than the sampling error of {rows} ({_plus_minus(self)})."
        )


def read_studies(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], RotationStudy]:
    """Studies of the cells of a store by data set and system; complete fold groups only.

    Parameters
    ----------
    rows : iterable of mappings
        ``ResultStore.frame()``.

    Returns
    -------
    dict of (data, system) to RotationStudy
        Without those of which no fold group is complete.
    """
    parts: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] == OK and ROTATION_GROUP in row["setting"]:
            parts.setdefault((row["data"], row["system"]), []).append(row)
    studies = {key: _study(key[1], cells) for key, cells in parts.items()}
    return {key: study for key, study in studies.items() if study is not None}


def _study(name: str, rows: Sequence[Mapping[str, Any]]) -> RotationStudy | None:
    metric = "error" if "error" in rows[0] else "mse"
    groups = sorted({row["repeat"] for row in rows})
    turned = sorted({row["setting"][ROTATION_GROUP] for row in rows})
    sums = np.zeros((3, len(groups), len(turned)))  # losses, their squares, rows
    for row in rows:
        place = (groups.index(row["repeat"]), turned.index(row["setting"][ROTATION_GROUP]))
        error = float(row[metric])
        squared = float(row.get("squared_loss", error))  # the square of 0 or 1 is itself
        sums[(slice(None), *place)] += row["n_test"] * np.array([error, squared, 1.0])
    first = rows[0]
    whole = (sums[2] == first["n_train"] + first["n_test"]).all(axis=1)  # each row was tested
    if not whole.any():
        return None
    losses, squares, n_rows = sums[:, whole]
    errors = losses / n_rows
    variance = np.maximum(squares / n_rows - errors**2, 0.0)
    seeds = [rotation_seed(first["experiment_seed"], first["data"], each) for each in turned]
    return RotationStudy(
        errors=errors,
        n_rows=int(n_rows[0, 0]),
        sampling_error=float(np.sqrt(variance.mean() / n_rows[0, 0])),
        rotation_seeds=np.array(seeds, dtype=np.int64),
        measure="error rate" if metric == "error" else "mean squared error",
        name=name,
    )


def group_names(letters: str, count: int) -> list[str]:
    """FG-01, FG-02, … as in the thesis."""
    return [f"{letters}-{number + 1:02d}" for number in range(count)]


def _two_sided(difference: float, error: float, freedom: int) -> float:
    if error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return float(2.0 * special.stdtr(freedom, -abs(difference / error)))


def _plus_minus(result: RotationGain | RotationStudy) -> str:
    return f"±{result.sampling_error:.4f}"
