"""More of Blaser's thesis: boosting on iris (Table 1.5), and rotations in regression (1.6)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bevel_lab.cells import Cell
from bevel_lab.data.recipes import is_category
from bevel_lab.protocols.base import FOLDER, Plan, Problem, Protocol
from bevel_lab.protocols.blaser import (
    BLASER,
    FEWER,
    FIRST_SYSTEMS,
    HALF,
    SCALINGS,
    SEVENTY,
    categories_of,
    first_parameters,
    n_repeats,
    size,
)
from bevel_lab.protocols.claims import Claim, Side
from bevel_lab.protocols.layout import NOTHING, Case, Variants, cells_of, trees
from bevel_lab.protocols.sets import chosen_sets, open_set, prepared
from bevel_lab.protocols.splits import random_part

__all__ = ["PROTOCOLS"]

N_TREES = 5000  # 1 × 5000 and 100 × 50
BOOSTED: Variants = {
    "rr-gbm": ({"scaling": None}, {"scaling": "relative_rank"}, {"scaling": "minmax_clip"})
}


def boosting_cells(plan: Plan) -> Iterator[Cell]:
    cases: list[Case] = [("iris", NOTHING)]
    return cells_of("blaser-boosting", plan, cases, n_repeats=n_repeats(plan), variants=BOOSTED)


def load_iris(cell: Cell, plan: Plan) -> Problem:  # noqa: ARG001
    """Half of the rows for training, all classes among them."""
    table = open_set("iris", None)
    return prepared(table, random_part(150, HALF, categories_of(table)[-1:], cell.seed), "native")


def boosting_parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """5000 trees in all; shrinkage is 0.05 in groups of 50, and 2.5 over the trees in one."""
    own = {"scale": cell.setting["scaling"]} if "scaling" in cell.setting else {}
    return {**trees(cell, plan, N_TREES), **own}


def iris_size(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    return 75 * 4


BOOSTING = Protocol(
    "blaser-boosting",
    f"{BLASER}, Table 1.5",
    "Error on iris of one booster of 5000 trees and of 100 rotated ones of 50.",
    default_systems=("gbm", "rr-gbm"),
    cells=boosting_cells,
    load=load_iris,
    parameters=boosting_parameters,
    size=iris_size,
    claims=tuple(
        Claim(
            f"RR-GBM errs less than GBM ({words})",
            *("Table 1.5", Side("rr-gbm", {"scaling": scaling}), Side("gbm")),
        )
        for scaling, words in ((None, "features as they are"), ("relative_rank", "ranks"))
    ),
)


def regression_cells(plan: Plan) -> Iterator[Cell]:
    cases: list[Case] = [(each.name, NOTHING) for each in chosen_sets(plan, regression=True)]
    variants = dict.fromkeys(REGRESSION_SYSTEMS, SCALINGS)
    repeats = n_repeats(plan)
    return cells_of("blaser-regression", plan, cases, n_repeats=repeats, variants=variants)


def load_regression(cell: Cell, plan: Plan) -> Problem:
    """70 % of the rows for training, every category level of the features among them."""
    table = open_set(cell.data, plan.data)
    columns = [
        np.unique(table.X[:, i], return_inverse=True)[1]
        for i in range(table.X.shape[1])
        if is_category(table.X[:, i], bool(table.categorical_features[i]))
    ]
    train = random_part(len(table.y), SEVENTY, columns, cell.seed)
    return prepared(table, train, plan.recipe or "blaser")


REGRESSION_SYSTEMS = FIRST_SYSTEMS
REGRESSION = Protocol(
    "blaser-regression",
    f"{BLASER}, 1.6, where responses of ten or more values are numbers",
    "RMSE of forests without and with random rotations on regression sets, in three scalings.",
    default_systems=REGRESSION_SYSTEMS,
    cells=regression_cells,
    load=load_regression,
    parameters=first_parameters,
    size=size,
    source=FOLDER,
    fewer=FEWER,
    claims=tuple(
        Claim(
            f"Over data sets {label} has a lower RMSE than {other}",
            *("1.6.4, there mostly for classes", Side(system), Side(plain)),
            metric="rmse",
            by_set=True,
        )
        for system, label, plain, other in (
            ("rr-rf", "RR-RF", "random-forest", "RF"),
            ("rr-et", "RR-ET", "extra-trees", "ET"),
        )
    ),
)

PROTOCOLS = (BOOSTING, REGRESSION)
