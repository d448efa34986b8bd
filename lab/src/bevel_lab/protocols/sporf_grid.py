"""Numbers of candidates d: all pairs with λ (SPORF 5.2), and at most p of them (thesis 3.3.7)."""

from collections.abc import Iterator, Mapping
from typing import Any

from bevel.tuning.candidates import DENSITIES, POWERS
from bevel_lab.cells import Cell
from bevel_lab.protocols import simulated
from bevel_lab.protocols.base import SETS, Plan, Protocol
from bevel_lab.protocols.claims import ABOUT, NOT_ABOVE, Claim, Side
from bevel_lab.protocols.grids import combining
from bevel_lab.protocols.layout import NOTHING, Variants, cells_of, fully_grown_trees
from bevel_lab.protocols.sets import chosen_sets
from bevel_lab.protocols.sporf import N_TREES, SPORF, load_fold, n_folds, size
from bevel_lab.systems.base import Grid, Task
from bevel_lab.systems.ours import UP_TO_P

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
    """500 trees; d as a power of p, λp as the mean number of features in a direction.

    λ is a share: where there are fewer features than λp, it is 1.
    """
    own = {"n_projections": cell.setting["candidates"], "most_density": cell.setting["combined"]}
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

NAME = "restricted-budget"
PARITY, ORTHANT = "sparse-parity", "orthant"
RERF, RF, FOREST_RC = "sporf", "random-forest", "forest-rc"


def restricted_cells(plan: Plan) -> Iterator[Cell]:
    rows = simulated.QUICK_ROWS if plan.quick else simulated.ROWS
    names = [name for name in (PARITY, ORTHANT) if not plan.only or name in plan.only]
    cases = [(name, simulated.rows_of(rows[name])) for name in names]
    repeats = simulated.QUICK_REPEATS if plan.quick else simulated.N_REPEATS
    return cells_of(NAME, plan, cases, n_repeats=repeats)


def _signs(task: Task) -> list[dict[str, object]]:
    numbers = [number for number in DENSITIES if number <= task.p]
    return [{"n_projections": d, "density": number} for d in UP_TO_P for number in numbers]


RESTRICTED = Protocol(
    NAME,
    "Tomita's thesis, 3.3.7.2 and Figure 3.9",
    "Error on sparse parity and orthant with d at most p, so that all forests cost what RF does.",
    default_systems=(RERF, RF, FOREST_RC),
    cells=restricted_cells,
    load=simulated.load,
    parameters=simulated.paper_trees,
    size=simulated.size,
    tuned=True,
    grids={RERF: Grid(_signs), **combining(UP_TO_P)},
    other_grids={"combined": combining(UP_TO_P, fewest=2)},
    figures=("error-against-rows",),
    claims=(
        Claim(
            "With d at most p RerF still errs less than RF on sparse parity",
            *("3.3.7.2, Figure 3.9", Side(RERF), Side(RF)),
            data=(PARITY,),
        ),
        Claim(
            "With d at most p RerF performs as well as or better than F-RC on sparse parity",
            *("3.3.7.2, Figure 3.9", Side(RERF), Side(FOREST_RC), NOT_ABOVE),
            data=(PARITY,),
        ),
        Claim(
            "With d at most p RerF performs as well as RF on orthant (within 2 points)",
            *("3.3.7.2, Figure 3.9; 2 points are ours", Side(RERF), Side(RF), ABOUT),
            margin=0.02,
            data=(ORTHANT,),
        ),
        Claim(
            "With d at most p RerF performs as well as or better than F-RC on orthant",
            *("3.3.7.2, Figure 3.9", Side(RERF), Side(FOREST_RC), NOT_ABOVE),
            data=(ORTHANT,),
        ),
    ),
)

PROTOCOLS = (GRID, RESTRICTED)
