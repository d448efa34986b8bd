"""Images of bars: directions that know which pixels are neighbours (Tomita's thesis, 3.3.8)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bevel import datasets
from bevel import projections as P
from bevel.lab.cells import Cell
from bevel.lab.protocols.base import Plan, Problem, Protocol
from bevel.lab.protocols.claims import ABOVE, Claim, Side
from bevel.lab.protocols.layout import Setting, Variants, cells_of, trees

__all__ = ["PROTOCOLS"]

N_IMAGES, QUICK_IMAGES = (10, 20, 50), (10,)
N_TEST = 1_000
N_REPEATS, QUICK_REPEATS = 30, 2
N_TREES = 300
SHAPE = (20, 20)
LARGEST_PATCH = 20  # the thesis gives no sizes; the author's code sums the pixels of a patch
NEAR_PERFECT, FAR_FROM_IT = 0.05, 0.20  # error

# The control: as many pixels, but anywhere.
VARIANTS: Variants = {"s-rerf": ({"shuffle": False}, {"shuffle": True})}


def cells(plan: Plan) -> Iterator[Cell]:
    numbers = QUICK_IMAGES if plan.quick else N_IMAGES
    settings: list[Setting] = [{"n_train": number} for number in numbers]
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    cases = [("bars", settings)]
    return cells_of("bars", plan, cases, n_repeats=repeats, variants=VARIANTS)


def load(cell: Cell, plan: Plan) -> Problem:  # noqa: ARG001
    """Half of the training images of either class: of ten drawn freely, two may be of one class."""
    n_train = cell.setting["n_train"]
    streams = np.random.default_rng(cell.seed).spawn(2)
    X, y = datasets.bars(20 * n_train, random_state=streams[0])
    train = np.concatenate([np.flatnonzero(y == label)[: n_train // 2] for label in (0, 1)])
    return Problem(X[train], y[train], *datasets.bars(N_TEST, random_state=streams[1]))


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """Patches of up to 20 pixels a side, whose pixels are added."""
    given: dict[str, Any] = dict(trees(cell, plan, N_TREES))
    if cell.system == "s-rerf":
        shuffle = cell.setting["shuffle"]
        patches = P.Patches(SHAPE, max=LARGEST_PATCH, weights="ones", shuffle=shuffle)
        given |= {"shape": SHAPE, "projection": patches}
    return given


def size(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    return int(cell.setting["n_train"]) * SHAPE[0] * SHAPE[1]


FIRST = {"n_train": N_IMAGES[0]}
STRUCTURED = Side("s-rerf", {**FIRST, "shuffle": False})
BARS = Protocol(
    "bars",
    "Tomita 2018, Generalized linear splitting rules (thesis), 3.3.8 and Figure 3.11",
    "Error on images of horizontal or vertical bars, from 10, 20 and 50 of them.",
    default_systems=("s-rerf", "sporf", "random-forest"),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    figures=("error-against-rows",),
    claims=(
        Claim(
            "S-RerF achieves near-perfect accuracy (error below 5 %) with just ten images",
            *("3.3.8, Figure 3.11B", STRUCTURED),
            level=NEAR_PERFECT,
        ),
        *(
            Claim(
                f"{label} does not (error above 20 %)",
                *("3.3.8, Figure 3.11B", side, None, ABOVE),
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
