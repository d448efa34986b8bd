"""Section 6 of SPORF: seconds against rows, features and candidates; threads; single rows."""

import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from bevel import datasets
from bevel.errors import join_names
from bevel.tuning.candidates import POWERS
from bevel_lab.cells import Cell
from bevel_lab.protocols.base import BOTH, Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOVE, Claim, Side
from bevel_lab.protocols.layout import Case, Setting, cells_of, is_ours, trees
from bevel_lab.protocols.measures import latency
from bevel_lab.protocols.sets import all_sets, open_set, prepared
from bevel_lab.protocols.simulated import draw
from bevel_lab.protocols.splits import random_part

__all__ = ["PROTOCOLS"]

PARITY = "sparse-parity"
N_TREES = 100  # 6.4.3; 6.4.2 has the 500 of 3.2
N_REPEATS, QUICK_REPEATS = 3, 1
N_ROWS, QUICK_ROWS = (1_000, 2_000, 5_000, 10_000), (500, 1_000)  # Figure 8A
N_FEATURES, QUICK_FEATURES = (20, 50, 100, 200, 500), (20, 50)
ROWS_FOR_FEATURES, ROWS_FOR_CANDIDATES = 2_000, 5_000
QUICK_ROWS_FOR_ALL = 500
# Files of a folder that stand for MNIST and Higgs, with the test rows of Figure 10; p53 has none.
LARGE = {"mnist_train60k": 10_000, "higgs_7500": 1_500}
QUICK_LARGE_ROWS = 1_000


def cells(plan: Plan) -> Iterator[Cell]:
    """Simulated studies, then threads and single rows on large sets if the folder has them."""
    threads = _numbers_of_threads()
    settings: list[Setting] = [
        *({"study": "rows", "n_train": n} for n in (QUICK_ROWS if plan.quick else N_ROWS)),
        *(
            {"study": "features", "n_train": _rows(plan, ROWS_FOR_FEATURES), "n_features": p}
            for p in (QUICK_FEATURES if plan.quick else N_FEATURES)
        ),
        *(
            {"study": "candidates", "n_train": _rows(plan, ROWS_FOR_CANDIDATES), "candidates": d}
            for d in POWERS  # Figures 8B and 8C
        ),
        *_shared_studies(threads, n_train=_rows(plan, ROWS_FOR_CANDIDATES)),
    ]
    cases: list[Case] = [(PARITY, settings)]
    found = all_sets(plan.data) if plan.data is not None else {}
    cases += [(name, _shared_studies(threads)) for name in LARGE if name in found]
    cases = [case for case in cases if not plan.only or case[0] in plan.only]
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    for cell in cells_of("timing", plan, cases, n_repeats=repeats):
        if not (cell.setting.get("candidates") and not _takes(cell)):
            yield cell


def what_is_missing(plan: Plan) -> list[str]:
    """A message if the large sets of Figures 9 and 10 are not in the folder."""
    if plan.quick and plan.data is None:
        return []
    found = all_sets(plan.data) if plan.data is not None else {}
    absent = [name for name in plan.only or LARGE if name in LARGE and name not in found]
    if not absent:
        return []
    where = "no folder was given" if plan.data is None else f"{plan.data} lacks them"
    return [
        f"Threads and single rows on {join_names(absent)} (Figures 9 and 10) need these files; "
        f"{where}. Give --data FOLDER with them."
    ]


def _shared_studies(threads: list[int], **more: Any) -> list[Setting]:
    return [
        *({"study": "threads", "threads": number, **more} for number in threads),
        {"study": "prediction", "threads": 1, **more},
    ]


def _takes(cell: Cell) -> bool:
    """Whether a system can try so many candidates: one along the axes has p of them."""
    axes = cell.system in ("random-forest", "rr-rf", "extra-trees")
    return is_ours(cell) and not (axes and cell.setting["candidates"] == "p**2")


def _numbers_of_threads() -> list[int]:
    """1, 2, 4, … and the number of cores."""
    cores = os.cpu_count() or 1
    powers = [2**power for power in range(cores.bit_length()) if 2**power < cores]
    return [*powers, cores]


