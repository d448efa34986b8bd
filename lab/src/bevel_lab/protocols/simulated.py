"""Experiments on simulations of SPORF: sparse parity, orthant, consistency, trunk, density."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bevel import datasets
from bevel.tuning.candidates import DENSITIES
from bevel_lab.cells import Cell
from bevel_lab.protocols.base import Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOUT, ABOVE, NOT_ABOVE, Claim, Side
from bevel_lab.protocols.grids import COMBINED, SPORF_GRIDS, WIDE
from bevel_lab.protocols.layout import Setting, cells_of, fully_grown_trees, is_ours
from bevel_lab.protocols.measures import directions_of_trunk

__all__ = ["PROTOCOLS", "draw"]

SPORF = "Tomita et al. 2020, Sparse projection oblique randomer forests"
N_TEST, QUICK_TEST = 10_000, 2_000  # 4.3
N_REPEATS, QUICK_REPEATS = 10, 2  # 4.3
N_TREES = 500  # 3.2

# Rows for training. The figures' axes are not printed as text; 5000 and 400 are (4.4).
ROWS = {
    "sparse-parity": (1_000, 5_000, 10_000),
    "orthant": (400, 2_000, 4_000),
    "consistency": (1_000, 3_000, 10_000),
}
QUICK_ROWS = {"sparse-parity": (500, 1_000), "orthant": (200, 400), "consistency": (1_000,)}

# Biau's bound is about infinitely many stripes, on which an axis forest spends every cut that gains
# anything. The papers print neither their number nor a depth. With ten, an axis tree has found them
# all by 14 levels and has not begun with the middle square; much deeper it turns to that, too, and
# much shallower nobody finds the stripes.
N_STRIPES, MAX_DEPTH = 10, 14

GENERATORS: Mapping[str, Callable[..., Any]] = {
    "sparse-parity": datasets.sparse_parity,
    "orthant": datasets.orthant,
    "consistency": datasets.consistency,
    "trunk": datasets.trunk,
}


def draw(
    generate: Callable[..., Any], cell: Cell, plan: Plan, n_train: int, **options: Any
) -> Problem:
    """Training and test rows of a simulation, each from a stream of its own."""
    n_test = QUICK_TEST if plan.quick else N_TEST
    streams = np.random.default_rng(cell.seed).spawn(2)
    train, test = (
        generate(n, random_state=stream, **options)
        for n, stream in zip((n_train, n_test), streams, strict=True)
    )
    return Problem(*train, *test)


def load(cell: Cell, plan: Plan) -> Problem:
    """Rows of the simulation that the cell names, with its number of rows and features."""
    options: dict[str, Any] = {}
    if cell.data == "consistency":
        options["n_stripes"] = N_STRIPES
    if "n_features" in cell.setting:
        options["n_features"] = cell.setting["n_features"]
    return draw(GENERATORS[cell.data], cell, plan, cell.setting["n_train"], **options)


def size(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    """Entries of the training table, with the papers' numbers of features."""
    n_features = {"sparse-parity": 20, "orthant": 6, "consistency": 2, "trunk": 10}[cell.data]
    return int(cell.setting["n_train"] * cell.setting.get("n_features", n_features))


