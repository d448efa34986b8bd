"""SPORF's Figure 6: median rank of the pairs (d, λ) over data sets."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bevel.plots.canvas import panels
from bevel.tuning.candidates import DENSITIES, POWERS
from bevel_lab.cells import OK, Result
from bevel_lab.running.store import ResultStore

__all__ = ["draw_median_ranks", "median_ranks"]


def median_ranks(results: Sequence[Result]) -> tuple[NDArray[np.float64], int]:
    """Median over data sets of the mean rank over folds, d by λ, and the number of sets.

    Rank 1 is the largest kappa on the held-out rows of a fold; ties share the mean of theirs. Folds
    that lack a pair do not count.
    """
    kappa: dict[tuple[str, int, int], dict[tuple[str, int], float]] = {}
    for each in results:
        if each.status == OK and each.cell.system == "sporf":
            pair = (str(each.cell.setting["candidates"]), int(each.cell.setting["combined"]))
            fold = (each.cell.data, each.cell.repeat, each.cell.fold)
            kappa.setdefault(fold, {})[pair] = each.metrics["kappa"]
    pairs = [(power, number) for power in POWERS for number in DENSITIES]
    by_set: dict[str, list[NDArray[np.float64]]] = {}
    for (data, *_), found in kappa.items():
        if all(pair in found for pair in pairs):
            by_set.setdefault(data, []).append(rankdata([-found[pair] for pair in pairs]))
    if not by_set:
        raise ValueError(
            "Median ranks need a fold with all pairs of d and λ; got none. Run bevel lab run "
            "sporf-grid to the end of a data set."
        )
    means = [np.mean(ranks, axis=0) for ranks in by_set.values()]
    shape = (len(POWERS), len(DENSITIES))
    return np.median(means, axis=0).reshape(shape), len(by_set)


def draw_median_ranks(_share: float, _seed: int, data: Path | None) -> tuple[Any, list[str]]:
    """The heat map of a run of sporf-grid."""
    assert data is not None
    ranks, n_sets = median_ranks(list(ResultStore(data).results()))
    with panels(None, "sporf-6", (1, 1), (5.6, 4.6)) as grid:
        axes = grid[0, 0]
        image = axes.imshow(ranks, cmap="cividis_r", origin="lower")
        axes.set_xticks(range(len(DENSITIES)), [f"{number}/p" for number in DENSITIES])
        axes.set_yticks(range(len(POWERS)), POWERS)
        for row, column in np.ndindex(*ranks.shape):
            middle = (ranks.min() + ranks.max()) / 2
            ink = "white" if ranks[row, column] > middle else "black"
            axes.text(column, row, f"{ranks[row, column]:.1f}", ha="center", color=ink)
        axes.set(xlabel="density λ", ylabel="candidates d")
        axes.set_title(f"Median rank over {n_sets} data sets, lower is better", loc="left")
        axes.figure.colorbar(image, ax=axes)
        figure = axes.figure
    best = np.unravel_index(int(ranks.argmin()), ranks.shape)
    default = ranks[POWERS.index("p"), DENSITIES.index(3)]
    lines = [
        f"best: d = {POWERS[best[0]]}, λ = {DENSITIES[best[1]]}/p, median rank {ranks.min():.1f}",
        f"default: d = p, λ = 3/p, median rank {default:.1f}; {n_sets} data sets",
    ]
    return figure, lines