def _rows(plan: Plan, number: int) -> int:
    return QUICK_ROWS_FOR_ALL if plan.quick else number


def load(cell: Cell, plan: Plan) -> Problem:
    """Sparse parity, or a large set with the paper's number of test rows."""
    if cell.data == PARITY:
        p = cell.setting.get("n_features", 20)
        generate = partial(datasets.sparse_parity, n_features=p)
        return draw(generate, cell, plan, cell.setting["n_train"])
    table = open_set(cell.data, plan.data)
    n_rows = len(table.y)
    train = random_part(n_rows, 1 - LARGE[cell.data] / n_rows, (), cell.split_seed)
    if plan.quick:
        rng = np.random.default_rng(cell.split_seed)
        few = rng.permutation(n_rows)[: 2 * QUICK_LARGE_ROWS]
        table = type(table)(
            *(table.X[few], table.y[few], table.feature_names),
            *(table.categorical_features, table.levels),
        )
        train = random_part(len(few), 0.5, (), cell.split_seed)
    return prepared(table, train, plan.recipe or "native")


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """100 trees to pure leaves; for threads and single rows d = √p and λ = 1/p (6.4.3)."""
    given: dict[str, Any] = dict(trees(cell, plan, N_TREES))
    shared = cell.setting["study"] in ("threads", "prediction")
    if shared:
        given["n_jobs"] = cell.setting["threads"]
    if is_ours(cell):
        if shared:
            given["n_projections"] = "sqrt"
        elif "candidates" in cell.setting:
            given["n_projections"] = cell.setting["candidates"]
    if shared and cell.system == "sporf":
        given["density"] = 1
    return given


def size(cell: Cell, plan: Plan) -> int:
    """Entries of the training table, about."""
    if cell.data == PARITY:
        return int(cell.setting["n_train"] * cell.setting.get("n_features", 20))
    return all_sets(plan.data)[cell.data].n_rows * (784 if "mnist" in cell.data else 28)


def candidates(system: str, d: str) -> Side:
    return Side(system, {"study": "candidates", "candidates": d})


TIMING = Protocol(
    "timing",
    "Tomita et al. 2020, Sparse projection oblique randomer forests, 6.4, Figures 8 to 10",
    "Seconds to fit against rows, features and candidates; speed-up by threads; single rows.",
    default_systems=("sporf", "random-forest", "forest-rc", "sklearn-rf", "xgboost", "ydf-oblique"),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    source=BOTH,
    left_out=what_is_missing,
    measure=latency,
    fewer={"trees": (N_TREES, 500)},
    one_at_a_time=True,
    figures=("seconds-against", "strong-scaling", "single-rows"),
    claims=(
        Claim(
            "With the same d (p), SPORF trains in a time comparable to RF's (at most twice)",
            *("6.4.2, Figure 8B; twice is ours", candidates("sporf", "p")),
            candidates("random-forest", "p"),
            metric="seconds_fit",
            factor=2.0,
        ),
        Claim(
            "With the same d (p), SPORF errs less than RF",
            *("6.4.2, Figure 8C", candidates("sporf", "p"), candidates("random-forest", "p")),
        ),
        Claim(
            "Training time goes on to increase as d exceeds p",
            *("6.4.2, Figure 8B", candidates("sporf", "p**2"), candidates("sporf", "p"), ABOVE),
            metric="seconds_fit",
        ),
        Claim(
            "d above p meaningfully improves SPORF's accuracy",
            *("6.4.2, Figure 8C", candidates("sporf", "p**2"), candidates("sporf", "p")),
        ),
        Claim(
            "F-RC is slower than RF with the best settings (p² against p)",
            *("6.4.2, Figure 8A", candidates("forest-rc", "p**2")),
            candidates("random-forest", "p"),
            direction=ABOVE,
            metric="seconds_fit",
        ),
    ),
)

PROTOCOLS = (TIMING,)
