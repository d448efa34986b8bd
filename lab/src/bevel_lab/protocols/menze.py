"""Experiments of Menze et al. 2011: forty binary problems, and features made to correlate."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bevel import datasets
from bevel.datasets import LabelledTable
from bevel_lab.cells import Cell
from bevel_lab.protocols.base import BOTH, Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOVE, Claim, Side
from bevel_lab.protocols.digits import PAIRS, chosen_pairs, open_pair, what_is_missing
from bevel_lab.protocols.layout import NOTHING, Setting, cells_of, trees
from bevel_lab.protocols.sets import DataSet, all_sets, chosen_sets, open_set, prepared
from bevel_lab.protocols.simulated import draw
from bevel_lab.protocols.splits import training_rows

__all__ = ["PROTOCOLS"]

MENZE = "Menze et al. 2011, On oblique random forests"
N_REPEATS, N_FOLDS = 10, 10
QUICK_REPEATS, QUICK_FOLDS = 1, 2
N_TREES = 300
N_ROWS = 300  # of a simulation, as in Breiman's papers; not printed in this one
N_IMAGES = 1_000  # of digits; not printed either
FOLDER_ROWS = 2_000  # the paper's sets are small; larger ones take days

# Sets 16 to 20 of Table 1, under names that no file of the UCI's has.
SIMULATED: Mapping[str, Callable[..., Any]] = {
    "simulated ringnorm": datasets.ringnorm,
    "simulated spirals": datasets.spirals,
    "simulated threenorm": datasets.threenorm,
    "simulated twonorm": datasets.twonorm,
    "simulated circles": datasets.circles,
}


def is_binary(data: DataSet) -> bool:
    return data.n_classes == 2


def cells(plan: Plan) -> Iterator[Cell]:
    """The simulations, the binary sets of the folder with 2000 rows at most, and its digits."""
    names = [name for name in SIMULATED if not plan.only or name in plan.only]
    names = names[:2] if plan.quick and not plan.only else names
    others = tuple(name for name in plan.only if name not in {**SIMULATED, **PAIRS})
    limited = _limited(plan, others)
    if others or (not plan.only and _has_sets(limited)):
        found = chosen_sets(limited, keep=is_binary)
        names += [each.name for each in found]
    names += chosen_pairs(plan)
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    cases = [(name, NOTHING) for name in names]
    return cells_of("menze-40", plan, cases, n_repeats=repeats, n_folds=n_folds(plan))


def _limited(plan: Plan, only: tuple[str, ...]) -> Plan:
    most = plan.max_rows if only or plan.max_rows is not None else FOLDER_ROWS
    return replace(plan, only=only, max_rows=most)


def _has_sets(plan: Plan) -> bool:
    """Whether the folder has a set for the experiment; there are the simulations if it has none."""
    most = plan.max_rows if plan.max_rows is not None else FOLDER_ROWS
    return any(is_binary(each) and each.n_rows <= most for each in all_sets(plan.data).values())


def n_folds(plan: Plan) -> int:
    return plan.folds or (QUICK_FOLDS if plan.quick else N_FOLDS)


def load(cell: Cell, plan: Plan) -> Problem:
    """The rows of a stratified fold; those of a simulation are the same in all repeats."""
    table = _table(cell, plan)
    train = training_rows(table.y, n_folds(plan), cell.fold, cell.split_seed)
    return prepared(table, train, plan.recipe or "menze")


def _table(cell: Cell, plan: Plan) -> LabelledTable:
    if cell.data in SIMULATED:
        return _simulated(cell)
    if cell.data in PAIRS:
        return open_pair(cell.data, plan.data, N_IMAGES, cell.experiment_seed)
    return open_set(cell.data, plan.data)


def _simulated(cell: Cell) -> LabelledTable:
    X, y = SIMULATED[cell.data](N_ROWS, random_state=cell.experiment_seed)
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    return LabelledTable(X, y.astype(np.str_), names, np.zeros(len(names), dtype=np.bool_), {})


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """300 trees; rf-cv chooses its number, from 20 to 640, as the paper's RF does."""
    return trees(cell, plan, N_TREES)


