"""Spectra: node models where neighbouring features correlate (Menze et al. 2011, Table 2)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel_lab.cells import Cell
from bevel_lab.protocols.base import FOLDER, Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOVE, Claim, Side
from bevel_lab.protocols.layout import NOTHING, cells_of, trees
from bevel_lab.protocols.menze import MENZE
from bevel_lab.protocols.sets import all_sets, chosen_sets, open_set, prepared

__all__ = ["PROTOCOLS", "replicate_groups"]

N_TREES = 100
N_REPEATS, QUICK_REPEATS = 3, 1
N_FOLDS, QUICK_FOLDS = 5, 2
MAX_ROWS = 1_000  # of a larger set each repeat takes so many at random

# Sets whose rows are replicates of a sample, in the order of their rows: three in a row in
# mayonnaise_oil (54 samples), two in a row in ucr_meat (60 samples), row i of either half in
# ucr_beef (30 samples: nearest neighbours are 30 rows apart).
REPLICATES: Mapping[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "mayonnaise_oil": lambda row: row // 3,
    "ucr_meat": lambda row: row // 2,
    "ucr_beef": lambda row: row % 30,
}


def replicate_groups(name: str, n_rows: int) -> NDArray[np.int64]:
    """The sample that each row is a measurement of; rows of other sets are samples of their own."""
    rows = np.arange(n_rows)
    return REPLICATES[name](rows) if name in REPLICATES else rows


def n_folds(plan: Plan) -> int:
    return plan.folds or (QUICK_FOLDS if plan.quick else N_FOLDS)


def cells(plan: Plan) -> Iterator[Cell]:
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    cases = [(each.name, NOTHING) for each in chosen_sets(plan)]
    return cells_of("menze-spectra", plan, cases, n_repeats=repeats, n_folds=n_folds(plan))


def load(cell: Cell, plan: Plan) -> Problem:
    """A fold of a cross-validation with the replicates of a sample in one fold."""
    from sklearn.model_selection import StratifiedGroupKFold

    table = open_set(cell.data, plan.data)
    groups = replicate_groups(cell.data, len(table.y))
    if len(table.y) > MAX_ROWS:
        chosen = np.random.default_rng(cell.split_seed).permutation(len(table.y))[:MAX_ROWS]
        groups = groups[chosen]
        table = type(table)(
            *(table.X[chosen], table.y[chosen], table.feature_names),
            *(table.categorical_features, table.levels),
        )
    folds = StratifiedGroupKFold(n_folds(plan), shuffle=True, random_state=cell.split_seed)
    train = np.ones(len(table.y), dtype=np.bool_)
    train[list(folds.split(table.X, table.y, groups))[cell.fold][1]] = False
    return prepared(table, train, plan.recipe or "native")


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    return trees(cell, plan, N_TREES)


def size(cell: Cell, plan: Plan) -> int:
    """Entries of the training table, about."""
    return 500 * min(MAX_ROWS, all_sets(plan.data)[cell.data].n_rows)


SPECTRA = Protocol(
    "menze-spectra",
    f"{MENZE}, Table 2",
    "AUC on classification sets of a folder, replicates of a sample kept together.",
    default_systems=("random-forest", "orf-rnd", "orf-lda", "orf-ridge"),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    fewer={"trees": (N_TREES, 300), "repeats": (N_REPEATS, 10), "folds": (N_FOLDS, 10)},
    source=FOLDER,
    figures=("ranks", "critical-difference"),
    claims=tuple(
        Claim(
            f"{ours} has a higher AUC than {label} on spectra",
            *("Table 2", Side(system), Side(rival), ABOVE, "auc"),
            by_set=True,
        )
        for system, ours in (("orf-ridge", "oRF-ridge"), ("orf-lda", "oRF-lda"))
        for rival, label in (("random-forest", "RF"), ("orf-rnd", "oRF-rnd"))
    ),
)

PROTOCOLS = (SPECTRA,)
