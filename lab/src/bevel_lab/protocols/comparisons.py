"""Bevel's own settings over many data sets: beside its peers, and beside each other.

Small data sets are cross-validated several times, so that about a thousand rows are predicted for
each. Differences are paired over data sets; half a point of error counts as noise.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bevel import projections as P
from bevel_lab.cells import Cell
from bevel_lab.protocols.base import FOLDER, SETS, Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOUT, BELOW, Claim, Side
from bevel_lab.protocols.layout import NOTHING, Variants, cells_of, trees
from bevel_lab.protocols.sets import DataSet, all_sets, chosen_sets, open_set, prepared
from bevel_lab.protocols.splits import training_rows
from bevel_lab.running.adapting import adapted

__all__ = ["PROTOCOLS", "n_repeats"]

SOURCE = "No paper: Bevel's own choice of defaults"
N_TREES, N_DEFAULT_TREES = 300, 500
N_FOLDS, QUICK_FOLDS = 5, 2
MAX_ROWS = 5_000  # of data sets that the user does not name
N_PREDICTED, MAX_REPEATS = 1_000, 20
NOISE = 0.005  # difference of errors that counts as none

AXIS, SPARSE = {"projection": "axis"}, {"projection": "sparse", "n_projections": "p"}
RIDGE = {"projection": "ridge"}
SCALES = (None, "minmax", "minmax_clip", "quantile", "standard", "rank", "relative_rank")
NORMALIZATION = "sparse_oblique_normalization"  # of ydf
ENCODINGS = ("native", "one-hot")


def is_numeric(data: DataSet) -> bool:
    return data.n_nominal == 0


def has_categories(data: DataSet) -> bool:
    return data.n_nominal > 0


def any_columns(data: DataSet) -> bool:  # noqa: ARG001
    return True


def n_folds(plan: Plan) -> int:
    return plan.folds or (QUICK_FOLDS if plan.quick else N_FOLDS)


def n_repeats(n_rows: int) -> int:
    """Repeats of the cross-validation, so that about a thousand rows are predicted (1 to 20)."""
    return min(MAX_REPEATS, max(1, math.ceil(N_PREDICTED / n_rows)))


def cells(
    name: str, variants: Variants, keep: Callable[[DataSet], bool], plan: Plan
) -> Iterator[Cell]:
    """Data sets of 5000 rows at most, unless the user names them or another limit."""
    most = plan.max_rows if plan.only or plan.max_rows is not None else MAX_ROWS
    for data in chosen_sets(replace(plan, max_rows=most), keep=keep):
        yield from cells_of(
            *(name, plan, [(data.name, NOTHING)]),
            n_repeats=1 if plan.quick else n_repeats(data.n_rows),
            n_folds=n_folds(plan),
            variants=variants,
        )


def load(cell: Cell, plan: Plan) -> Problem:
    """The rows of a stratified fold as they are, or with indicators of levels."""
    table = open_set(cell.data, plan.data)
    train = training_rows(table.y, n_folds(plan), cell.fold, cell.split_seed)
    problem = prepared(table, train, plan.recipe or "native")
    if cell.setting.get("encoding") == "one-hot":
        return adapted(problem, nominal=False, missing=True)
    return problem


def parameters(n_trees: int, cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """The number of trees, and what is varied."""
    given = {name: value for name, value in cell.setting.items() if name != "encoding"}
    if given.get("projection") == RIDGE["projection"]:
        given["projection"] = P.Ridge(tune="gcv")
    return {**trees(cell, plan, n_trees), **given}


def size(cell: Cell, plan: Plan) -> int:
    """Entries of the training table, about."""
    return 20 * all_sets(plan.data)[cell.data].n_rows


def comparison(
    name: str,
    sentence: str,
    variants: Variants,
    claims: tuple[Claim, ...],
    keep: Callable[[DataSet], bool] = is_numeric,
    source: str = SETS,
    n_trees: int = N_TREES,
) -> Protocol:
    """An experiment whose systems are varied as `variants` says."""
    return Protocol(
        name,
        SOURCE,
        sentence,
        default_systems=tuple(variants),
        cells=partial(cells, name, variants, keep),
        load=load,
        parameters=partial(parameters, n_trees),
        size=size,
        source=source,
        figures=("ranks", "critical-difference"),
        claims=claims,
    )


def no_worse(text: str, left: Side, right: Side) -> Claim:
    """The whole interval of the difference is below half a point."""
    return Claim(text, "half a point is ours", left, right, BELOW, margin=NOISE, by_set=True)


PEERS = {
    "sklearn-rf": "scikit-learn's random forest",
    "sklearn-et": "scikit-learn's extra trees",
    "ydf-oblique": "ydf's sparse oblique forest",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
}

DEFAULTS = comparison(
    "defaults",
    "Error of Bevel and its peers without tuning, on all sets.",
    {
        "bevel": NOTHING,
        **dict.fromkeys(PEERS, NOTHING),
        "ydf-oblique": ({NORMALIZATION: "MIN_MAX"},),
    },
    claims=tuple(
        Claim(
            f"Bevel errs less than {label}",
            *("no margin", Side("bevel"), Side(name), BELOW),
            by_set=True,
        )
        for name, label in PEERS.items()
    ),
    keep=any_columns,
    n_trees=N_DEFAULT_TREES,
)

BOOSTING_PEERS = {
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "hist-gb": "scikit-learn's HistGradientBoosting",
    "ydf-boosting": "ydf's boosting",
    "ydf-oblique-boosting": "ydf's oblique boosting",
}

BOOSTING = comparison(
    "boosting-peers",
    "Error of Bevel's boosting and its peers without tuning, on all sets.",
    {"bevel-boosting": NOTHING, **dict.fromkeys(BOOSTING_PEERS, NOTHING)},
    claims=tuple(
        Claim(
            f"Bevel's boosting errs less than {label}",
            *("no margin", Side("bevel-boosting"), Side(name), BELOW),
            by_set=True,
        )
        for name, label in BOOSTING_PEERS.items()
    ),
    keep=any_columns,
)

AXIS_PEERS = comparison(
    "axis-peers",
    "Error of Bevel's axis forest and of scikit-learn's random forest on numeric sets.",
    {"bevel": (AXIS,), "sklearn-rf": NOTHING},
    claims=(
        Claim(
            "Bevel's axis forest errs as scikit-learn's does (within half a point)",
            *("half a point is ours", Side("bevel"), Side("sklearn-rf"), ABOUT),
            margin=NOISE,
            by_set=True,
        ),
    ),
)

OBLIQUE_PEERS = comparison(
    "oblique-peers",
    "Error of Bevel's sparse forest and of ydf's, p projections at each node, on numeric sets.",
    {
        "bevel": tuple({**SPARSE, "scale": scale} for scale in ("auto", None)),
        "ydf-oblique": tuple({NORMALIZATION: how} for how in ("NONE", "MIN_MAX")),
    },
    claims=tuple(
        no_worse(
            f"Bevel's sparse forest errs at most half a point more than ydf's ({how})",
            Side("bevel", {"scale": "auto"}),
            Side("ydf-oblique", {NORMALIZATION: how}),
        )
        for how in ("NONE", "MIN_MAX")
    ),
)

SCALE = comparison(
    "scales",
    "Error of the sparse forest with each scale of features, on numeric sets.",
    {"bevel": tuple({**SPARSE, "scale": scale} for scale in SCALES)},
    claims=tuple(
        no_worse(
            f'scale="{scale}" errs at most half a point more than no scale',
            Side("bevel", {"scale": scale}),
            Side("bevel", {"scale": None}),
        )
        for scale in SCALES[1:]
    ),
)

LISTS = comparison(
    "projection-lists",
    "Error of axes, sparse signs and ridge directions at one node, and of each alone.",
    {"mix": NOTHING, "bevel": (AXIS, SPARSE, RIDGE)},
    claims=tuple(
        no_worse(
            f"The list errs at most half a point more than {each['projection']} alone",
            Side("mix"),
            Side("bevel", {"projection": each["projection"]}),
        )
        for each in (AXIS, SPARSE, RIDGE)
    ),
    keep=any_columns,
)

CATEGORIES = comparison(
    "categories",
    "Error with nominal columns as they are and as indicators, on sets that have some.",
    {
        "bevel": tuple({**each, "encoding": how} for each in (SPARSE, AXIS) for how in ENCODINGS),
        "sklearn-rf": ({"encoding": "one-hot"},),
    },
    claims=tuple(
        no_worse(
            f"{each['projection']}: nominal columns as they are cost at most half a point",
            Side("bevel", {"projection": each["projection"], "encoding": "native"}),
            Side("bevel", {"projection": each["projection"], "encoding": "one-hot"}),
        )
        for each in (SPARSE, AXIS)
    ),
    keep=has_categories,
    source=FOLDER,
)

PROTOCOLS = (DEFAULTS, BOOSTING, AXIS_PEERS, OBLIQUE_PEERS, SCALE, LISTS, CATEGORIES)
