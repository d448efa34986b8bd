"""Chapter 2 of Tomita's thesis: rotated, scaled and corrupted data, and scalings of features."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bevel import datasets
from bevel_lab.cells import Cell
from bevel_lab.protocols.base import BOTH, Plan, Problem, Protocol
from bevel_lab.protocols.claims import ABOUT, ABOVE, NOT_ABOVE, Claim, Side
from bevel_lab.protocols.grids import THESIS_GRIDS
from bevel_lab.protocols.layout import Case, Setting, Variants, cells_of, is_ours, trees
from bevel_lab.protocols.sets import all_sets, chosen_sets, open_set, prepared
from bevel_lab.protocols.simulated import draw
from bevel_lab.protocols.splits import training_rows

__all__ = ["PROTOCOLS", "transformed"]

THESIS = "Tomita 2018, Generalized linear splitting rules (thesis)"
TRANSFORMS = ("raw", "rotated", "scaled", "affine", "corrupted")  # 2.2.3
PARITY, TRUNK = "sparse-parity", "trunk"
SIMULATED = {PARITY: (2, 5, 10, 20, 40), TRUNK: (10, 50, 100, 500)}  # features, 2.3.1
QUICK_SIMULATED = {PARITY: (10,), TRUNK: (10,)}
ROWS = {PARITY: 1_000, TRUNK: 100}  # 2.3.1
SIMULATED_TREES = {PARITY: 500, TRUNK: 1_000}  # 2.3.1
N_REPEATS, QUICK_REPEATS = 10, 2  # 2.2.6
N_FOLDS, QUICK_FOLDS = 5, 2  # the thesis has one split for each set, which is not printed
MIN_NODE = 10  # nodes of fewer rows are leaves, 2.3.1

# The scalings (r), (n) and (z) of 2.2.5; FRANK is F-RC(r), and RF does not mind.
SCALINGS: tuple[Setting, ...] = (
    {"scaling": None},
    {"scaling": "rank"},
    {"scaling": "minmax"},
    {"scaling": "standard"},
)
VARIANTS: Variants = {
    "random-forest": SCALINGS[:1],
    "forest-rc": (SCALINGS[0], *SCALINGS[2:]),
    "frank": SCALINGS[1:2],
    "rr-rf": SCALINGS,
}


def cells(plan: Plan) -> Iterator[Cell]:
    """Both simulations and, with a folder, its sets."""
    features = QUICK_SIMULATED if plan.quick else SIMULATED
    simulated: list[Case] = [
        (data, [{"transform": how, "n_features": p} for p in numbers for how in TRANSFORMS])
        for data, numbers in features.items()
        if not plan.only or data in plan.only
    ]
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    yield from cells_of("transforms", plan, simulated, n_repeats=repeats, variants=VARIANTS)
    others = replace(plan, only=tuple(name for name in plan.only if name not in SIMULATED))
    if plan.data is None or (plan.only and not others.only):
        return
    settings = [{"transform": how} for how in TRANSFORMS]
    cases: list[Case] = [(each.name, settings) for each in chosen_sets(others)]
    yield from cells_of(
        "transforms", plan, cases, n_repeats=1, n_folds=n_folds(plan), variants=VARIANTS
    )


def n_folds(plan: Plan) -> int:
    """Number of folds of each data set of a folder."""
    return plan.folds or (QUICK_FOLDS if plan.quick else N_FOLDS)


def load(cell: Cell, plan: Plan) -> Problem:
    """Rows of a simulation or a fold, then transformed."""
    if cell.data in SIMULATED:
        p = cell.setting["n_features"]
        options = {"n_features": p}
        if cell.data == PARITY:
            options["n_informative"] = min(p, 3)
        generate = datasets.sparse_parity if cell.data == PARITY else datasets.trunk
        problem = draw(generate, cell, plan, ROWS[cell.data], **options)
    else:
        table = open_set(cell.data, plan.data)
        train = training_rows(table.y, n_folds(plan), cell.fold, cell.split_seed)
        problem = prepared(table, train, plan.recipe or "sporf")
    return transformed(problem, cell.setting["transform"], cell.seed)


def transformed(problem: Problem, how: str, seed: int) -> Problem:
    """Apply one of the five transformations.

    Factors of a scaling are drawn by their logarithm and only training rows are corrupted, as in
    the author's scripts; the thesis does not say so.
    """
    X, X_test = problem.X_train, problem.X_test
    if how == "rotated":
        X, X_test = datasets.rotate(X, X_test, random_state=seed)
    elif how == "scaled":
        X, X_test = datasets.scale(X, X_test, logarithmic=True, random_state=seed)
    elif how == "affine":
        X, X_test = datasets.affine(X, X_test, logarithmic=True, random_state=seed)
    elif how == "corrupted":
        X = datasets.corrupt(X, random_state=seed)
    return replace(problem, X_train=X, X_test=X_test)


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """1000 trees on at most 1000 rows, else 500 (2.3.3); leaves below 10 rows; L = 2."""
    if cell.data in SIMULATED:
        n_trees = SIMULATED_TREES[cell.data]
    else:
        n_trees = 1_000 if all_sets(plan.data)[cell.data].n_rows <= 1_000 else 500
    given: dict[str, Any] = dict(trees(cell, plan, n_trees))
    if is_ours(cell):
        given["min_samples_split"] = MIN_NODE
    if "scaling" in cell.setting:
        given["scale"] = cell.setting["scaling"]
    return given


def size(cell: Cell, plan: Plan) -> int:
    """Entries of the training table."""
    if cell.data in SIMULATED:
        return int(ROWS[cell.data] * cell.setting["n_features"])
    return all_sets(plan.data)[cell.data].n_rows * 20


def side(system: str, how: str, scaling: str | None = None, **more: Any) -> Side:
    return Side(system, {"transform": how, "scaling": scaling, **more})


RF = "random-forest"
CLAIMS_ON_PARITY = (
    Claim(
        "Sparse parity, p = 10: F-RC errs less than RF",
        *("2.3.1, Figure 2.3C", side("forest-rc", "raw", n_features=10)),
        *(side(RF, "raw", n_features=10),),
        data=(PARITY,),
    ),
    Claim(
        "Sparse parity, p = 10: FRANK errs less than RF",
        *("2.3.1, Figure 2.3C", side("frank", "raw", "rank", n_features=10)),
        *(side(RF, "raw", n_features=10),),
        data=(PARITY,),
    ),
    Claim(
        "Sparse parity, p = 20: RR-RF is the worst, behind RF",
        *("2.3.1, Figure 2.3C", side("rr-rf", "raw", n_features=20)),
        *(side(RF, "raw", n_features=20), ABOVE),
        data=(PARITY,),
    ),
    Claim(
        "Rotated sparse parity: F-RC errs less than RF",
        *("2.3.2, Figure 2.4", side("forest-rc", "rotated"), side(RF, "rotated"), NOT_ABOVE),
        data=(PARITY,),
    ),
)
CLAIMS_ON_TRUNK = (
    *(
        Claim(
            f"Trunk: {label} outperforms RF for all p",
            *("2.3.1, Figure 2.3D", side(system, "raw", scaling), side(RF, "raw")),
            data=(TRUNK,),
        )
        for system, label, scaling in (("forest-rc", "F-RC", None), ("frank", "FRANK", "rank"))
    ),
    *(
        Claim(
            f"Trunk, p = {p}: RR-RF errs less than F-RC",
            *("2.3.1, Figure 2.3D", side("rr-rf", "raw", n_features=p)),
            *(side("forest-rc", "raw", n_features=p),),
            data=(TRUNK,),
        )
        for p in (10, 50, 100)
    ),
)
CLAIMS_ON_CHANGES = (
    *(
        Claim(
            f"{data}, p = 10: F-RC is degraded when {how}",
            *("2.3.2, Figure 2.4", side("forest-rc", how, n_features=10)),
            *(side("forest-rc", "raw", n_features=10), ABOVE),
            data=(data,),
        )
        for data in SIMULATED
        for how in ("scaled", "corrupted")
    ),
    *(
        Claim(
            f"{data}, p = 10: FRANK is unaffected when {how} (within 2 points)",
            *("2.3.2, Figure 2.4", side("frank", how, "rank", n_features=10)),
            *(side("frank", "raw", "rank", n_features=10), ABOUT),
            data=(data,),
            margin=0.02,
        )
        for data in SIMULATED
        for how in ("scaled", "corrupted")
    ),
    *(
        Claim(
            f"{data}, p = 10: RR-RF is very affected by corruption, RR-RF(r) errs less",
            *("2.3.2, Figure 2.4", side("rr-rf", "corrupted", n_features=10)),
            *(side("rr-rf", "corrupted", "rank", n_features=10), ABOVE),
            data=(data,),
        )
        for data in SIMULATED
    ),
    *(
        Claim(
            f"{data}, p = 10: F-RC({letter}) does not help with corruption, FRANK errs less",
            *("2.3.2, Figure 2.5", side("forest-rc", "corrupted", scaling, n_features=10)),
            *(side("frank", "corrupted", "rank", n_features=10), ABOVE),
            data=(data,),
        )
        for data in SIMULATED
        for letter, scaling in (("n", "minmax"), ("z", "standard"))
    ),
)

# Table 2.1: + better than RF, − worse, over data sets.
SUMMARY: Mapping[tuple[str, str, str | None], str] = {
    ("F-RC", "forest-rc", None): "++ --",
    ("FRANK", "frank", "rank"): "++ + ",
    ("RR-RF", "rr-rf", None): "-+---",
    ("RR-RF(r)", "rr-rf", "rank"): "-+-+-",
}


def _summary() -> Iterator[Claim]:
    for (label, system, scaling), signs in SUMMARY.items():
        for how, sign in zip(TRANSFORMS, signs, strict=True):
            if sign == " ":
                continue
            yield Claim(
                f"Data sets, {how}: {label} is {'better' if sign == '+' else 'worse'} than RF",
                *("Table 2.1", side(system, how, scaling), side(RF, how)),
                "below" if sign == "+" else ABOVE,
                by_set=True,
                without=tuple(SIMULATED),
            )


TRANSFORMS_PROTOCOL = Protocol(
    "transforms",
    f"{THESIS}, 2.2 and 2.3, Figures 2.3 to 2.7 and Table 2.1",
    "Error on raw, rotated, scaled, affine and corrupted data, with features scaled or ranked.",
    default_systems=(RF, "forest-rc", "frank", "rr-rf"),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    source=BOTH,
    tuned=True,
    grids=THESIS_GRIDS,
    figures=("normalised-relative-error", "error-against-features"),
    claims=(*CLAIMS_ON_PARITY, *CLAIMS_ON_TRUNK, *CLAIMS_ON_CHANGES, *_summary()),
)

PROTOCOLS = (TRANSFORMS_PROTOCOL,)
