"""The figures by name, with where they are from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bevel_lab.paper_figures import (
    boundaries,
    directions,
    grid,
    large_sets,
    menze,
    neighbours,
    posteriors,
    rotations,
    times,
    trees,
)

__all__ = ["FIGURES", "PaperFigure"]


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper.

    Attributes
    ----------
    name, paper, sentence : str
        As ``bevel lab figure --list`` prints them.
    draw : callable
        ``draw(share, seed, data)`` gives a figure and the lines that say what is in it. `share` is
        that of the paper's size (rows, trees, repeats); `data` the folder of sets, or None.
    needs_data : bool
        Whether it needs a folder.
    """

    name: str
    paper: str
    sentence: str
    draw: Callable[[float, int, Path | None], tuple[Any, list[str]]]
    needs_data: bool = False


_ALL = (
    PaperFigure(
        "blaser-1.2",
        "Blaser, Figure 1.2",
        "Uniform rotations of a vector against angles drawn at random.",
        rotations.uniform_and_naive,
    ),
    PaperFigure(
        "blaser-2.1",
        "Blaser, Figure 2.1",
        "The weights CUT and EXP give to sorted rotations.",
        rotations.weight_functions,
    ),
    PaperFigure(
        "lin-jeon",
        "Lin and Jeon, examples; Theorem 3",
        "Error against the terminal node size k, with the bound.",
        neighbours.error_against_k,
    ),
    PaperFigure(
        "tomita-2.1",
        "Tomita's thesis, Figure 2.1",
        "Sparse parity along the best first direction of RF, F-RC and RR-RF.",
        posteriors.first_directions,
    ),
    PaperFigure(
        "tomita-2.2",
        "Tomita's thesis, Figure 2.2",
        "Posteriors of sparse parity and of five forests, and their Hellinger distances.",
        posteriors.posterior_maps,
    ),
    PaperFigure(
        "sporf-11",
        "SPORF, Figures 11 and 12; Tomita's thesis, Figures 3.5 and 3.6",
        "Strength and correlation of trees on four problems; bias and variance on sparse parity.",
        trees.strength_and_bias,
    ),
    PaperFigure(
        "sporf-6",
        "SPORF, Figure 6",
        "Median rank of the pairs (d, λ); --data is the folder of a run of sporf-grid.",
        grid.draw_median_ranks,
        needs_data=True,
    ),
    PaperFigure(
        "sporf-8",
        "SPORF, Figures 8 to 10; Tomita's thesis, Figure 3.8",
        "Time of training by features, rows and threads; of one prediction, packed and plain.",
        times.training_and_prediction,
    ),
    PaperFigure(
        "sporf-9",
        "SPORF, Figures 9 and 10; Tomita's thesis, Figure 3.10",
        "Time per tree, speed-up by threads and single predictions on the large sets of a folder.",
        large_sets.large_set_times,
        needs_data=True,
    ),
    PaperFigure(
        "menze-1",
        "Menze et al., Figure 1",
        "A tree along the axes before and after the features are made to correlate.",
        boundaries.correlated_tree,
    ),
    PaperFigure(
        "menze-4",
        "Menze et al., Figure 4",
        "Boundaries of a tree, RF, an oblique tree and oRF on a mixture of Gaussians.",
        boundaries.mixture_boundaries,
    ),
    PaperFigure(
        "menze-2",
        "Menze et al., Figure 2",
        "Directions of LDA, PCA and ridge regression with growing penalties.",
        directions.regularized_directions,
    ),
    PaperFigure(
        "menze-3",
        "Menze et al., Figure 3",
        "Error against the number of trees and of features at a node.",
        menze.sizes,
        needs_data=True,
    ),
    PaperFigure(
        "menze-5",
        "Menze et al., Figure 5",
        "Differences in bias and variance of RF, oRF-ridge and oRF-rnd, by kind of data.",
        menze.bias_and_variance_by_kind,
        needs_data=True,
    ),
)
FIGURES: dict[str, PaperFigure] = {figure.name: figure for figure in _ALL}