def size(cell: Cell, plan: Plan) -> int:
    """Entries of the training table, about."""
    if cell.data in PAIRS:
        return N_IMAGES * 784
    return 20 * (N_ROWS if cell.data in SIMULATED else all_sets(plan.data)[cell.data].n_rows)


MENZE_40 = Protocol(
    "menze-40",
    f"{MENZE}, section 3, Tables 1 and 2",
    "Accuracy and AUC on binary problems by ten repeats of ten-fold cross-validation.",
    default_systems=(
        *("svm-cv", "knn", "cart", "adaboost", "random-forest", "rf-cv", "et-1"),
        *("orf-rnd", "orf-lda", "orf-ridge"),
    ),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    source=BOTH,
    left_out=what_is_missing,
    figures=("best-or-not-worse", "paper"),
    claims=tuple(
        Claim(
            f"oRF-ridge has a higher AUC than {label}, over data sets",
            *("Table 2: oRF-ridge ranks overall first", Side("orf-ridge"), Side(system)),
            *(ABOVE, "auc"),
            by_set=True,
        )
        for system, label in (("random-forest", "RF"), ("orf-rnd", "oRF-rnd"), ("et-1", "RF-rnd"))
    ),
)

# The paper goes up to 10^15; beyond 10^6 or so float32 rounds the data away.
OFFSETS = tuple(10.0**power for power in range(7))
QUICK_OFFSETS = (1.0, 1e3)
CHANCE = 0.55  # AUC below which nothing was learned
KEPT = 0.05  # loss of AUC that still counts as none


def offset_cells(plan: Plan) -> Iterator[Cell]:
    sizes = QUICK_OFFSETS if plan.quick else OFFSETS
    settings: list[Setting] = [{"offset": each} for each in sizes]
    repeats = 2 if plan.quick else N_REPEATS
    return cells_of("menze-offsets", plan, [("threenorm", settings)], n_repeats=repeats)


def load_offset(cell: Cell, plan: Plan) -> Problem:
    """Threenorm with one normal number added to all features of a row."""
    generate = partial(_offset_rows, size=cell.setting["offset"])
    return draw(generate, cell, plan, N_ROWS)


def _offset_rows(n: int, *, random_state: np.random.Generator, size: float) -> tuple[Any, Any]:
    X, y = datasets.threenorm(n, random_state=random_state)
    return datasets.correlated(X, size=size, random_state=random_state), y


def offset_size(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    return 20 * N_ROWS


MENZE_OFFSETS = Protocol(
    "menze-offsets",
    f"{MENZE}, section 4 and Figure 6",
    "AUC on threenorm while a growing common offset makes its features correlate.",
    default_systems=("random-forest", "orf-rnd", "orf-lda", "orf-ridge"),
    cells=offset_cells,
    load=load_offset,
    parameters=parameters,
    size=offset_size,
    figures=("auc-against-offset",),
    claims=(
        Claim(
            f"RF drops to a close to random prediction (AUC below {CHANCE}) at an offset of 1000",
            *("Figure 6", Side("random-forest", {"offset": 1e3})),
            metric="auc",
            level=CHANCE,
        ),
        *(
            Claim(
                f"{label} remains practically unchanged (AUC within {KEPT}) at an offset of 1000",
                *("Figure 6", Side(system, {"offset": 1e3}), Side(system, {"offset": 1.0})),
                *(ABOVE, "auc"),
                margin=-KEPT,
            )
            for system, label in (("orf-ridge", "oRF-ridge"), ("orf-lda", "oRF-lda"))
        ),
    ),
)

PROTOCOLS = (MENZE_40, MENZE_OFFSETS)
