"""SPORF 5.2: every pair of the number of candidates d and the density λ, on held-out rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from bevel.tuning.candidates import DENSITIES, POWERS
from bevel_lab.cells import Cell
from bevel_lab.protocols.base import SETS, Plan, Protocol
from bevel_lab.protocols.claims import NOT_ABOVE, Claim, Side
from bevel_lab.protocols.layout import NOTHING, Variants, cells_of, fully_grown_trees
from bevel_lab.protocols.sets import chosen_sets
from bevel_lab.protocols.sporf import N_TREES, SPORF, load_fold, n_folds, size

__all__ = ["PAIRS", "PROTOCOLS"]

PAIRS: Variants = {
    "sporf": tuple(
        {"candidates": power, "combined": number} for power in POWERS for number in DENSITIES
    )
}


def cells(plan: Plan) -> Iterator[Cell]:
    cases = [(each.name, NOTHING) for each in chosen_sets(plan)]
    return cells_of("sporf-grid", plan, cases, n_repeats=1, n_folds=n_folds(plan), variants=PAIRS)


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """500 trees; d as a power of p, λp as the mean number of features in a direction."""
    own = {"n_projections": cell.setting["candidates"], "density": cell.setting["combined"]}
    return {**fully_grown_trees(cell, plan, N_TREES), **own}


GRID = Protocol(
    "sporf-grid",
    f"{SPORF}, 5.2 and Figure 6",
    "Kappa on held-out rows of every pair of candidates d and density λ.",
    default_systems=("sporf",),
    cells=cells,
    load=load_fold,
    parameters=parameters,
    size=size,
    source=SETS,
    claims=(
        Claim(
            "(p², 4/p) is not worse than the default (p, 3/p)",
            *("5.2, Figure 6", Side("sporf", {"candidates": "p", "combined": 3})),
            Side("sporf", {"candidates": "p**2", "combined": 4}),
            direction=NOT_ABOVE,
            metric="kappa",
            by_set=True,
        ),
    ),
)

PROTOCOLS = (GRID,)