def paper_trees(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """500 trees, fully grown."""
    return fully_grown_trees(cell, plan, N_TREES)


def rows_of(numbers: Sequence[int]) -> list[Setting]:
    """One setting for each number of training rows."""
    return [{"n_train": number} for number in numbers]


def by_rows(name: str, plan: Plan) -> Iterator[Cell]:
    """A simulation at each of its numbers of training rows."""
    settings = rows_of((QUICK_ROWS if plan.quick else ROWS)[name])
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    return cells_of(name, plan, [(name, settings)], n_repeats=repeats)


def against_rows(
    name: str,
    where: str,
    sentence: str,
    *,
    claims: tuple[Claim, ...],
    default_systems: tuple[str, ...] = ("sporf", "random-forest", "forest-rc", "ccf"),
    parameters: Callable[[Cell, Plan], Mapping[str, Any]] = paper_trees,
) -> Protocol:
    """An experiment of SPORF's: the error on a simulation by its number of training rows, tuned."""
    return Protocol(
        name,
        f"{SPORF}, {where}",
        sentence,
        default_systems=default_systems,
        cells=partial(by_rows, name),
        load=load,
        parameters=parameters,
        size=size,
        tuned=True,
        grids=SPORF_GRIDS,
        other_grids=COMBINED,
        figures=("error-against-rows",),
        claims=claims,
    )


SPARSE_PARITY = against_rows(
    "sparse-parity",
    "4.3 and Figure 2C",
    "Error on sparse parity (p = 20, three features matter) against the number of training rows.",
    claims=(
        Claim(
            "On sparse parity SPORF errs at most half as often as RF",
            *("Figure 2C; half is ours", Side("sporf", {"n_train": 5_000})),
            *(Side("random-forest", {"n_train": 5_000}),),
            factor=0.5,
        ),
        Claim(
            "F-RC performs well on sparse parity: it errs less than RF",
            *("4.3, Figure 2C", Side("forest-rc"), Side("random-forest")),
        ),
        Claim(
            "SPORF performs as well as or better than F-RC on sparse parity",
            *("4.3, Figure 2C", Side("sporf"), Side("forest-rc"), NOT_ABOVE),
        ),
        Claim(
            "CCF performs poorly on sparse parity: SPORF errs less",
            *("4.3, Figure 2C", Side("sporf"), Side("ccf")),
        ),
    ),
)


ORTHANT = against_rows(
    "orthant",
    "4.3 and Figure 2F",
    "Error on orthant (p = 6, 64 classes), made for axis-aligned trees, against training rows.",
    claims=(
        Claim(
            "On orthant SPORF performs just as well as RF (within 2 points)",
            *("4.3, Figure 2F", Side("sporf"), Side("random-forest"), ABOUT),
            margin=0.02,
        ),
        Claim(
            "F-RC performs much worse than RF on orthant",
            *("4.3, Figure 2F", Side("forest-rc"), Side("random-forest"), ABOVE),
        ),
        Claim(
            "F-RC performs much worse than SPORF on orthant",
            *("4.3, Figure 2F", Side("forest-rc"), Side("sporf"), ABOVE),
        ),
        Claim(
            "CCF performs poorly on orthant: SPORF errs less",
            *("4.3, Figure 2F", Side("sporf"), Side("ccf")),
        ),
    ),
)


def consistency_parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """Trees of bounded depth: grown fully, an axis forest runs out of stripes in the end."""
    limit = {"max_depth": MAX_DEPTH} if is_ours(cell) else {}
    return {**fully_grown_trees(cell, plan, N_TREES), **limit}


MAX_ROWS = {"n_train": ROWS["consistency"][-1]}
CONSISTENCY = against_rows(
    "consistency",
    "4.1 and Figure 1",
    "Error on Biau's three squares, where a greedy axis-aligned forest stays at 1/6.",
    default_systems=("sporf", "random-forest", "rr-rf", "ccf"),
    parameters=consistency_parameters,
    claims=(
        Claim(
            "RF cannot achieve an error below 1/6 (0.15 allows for the finite stripes)",
            *("4.1, Figure 1B", Side("random-forest", MAX_ROWS), None, ABOVE),
            level=0.15,
        ),
        *(
            Claim(
                f"{label} errs dramatically less than 1/6",
                *("4.1, Figure 1B", Side(system, MAX_ROWS)),
                level=1 / 12,
            )
            for system, label in (("sporf", "SPORF"), ("rr-rf", "RR-RF"), ("ccf", "CCF"))
        ),
    ),
)

TRUNK_FEATURES = (10, 50, 100, 500)  # thesis 2.3.1
# 4.5; it does not print d, on which the best directions depend.
IMPORTANCE = {d: {"n_train": 1_000, "n_features": 10, "candidates": d} for d in ("p", "p**2")}


def trunk_cells(plan: Plan) -> Iterator[Cell]:
    features = TRUNK_FEATURES[:2] if plan.quick else TRUNK_FEATURES
    settings: list[Setting] = [{"n_train": 100, "n_features": p} for p in features]
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    cases = [("trunk", [*settings, *IMPORTANCE.values()])]
    return cells_of("trunk", plan, cases, n_repeats=repeats)


def trunk_parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """λ = 1/2 where directions are looked at (4.5)."""
    study: dict[str, Any] = {}
    if "candidates" in cell.setting and cell.system == "sporf":
        study = {"density": 5, "n_projections": cell.setting["candidates"]}
    return {**fully_grown_trees(cell, plan, N_TREES), **study}


TRUNK = Protocol(
    "trunk",
    f"{SPORF}, 4.5 and Figure 4; Tomita's thesis, 2.3.1 and Figure 2.3D",
    "Error on Trunk's two Gaussians against the number of features; the best directions found.",
    default_systems=("sporf", "random-forest", "forest-rc", "frank", "rr-rf"),
    cells=trunk_cells,
    load=load,
    parameters=trunk_parameters,
    size=size,
    measure=directions_of_trunk,
    figures=("error-against-features", "directions"),
    claims=(
        *(
            Claim(
                f"The ten best directions of SPORF all combine features (d = {d})",
                *("4.5, Figure 4A", Side("sporf", study), None, ABOVE),
                metric="top_fewest_features",
                level=1.5,
            )
            for d, study in IMPORTANCE.items()
        ),
        *(
            Claim(
                f"The ten best directions of SPORF all separate better than any of RF's (d = {d})",
                *("4.5, Figure 4D", Side("sporf", study, "top_worst_bayes_error")),
                *(Side("random-forest", study, "top_best_bayes_error"),),
            )
            for d, study in IMPORTANCE.items()
        ),
        Claim(
            "At p = 500 RR-RF degrades: it errs more than at p = 100",
            *("Thesis 2.3.1, Figure 2.3D", Side("rr-rf", {"n_features": 500, "n_train": 100})),
            *(Side("rr-rf", {"n_features": 100, "n_train": 100}), ABOVE),
        ),
        Claim(
            "SPORF outperforms RF",
            *("Thesis 3.3.3, Figure 3.5D", Side("sporf", {"n_train": 100, "n_features": 10})),
            *(Side("random-forest", {"n_train": 100, "n_features": 10}),),
        ),
    ),
)

# 4.4; the thesis (3.3.1) has the standard deviation and λ = 1/p as well
SENSITIVITY_ROWS = {"sparse-parity": (5_000, 500), "orthant": (400, 200)}


def sensitivity_cells(plan: Plan) -> Iterator[Cell]:
    cases = [
        (data, [{"n_train": few if plan.quick else full, "density": k} for k in DENSITIES])
        for data, (full, few) in SENSITIVITY_ROWS.items()
    ]
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    return cells_of("lambda-sensitivity", plan, cases, n_repeats=repeats)


def sensitivity_parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """λ = density / p: non-zeros of a direction, on average in SPORF and exactly in F-RC."""
    words = {"sporf": "density", "forest-rc": "n_combined", "frank": "n_combined"}
    density = cell.setting["density"]
    chosen = {words[cell.system]: density} if cell.system in words else {}
    return {**fully_grown_trees(cell, plan, N_TREES), **chosen}


LAMBDA_SENSITIVITY = Protocol(
    "lambda-sensitivity",
    f"{SPORF}, 4.4 and Figure 3; Tomita's thesis, 3.3.1 and Figure 3.3",
    "How much the error varies with the density of directions, λ = 1/p to 5/p, d tuned for each.",
    default_systems=("sporf", "forest-rc"),
    cells=sensitivity_cells,
    load=load,
    parameters=sensitivity_parameters,
    size=size,
    tuned=True,
    grids={"sporf": WIDE, "forest-rc": WIDE},
    figures=("error-against-density",),
    claims=tuple(
        Claim(
            f"SPORF is less sensitive to λ than F-RC on {data}",
            *("4.4, Figure 3; thesis 3.3.1", Side("sporf"), Side("forest-rc")),
            data=(data,),
            spread="density",
        )
        for data in SENSITIVITY_ROWS
    ),
)

PROTOCOLS = (SPARSE_PARITY, ORTHANT, CONSISTENCY, TRUNK, LAMBDA_SENSITIVITY)
