"""How the cells of an experiment follow each other, and what forests of all kinds are given."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from bevel_lab.cells import Cell
from bevel_lab.protocols.base import Plan
from bevel_lab.systems import SYSTEMS
from bevel_lab.systems.base import OURS

__all__ = [
    *("NOTHING", "Case", "Setting", "Variants"),
    *("cells_of", "fully_grown_trees", "is_ours", "trees"),
]

Setting: TypeAlias = Mapping[str, Any]
Case: TypeAlias = tuple[str, Sequence[Setting]]  # data set, its settings
Variants: TypeAlias = Mapping[str, Sequence[Setting]]  # system -> what is varied in it alone

NOTHING: tuple[Setting, ...] = ({},)
QUICK_TREES = 50


def cells_of(
    name: str,
    plan: Plan,
    cases: Sequence[Case],
    *,
    n_repeats: int,
    n_folds: int = 1,
    variants: Variants | None = None,
) -> Iterator[Cell]:
    """All cells: data set by data set, repeat, fold, setting, the systems innermost.

    Parameters
    ----------
    name : str
        Of the experiment.
    plan : Plan
        Its ``repeats`` replaces `n_repeats`.
    cases : sequence of (data set, settings)
    n_repeats, n_folds : int
    variants : mapping of system to settings, default=None
        What is varied in some systems only; added to the settings of the case.
    """
    for data, settings in cases:
        for repeat in range(plan.repeats or n_repeats):
            for fold in range(n_folds):
                for setting in settings:
                    for system in plan.systems:
                        for variant in (variants or {}).get(system, NOTHING):
                            yield Cell(
                                *(name, data, system, {**setting, **variant}),
                                *(repeat, fold, plan.seed),
                            )


def is_ours(cell: Cell) -> bool:
    """Whether the system is one of Bevel's, which take the parameters of its estimators."""
    return SYSTEMS[cell.system].kind == OURS


def trees(cell: Cell, plan: Plan, n_trees: int) -> dict[str, int]:
    """The number of trees, for forests: the user's, a few in a quick run, or the paper's."""
    if not SYSTEMS[cell.system].has_trees:
        return {}
    return {"n_trees": plan.trees or (min(QUICK_TREES, n_trees) if plan.quick else n_trees)}


def fully_grown_trees(cell: Cell, plan: Plan, n_trees: int) -> dict[str, Any]:
    """The number of trees, which all split until nodes are pure (SPORF, 3.2).

    The presets of Tomita's thesis, chapter 2, stop at ten rows. Blaser's RR-RF scales features to
    [0, 1], Tomita's takes them as they are.
    """
    grown: dict[str, Any] = {}
    if cell.system in ("forest-rc", "frank"):
        grown["min_samples_split"] = 2
    if cell.system == "rr-rf":
        grown["scale"] = None
    return {**trees(cell, plan, n_trees), **grown}
