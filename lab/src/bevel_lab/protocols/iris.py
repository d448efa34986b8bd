"""Random rotations on iris: numbers of trees, candidates and cuts (Blaser, Tables 1.3 and 1.4)."""

from collections.abc import Iterator, Mapping
from typing import Any

from bevel_lab.cells import Cell
from bevel_lab.protocols.base import Plan, Problem, Protocol
from bevel_lab.protocols.blaser import BLASER, HALF, categories_of
from bevel_lab.protocols.claims import Claim, Side
from bevel_lab.protocols.layout import NOTHING, Setting, Variants, cells_of, trees
from bevel_lab.protocols.sets import open_set, prepared
from bevel_lab.protocols.splits import random_part

__all__ = ["PROTOCOLS"]

N_REPEATS, QUICK_REPEATS = 300, 2
# Trees, and candidates of Table 1.3 or cuts of Table 1.4. Nothing is said of a scale there, and
# only on the features as they are (all in centimetres) do the rotated forests err as rarely as
# printed.
# One setting is also run with the scale of the other tables.
FOUR, SIZES = (1, 2, 3, 4), (50, 500, 5000)
FORESTS: tuple[Setting, ...] = tuple(
    {"trees": n_trees, "candidates": number, "scaling": None}
    for n_trees in SIZES
    for number in FOUR
)
EXTRA_TREES: tuple[Setting, ...] = tuple(
    {"trees": n_trees, "cuts": number, "scaling": None} for n_trees in SIZES for number in FOUR
)
SCALED_TOO = len(FOUR)  # 500 trees, one candidate or cut
PAIRS = (("random-forest", "rr-rf", FORESTS), ("extra-trees", "rr-et", EXTRA_TREES))
N_CANDIDATES = 2  # of extra trees


def with_scaled(settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    return (*settings, {**settings[SCALED_TOO], "scaling": "minmax"})


VARIANTS: Variants = {system: with_scaled(settings) for *pair, settings in PAIRS for system in pair}


def cells(plan: Plan) -> Iterator[Cell]:
    repeats = QUICK_REPEATS if plan.quick else N_REPEATS
    cases = [("iris", NOTHING)]
    return cells_of("blaser-iris", plan, cases, n_repeats=repeats, variants=VARIANTS)


def load(cell: Cell, plan: Plan) -> Problem:  # noqa: ARG001
    """Half of the rows for training, all classes among them."""
    table = open_set("iris", None)
    return prepared(table, random_part(150, HALF, categories_of(table)[-1:], cell.seed), "native")


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """Candidates at a node, or cuts of each candidate."""
    setting = cell.setting
    given: dict[str, Any] = {**trees(cell, plan, setting["trees"]), "scale": setting["scaling"]}
    if "cuts" in setting:
        return {**given, "n_projections": N_CANDIDATES, "n_thresholds": setting["cuts"]}
    return {**given, "n_projections": setting["candidates"]}


def size(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    return 75 * 4


def _words(setting: Setting) -> str:
    what = "candidates" if "candidates" in setting else "cuts"
    return f"{setting['trees']} trees, {what} {setting[what]}, {setting['scaling'] or 'no scale'}"


IRIS = Protocol(
    "blaser-iris",
    f"{BLASER}, Tables 1.3 and 1.4",
    "Error on iris without and with random rotations, by trees, candidates and cuts.",
    default_systems=tuple(VARIANTS),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    figures=("paper",),
    claims=tuple(
        Claim(
            f"{rotated} errs less than {plain} ({_words(setting)})",
            *("Tables 1.3 and 1.4", Side(rotated, setting), Side(plain, setting)),
        )
        for plain, rotated, settings in PAIRS
        for setting in with_scaled(settings)
    ),
)

PROTOCOLS = (IRIS,)
