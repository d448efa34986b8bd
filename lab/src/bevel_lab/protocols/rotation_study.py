"""Do rotations matter: fold groups × rotation groups (Blaser 3.3.1–3.3.3)."""

from collections.abc import Iterator, Mapping
from typing import Any

from bevel_lab.cells import Cell
from bevel_lab.protocols.base import SETS, Plan, Problem, Protocol
from bevel_lab.protocols.blaser import BLASER, size, to_unit
from bevel_lab.protocols.claims import Claim, Side
from bevel_lab.protocols.layout import is_ours, trees
from bevel_lab.protocols.sets import chosen_sets, open_set, prepared
from bevel_lab.protocols.splits import stratified_folds, training_rows
from bevel_lab.studies.layout import (
    EXPERIMENT,
    MIN_NESTED,
    ROTATION_GROUP,
    other_folds,
    rotation_seed,
)

__all__ = ["PROTOCOLS"]

N_GROUPS, QUICK_GROUPS = 20, 4  # of folds and of rotations
N_FOLDS = 5
# A stack has 106 forests: 21 views of all training rows and of those without each of four folds,
# and level 1. The thesis does not say how many trees they have; 100 are the preset's.
N_TREES, N_STACK_TREES = 500, 100
THREE_SETS = ("iris", "glass", "waveform")
# Systems whose rotations have a seed of their own; those of others follow from random_state.
STACKED = ("stacked-rotation", "stacked-xgboost")
OWN_SEED = (*STACKED, "rr-gbm")


def cells(plan: Plan) -> Iterator[Cell]:
    """``--repeats`` is the number of fold groups and of rotation groups.

    Systems of other packages have no rotation groups, and count as one.
    """
    n_groups = plan.repeats or (QUICK_GROUPS if plan.quick else N_GROUPS)
    for data in chosen_sets(plan, paper=THREE_SETS):
        for fold_group in range(n_groups):
            for fold in range(plan.folds or N_FOLDS):
                for group in range(n_groups):
                    for system in plan.systems:
                        setting = {ROTATION_GROUP: group}
                        cell = Cell(
                            *(EXPERIMENT, data.name, system, setting),
                            *(fold_group, fold, plan.seed),
                        )
                        if group == 0 or is_ours(cell):
                            yield cell


def load(cell: Cell, plan: Plan) -> Problem:
    """All folds of the group but one for training, scaled to [0, 1]."""
    table = open_set(cell.data, plan.data)
    n_folds = plan.folds or N_FOLDS
    train = training_rows(table.y, n_folds, cell.fold, cell.split_seed)
    return to_unit(prepared(table, train, plan.recipe or "blaser"))


def parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:
    """The rotation group as a seed, and for a stack the other folds of the group."""
    n_trees = N_STACK_TREES if cell.system in STACKED else N_TREES
    given: dict[str, Any] = dict(trees(cell, plan, n_trees))
    if is_ours(cell):
        group = int(cell.setting[ROTATION_GROUP])
        word = "rotation_state" if cell.system in OWN_SEED else "random_state"
        given[word] = rotation_seed(cell.experiment_seed, cell.data, group)
    if cell.system in STACKED:
        given |= _nested(cell, plan)
    return given


def _nested(cell: Cell, plan: Plan) -> dict[str, Any]:
    """The folds of a stack; of two there is only one other, and it divides the rows by itself."""
    n_folds = plan.folds or N_FOLDS
    if n_folds < MIN_NESTED:
        return {}
    folds = stratified_folds(open_set(cell.data, plan.data).y, n_folds, cell.split_seed)
    return {"cv": other_folds(folds, cell.fold)}


ROTATION_STUDY = Protocol(
    EXPERIMENT,
    f"{BLASER}, 3.3.1 to 3.3.3, Figures 3.4 to 3.14",
    "Do rotations matter: error over 20 divisions into folds × 20 groups of rotations.",
    default_systems=("stacked-rotation", "rr-rf", "random-forest"),
    cells=cells,
    load=load,
    parameters=parameters,
    size=size,
    source=SETS,
    figures=("heat-maps", "histograms"),
    # Rotation groups meet the same test rows: their mean is one observation.
    claims=(
        *(
            Claim(
                f"On wave every rotation-based classifier errs less than the forest: {label}",
                *("3.3.3, Figure 3.14", Side(system), Side("random-forest")),
                data=("waveform",),
                over=(ROTATION_GROUP,),
            )
            for system, label in (("stacked-rotation", "S-RRE"), ("rr-rf", "RRE"))
        ),
        Claim(
            "On glass the plain forest outperforms S-RRE",
            *("3.3.3, Figure 3.12", Side("random-forest"), Side("stacked-rotation")),
            data=("glass",),
            over=(ROTATION_GROUP,),
        ),
        Claim(
            "On iris S-RRE outperforms the plain forest",
            *("3.3.3, Figure 3.10", Side("stacked-rotation"), Side("random-forest")),
            data=("iris",),
            over=(ROTATION_GROUP,),
        ),
    ),
)

PROTOCOLS = (ROTATION_STUDY,)
