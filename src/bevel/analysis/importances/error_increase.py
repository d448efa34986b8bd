"""The increase of the error when features are perturbed: shared by permutation and negation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats, Ints32
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.groups import Group, layers_of
from bevel.analysis.importances.result import Importance
from bevel.analysis.importances.strata import among
from bevel.errors import NoOutOfBagError, wrong_value
from bevel.training.progress import Progress

__all__ = ["WHERE", "ErrorImportance", "Perturbation", "check_error_of", "measure"]


ERRORS_OF = ("forest", "tree")
# Limits on the memory of one call of the core, in numbers: sums of 16 rows, permutations of all
# rows, increases of single trees.
MOST_SUMS, MOST_LENDERS, MOST_INCREASES = 2**19, 2**25, 2**22

# Rows that an error is measured on, by their kind.
WHERE = {
    "new": "given rows (too good if they are training rows)",
    "out-of-bag": "out-of-bag rows",
    "grown on": "training rows, in-bag",
}


@dataclass(frozen=True, eq=False, repr=False)
class ErrorImportance(Importance):
    """Increase of the error when the features of a group are perturbed.

    `values` are means over the repeats, NaN where the perturbation has no meaning; `std` is their
    standard deviation over the repeats, None for one repeat. Beside what `Importance` has:

    Attributes
    ----------
    standard_error : ndarray of shape (n_groups,)
        Standard errors of the values: over rows for the error of the forest, over trees for that of
        a tree. NaN for a single tree.
    repeats : ndarray of shape (n_groups, n_repeats)
        Increase of the error in each repeat.
    error : float
        Error of the unperturbed rows.
    error_of : {"forest", "tree"}
        Kind of error: that of all trees together, or the mean over trees.
    """

    standard_error: Floats = field(default_factory=lambda: np.empty(0))
    repeats: Floats = field(default_factory=lambda: np.empty((0, 0)))
    error: float = np.nan
    error_of: str = "forest"


@dataclass(frozen=True, eq=False)
class Perturbation:
    """Perturbation of features.

    Attributes
    ----------
    kind : str
        Name of the importance.
    replacement : ndarray of float32, shape (n, p), Fortran order
        Replacement of the features.
    permutes : bool
        Whether replacements are permuted among the rows.
    n_repeats : int
        Number of repeats.
    seed : int
        Seed of the permutations.
    doing : str
        Label of the progress bar.
    strata : ndarray of int32, shape (n_groups, n), or None
        Rows of the same stratum of a group are permuted; None: all rows.
    """

    kind: str
    replacement: npt.NDArray[np.float32]
    permutes: bool
    n_repeats: int
    seed: int
    doing: str
    strata: Ints32 | None = None


def check_error_of(error_of: object) -> None:
    """Raise unless it is the name of an error."""
    if error_of not in ERRORS_OF:
        remedy = 'Use "forest" for the error of all trees together.'
        raise wrong_value("error_of", '"forest" or "tree"', error_of, remedy)


@dataclass(frozen=True, eq=False)
class _Increase:
    """Increases of the error for some groups."""

    error: float
    repeats: Floats
    standard_error: Floats


def measure(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    weights: Floats | None,
    groups: Sequence[Group],
    able: Sequence[Group],
    perturbation: Perturbation,
    error_of: str,
    verbose: int,
) -> ErrorImportance:
    """Measure the groups that are `able` to be perturbed; the others are NaN.

    Groups without a common column share a call of the core, as many as fit into memory.
    """
    layers = layers_of(able, _most_groups(analysed, rows, perturbation, error_of))
    n_steps = analysed.forest.n_trees if error_of == "tree" else len(rows.X)
    progress = Progress(0, n_steps * len(layers), bool(verbose), None, label=perturbation.doing)
    repeats = np.full((len(groups), perturbation.n_repeats), np.nan)
    standard_error = np.full(len(groups), np.nan)
    error = np.nan
    with progress:
        for number, layer in enumerate(layers):
            report_progress = _reports(progress, number * n_steps)
            found = _increase(
                analysed, rows, weights, layer, perturbation, error_of, report_progress
            )
            places = [group.number for group in layer]
            repeats[places], standard_error[places] = found.repeats, found.standard_error
            error = found.error
        if progress.wanted:
            progress(n_steps * len(layers))
    return ErrorImportance(
        perturbation.kind,
        tuple(group.name for group in groups),
        repeats.mean(axis=1),
        _sentence(analysed, rows, error, error_of, perturbation),
        std=repeats.std(axis=1) if perturbation.n_repeats > 1 else None,
        standard_error=standard_error,
        repeats=repeats,
        error=error,
        error_of=error_of,
    )


def _sentence(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    error: float,
    error_of: str,
    perturbation: Perturbation,
) -> str:
    """Description of the values in a sentence."""
    n_repeats = perturbation.n_repeats
    what = "classification error" if analysed.forest.n_classes else "mean squared error"
    whose = "of the forest" if error_of == "forest" else "of a tree"
    over = "rows" if error_of == "forest" else "trees"
    spread = f"std over {n_repeats} repeats, " if n_repeats > 1 else ""
    return (
        f"increase of the {what} ({error:.4g}) {whose} on {WHERE[rows.row_kind]}"
        f"{among(perturbation.strata)}; {spread}standard error over {over}"
    )


def _most_groups(
    analysed: AnalysedForest, rows: EvaluationRows, perturbation: Perturbation, error_of: str
) -> int:
    """Number of groups whose sums fit into the memory of one call of the core."""
    forest, n_repeats = analysed.forest, perturbation.n_repeats
    if error_of == "tree":
        most = MOST_INCREASES // (n_repeats * forest.n_trees)
    else:
        most = MOST_SUMS // (n_repeats * max(1, forest.n_classes))
    if perturbation.permutes:
        most = min(most, MOST_LENDERS // (n_repeats * len(rows.X)))
    return max(1, most)


def _reports(progress: Progress, n_before: int) -> Callable[[int], None] | None:
    return (lambda n_done: progress(n_before + n_done)) if progress.wanted else None


def _increase(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    weights: Floats | None,
    layer: Sequence[Group],
    perturbation: Perturbation,
    error_of: str,
    report_progress: Callable[[int], None] | None,
) -> _Increase:
    """Call the core for groups that have no column in common."""
    group = np.full(analysed.forest.n_features, -1, np.int32)
    for number, member in enumerate(layer):
        group[list(member.features)] = number
    keys = np.array([member.number for member in layer], np.uint64)
    how = _core.Replacement(
        group,
        keys,
        perturbation.n_repeats,
        perturbation.permutes,
        perturbation.seed,
        None if perturbation.strata is None else perturbation.strata[keys.astype(np.intp)],
    )
    packed = analysed.predictor.packed
    arguments = (packed, rows.X, perturbation.replacement, how, rows.target, weights, rows.out)
    if error_of == "tree":
        return _over_trees(
            analysed, *_core.tree_errors(*arguments, analysed.n_threads, report_progress)
        )
    return _Increase(
        *_core.forest_errors(*arguments, analysed.hard, analysed.n_threads, report_progress)
    )


def _over_trees(analysed: AnalysedForest, error: Floats, increase: Floats) -> _Increase:
    """Means over trees, without those that evaluate no row."""
    known = ~np.isnan(error)
    if not known.any():
        raise NoOutOfBagError(
            f"{analysed.caller} needs a tree that evaluates a row of weight above zero; got none. "
            "Grow more trees, or give rows weights above zero."
        )
    # Trees side by side in memory: the sums of a group do not depend on the other groups.
    by_tree = np.ascontiguousarray(np.moveaxis(increase[known], 0, -1))
    of_tree = np.ascontiguousarray(by_tree.mean(axis=1))
    n_trees = of_tree.shape[1]
    scatter = of_tree.std(axis=1, ddof=1) if n_trees > 1 else np.full(len(of_tree), np.nan)
    return _Increase(float(error[known].mean()), by_tree.mean(axis=-1), scatter / np.sqrt(n_trees))
