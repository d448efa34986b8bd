"""Images: directions on patches of neighbouring pixels (Tomita's thesis, 3.3.8).

The thesis has images of bars; pairs of handwritten digits are added where a folder has MNIST.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel import datasets
from bevel_lab.cells import Cell
from bevel_lab.protocols import digits
from bevel_lab.protocols.base import BOTH, Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOVE, Claim, Side
from bevel_lab.protocols.layout import Case, Setting, Variants, cells_of, trees

__all__ = ["PROTOCOLS"]

N_IMAGES, QUICK_IMAGES = (10, 20, 50), (10,)
N_TEST = 1_000
N_DIGITS = 4_000  # images of a pair from which training and test images are drawn
N_REPEATS, QUICK_REPEATS = 30, 2
N_TREES = 300
BARS_SHAPE = (20, 20)
NEAR_PERFECT, FAR_FROM_IT = 0.05, 0.20  # error

# The control: as many pixels, but anywhere.
VARIANTS: Variants = {"s-rerf": ({"shuffle": False}, {"shuffle": True})}


def cells(plan: Plan) -> Iterator[Cell]:
    numbers = QUICK_IMAGES if plan.quick else N_IMAGES
    settings: list[Setting] = [{"n_train": number} for number in numbers]
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    cases: list[Case] = [("bars", settings)] if not plan.only or "bars" in plan.only else []
    cases += [(name, settings) for name in digits.chosen_pairs(plan)]
    return cells_of("bars", plan, cases, n_repeats=repeats, variants=VARIANTS)


def load(cell: Cell, plan: Plan) -> Problem:
    """Half of the training images of either class: of ten drawn freely, two may be of one class."""
    n_train = cell.setting["n_train"]
    if cell.data in digits.PAIRS:
        table = digits.open_pair(cell.data, plan.data, N_DIGITS, cell.experiment_seed)
        order = np.random.default_rng(cell.seed).permutation(len(table.y))
        X, y = table.X[order], table.y[order]
        train = _balanced(y, n_train)
        rest = np.setdiff1d(np.arange(len(y)), train)[:N_TEST]
        return Problem(X[train], y[train], X[rest], y[rest])
    streams = np.random.default_rng(cell.seed).spawn(2)
    X, y = datasets.bars(20 * n_train, random_state=streams[0])
    train = _balanced(y, n_train)
    return Problem(X[train], y[train], *datasets.bars(N_TEST, random_state=streams[1]))


def _balanced(y: NDArray[Any], n_train: int) -> NDArray[np.int64]:
    """The first rows of either class, half of `n_train` each."""
    return np.concatenate([np.flatnonzero(y == label)[: n_train // 2] for label in np.unique(y)])


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    given: dict[str, Any] = dict(trees(cell, plan, N_TREES))
    if cell.system == "s-rerf":
        given |= {"shape": _shape(cell), "shuffle": cell.setting["shuffle"]}
    return given


def size(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    height, width = _shape(cell)
    return int(cell.setting["n_train"]) * height * width


def _shape(cell: Cell) -> tuple[int, int]:
    return digits.SHAPE if cell.data in digits.PAIRS else BARS_SHAPE


FIRST = {"n_train": N_IMAGES[0]}
STRUCTURED = Side("s-rerf", {**FIRST, "shuffle": False})
BARS = Protocol(
    "bars",
    "Tomita 2018, Generalized linear splitting rules (thesis), 3.3.8 and Figure 3.11",
    "Error on images of horizontal or vertical bars, and of pairs of digits, from 10 to 50 images.",
    default_systems=("s-rerf", "sporf", "random-forest"),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    source=BOTH,
    left_out=digits.what_is_missing,
    figures=("error-against-rows",),
    claims=(
        Claim(
            "S-RerF achieves near-perfect accuracy (error below 5 %) with just ten images",
            *("3.3.8, Figure 3.11B", STRUCTURED),
            data=("bars",),
            level=NEAR_PERFECT,
        ),
        *(
            Claim(
                f"{label} does not (error above 20 %)",
                *("3.3.8, Figure 3.11B", side, None, ABOVE),
                data=("bars",),
                level=FAR_FROM_IT,
            )
            for label, side in (
                ("RF", Side("random-forest", FIRST)),
                ("The default RerF", Side("sporf", FIRST)),
                ("The control", Side("s-rerf", {**FIRST, "shuffle": True})),
            )
        ),
        *(
            Claim(
                f"S-RerF errs less than {label} for all numbers of images",
                *("3.3.8, Figure 3.11B", Side("s-rerf", {"shuffle": False}), side),
                data=("bars",),
            )
            for label, side in (
                ("RF", Side("random-forest")),
                ("the default RerF", Side("sporf")),
                ("the control", Side("s-rerf", {"shuffle": True})),
            )
        ),
    ),
)

PROTOCOLS = (BARS,)
