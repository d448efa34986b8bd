"""Experiments of SPORF on data sets: the UCI comparison, and added noise dimensions."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bevel_lab.cells import Cell
from bevel_lab.protocols.base import SETS, Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOVE, NOT_ABOVE, Claim, Side
from bevel_lab.protocols.grids import SCALED_GRIDS, UNSCALED
from bevel_lab.protocols.layout import NOTHING, Setting, cells_of, fully_grown_trees
from bevel_lab.protocols.sets import all_sets, chosen_sets, open_set, prepared
from bevel_lab.protocols.splits import training_rows

__all__ = ["PROTOCOLS", "with_noise"]

SPORF = "Tomita et al. 2020, Sparse projection oblique randomer forests"
N_FOLDS, QUICK_FOLDS = 5, 2  # Appendix C
N_TREES = 500  # 3.2
NOISE_DIMENSIONS = (0, 10, 100, 1_000)  # 5.3, and none to begin with
QUICK_NOISE_DIMENSIONS = (0, 10)
HILLS = {"hill_valley": 0.03, "hill_valley-noise": 0.10}  # error that counts as the paper's
NEAR_CHANCE = 0.40
TUNING_TREES = 100  # a fifth of the paper's ranks settings nearly as well


def n_folds(plan: Plan) -> int:
    """The user's, or the paper's."""
    return plan.folds or (QUICK_FOLDS if plan.quick else N_FOLDS)


def set_cells(name: str, plan: Plan, settings: tuple[Setting, ...]) -> Iterator[Cell]:
    cases = [(each.name, settings) for each in chosen_sets(plan)]
    return cells_of(name, plan, cases, n_repeats=1, n_folds=n_folds(plan))


def uci_cells(plan: Plan) -> Iterator[Cell]:
    return set_cells("sporf-uci", plan, NOTHING)


def load_fold(cell: Cell, plan: Plan) -> Problem:
    """The rows of a stratified fold, one-hot encoded."""
    table = open_set(cell.data, plan.data)
    train = training_rows(table.y, n_folds(plan), cell.fold, cell.split_seed)
    return prepared(table, train, plan.recipe or "sporf")


def size(cell: Cell, plan: Plan) -> int:
    """Entries of the training table; how many columns a file has is known when it is read."""
    columns = 20 + int(cell.setting.get("noise_dims", 0))
    return all_sets(plan.data)[cell.data].n_rows * columns


def paper_trees(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """500 trees, fully grown; z-scores where features are combined and no scale is tuned."""
    scale = {"scale": "standard"} if cell.system in SCALED_GRIDS and plan.grid is None else {}
    return {**fully_grown_trees(cell, plan, N_TREES), **scale}


experiment_on_sets = partial(
    Protocol,
    default_systems=("sporf", "random-forest", "xgboost", "rr-rf", "ccf"),
    parameters=paper_trees,
    size=size,
    source=SETS,
    tuned=True,
    grids=SCALED_GRIDS,
    other_grids=UNSCALED,
    tuning_trees=TUNING_TREES,
    fewer={"tuning_trees": (TUNING_TREES, N_TREES)},
)
SPORF_UCI = experiment_on_sets(
    "sporf-uci",
    f"{SPORF}, 5.1, Figure 5 and Table 1",
    "Five-fold error and kappa on classification sets of a folder, tuned by the paper's grid.",
    cells=uci_cells,
    load=load_fold,
    figures=("effect-sizes", "ranks", "critical-difference", "paper"),
    claims=(
        *(
            Claim(
                f"Over all data sets SPORF has a higher kappa than {label}",
                *("5.1, Figure 5", Side("sporf"), Side(system), ABOVE, "kappa"),
                by_set=True,
            )
            for system, label in (
                ("random-forest", "RF"),
                ("xgboost", "XGBoost"),
                ("rr-rf", "RR-RF"),
                ("ccf", "CCF"),
            )
        ),
        *(
            Claim(
                f"On {data} {label} errs below {100 * level:g} %",
                *("Table 1; the bound is ours", Side(system)),
                level=level,
                data=(data,),
            )
            for data, level in HILLS.items()
            for system, label in (("sporf", "SPORF"), ("ccf", "CCF"))
        ),
        *(
            Claim(
                f"On {data} RF is near chance (error above {100 * NEAR_CHANCE:g} %)",
                *("Table 1; the bound is ours", Side("random-forest"), None, ABOVE),
                level=NEAR_CHANCE,
                data=(data,),
            )
            for data in HILLS
        ),
    ),
)


def noise_cells(plan: Plan) -> Iterator[Cell]:
    numbers = QUICK_NOISE_DIMENSIONS if plan.quick else NOISE_DIMENSIONS
    return set_cells("noise-dims", plan, tuple({"noise_dims": number} for number in numbers))


def load_noisy(cell: Cell, plan: Plan) -> Problem:
    """A fold with standard normal features appended."""
    return with_noise(load_fold(cell, plan), cell.setting["noise_dims"], cell.seed)


def with_noise(problem: Problem, n_dimensions: int, seed: int) -> Problem:
    """Append independent standard normal features; fewer of them are the first of more."""
    streams = np.random.default_rng(seed).spawn(2)
    train, test = (
        np.column_stack([X, stream.standard_normal((n_dimensions, len(X))).T])
        for X, stream in zip((problem.X_train, problem.X_test), streams, strict=True)
    )
    nominal = problem.categorical_features
    if nominal is not None:
        nominal = np.append(nominal, np.zeros(n_dimensions, dtype=np.bool_))
    return replace(problem, X_train=train, X_test=test, categorical_features=nominal)


MOST = {"noise_dims": NOISE_DIMENSIONS[-1]}
NOISE_DIMS = experiment_on_sets(
    "noise-dims",
    f"{SPORF}, 5.3 and Figure 7",
    "Kappa on data sets with 10, 100 and 1000 normal features added that mean nothing.",
    cells=noise_cells,
    load=load_noisy,
    figures=("kappa-against-noise",),
    claims=(
        *(
            Claim(
                f"With {number} noise dimensions SPORF ties for best: not below {label}",
                *("5.3, Figure 7", Side(system, {"noise_dims": number})),
                Side("sporf", {"noise_dims": number}),
                direction=NOT_ABOVE,
                metric="kappa",
                by_set=True,
            )
            for number in NOISE_DIMENSIONS[1:]
            for system, label in (("random-forest", "RF"), ("xgboost", "XGBoost"), ("ccf", "CCF"))
        ),
        *(
            Claim(
                f"{one} loses more kappa to 1000 noise dimensions than {other}",
                *("5.3, Figure 7", Side(left, MOST), Side(right, MOST)),
                metric="kappa",
                since={"noise_dims": 0},
                by_set=True,
            )
            for (left, one), (right, other) in (
                (("ccf", "CCF"), ("sporf", "SPORF")),
                (("rr-rf", "RR-RF"), ("sporf", "SPORF")),
                (("rr-rf", "RR-RF"), ("ccf", "CCF")),
            )
        ),
    ),
)

PROTOCOLS = (SPORF_UCI, NOISE_DIMS)
