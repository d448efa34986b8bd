"""The definition of an experiment: its cells, and how the rows of a cell are made.

The functions of a protocol are called in worker processes: they must live at the top of a module,
and depend on their arguments alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel_lab.cells import Cell
from bevel_lab.protocols.claims import Claim
from bevel_lab.systems.base import Estimator, Grid

__all__ = ["BOTH", "FOLDER", "SETS", "SIMULATED", "Plan", "Problem", "Protocol"]

# Where an experiment has its rows from, as ``bevel lab list`` prints it.
SIMULATED = "simulated"
SETS = "bundled or --data"
BOTH = "simulated, --data"
FOLDER = "needs --data"


@dataclass(frozen=True)
class Plan:
    """Settings of a run; None is the paper's own value, or the one of `Protocol.fewer`.

    Attributes
    ----------
    systems : tuple of str
        Names in `SYSTEMS`, in the order of the tables.
    data : path, default=None
        A data folder (`bevel.datasets.load_folder`).
    quick : bool
        A smaller experiment: fewer sets, rows, repeats, trees.
    only : tuple of str
        Data sets to keep; empty for all.
    settings : mapping of str to tuple of str
        Values to keep of what the experiment varies (``{"n_features": ("10", "50")}``), as text;
        what is not named is kept whole.
    folds, repeats, trees, tuning_trees, max_rows : int, default=None
    seed : int
    tune : bool, default=None
        Whether systems with a grid are tuned.
    grid : str, default=None
        Name of another grid of the experiment's.
    recipe : str, default=None
        Name of a preprocessing recipe.
    """

    systems: tuple[str, ...]
    data: Path | None = None
    quick: bool = False
    only: tuple[str, ...] = ()
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folds: int | None = None
    repeats: int | None = None
    trees: int | None = None
    tuning_trees: int | None = None
    max_rows: int | None = None
    seed: int = 0
    tune: bool | None = None
    recipe: str | None = None
    grid: str | None = None

    def meaning(self) -> dict[str, Any]:
        """What changes the result of a cell without being in its key: see `Protocol.meaning`."""
        return {
            "quick": self.quick,
            "folds": self.folds,
            "trees": self.trees,
            "tuning_trees": self.tuning_trees,
            "tune": self.tune,
            "recipe": self.recipe,
        }


@dataclass(frozen=True)
class Problem:
    """Training rows and test rows, prepared by a recipe fitted to the training rows."""

    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]
    task: str = "classification"
    categorical_features: NDArray[np.bool_] | None = None  # None: all columns are numeric


def _no_parameters(cell: Cell, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG001
    return {}


def _nothing(plan: Plan) -> Sequence[str]:  # noqa: ARG001
    return ()


def _small(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    return 0


@dataclass(frozen=True)
class Protocol:
    """A named experiment of a paper.

    Attributes
    ----------
    name, paper, sentence : str
        As ``bevel lab list`` prints them.
    default_systems : tuple of str
        When the user names none.
    cells : callable
        ``cells(plan)`` yields the cells in a stable order: data set by data set, then repeat and
        fold, then setting, the systems innermost, so that their times are interleaved and rows are
        made once for all of them.
    load : callable
        ``load(cell, plan)`` makes the rows. It is given ``cell.problem``, without the system, and
        draws from ``cell.split_seed`` (the folds) and ``cell.seed`` (what is drawn inside one).
    parameters : callable
        ``parameters(cell, plan)``: settings of the system in this cell, such as ``n_trees`` (left
        out for systems without trees). ``n_jobs`` among them replaces the runner's.
    size : callable
        ``size(cell, plan)``: entries of the training table, about; decides whether cells or the
        inside of a cell run in parallel, and with the trees weighs the remaining time.
    measure : callable, default=None
        ``measure(estimator, problem, cell)``: metrics of the protocol's own from a fitted
        estimator.
    source : {SIMULATED, SETS, BOTH, FOLDER}
        Where the rows are from, and so whether ``--data`` is ignored, welcome or needed.
    left_out : callable
        ``left_out(plan)``: messages on what the experiment cannot do with the folder it is given.
    tuned : bool
        Whether systems with a grid are tuned when the user does not say; quick runs are not, as
        grids have up to 240 settings.
    grids : mapping of str to Grid
        What is tried instead of a system's own grid.
    other_grids : mapping of str to mapping of str to Grid
        Grids that ``--grid`` puts in place of those, by name and system.
    rules : mapping of str to JSON values
        What else results depend on without its being in a cell's key: runs with other rules are not
        taken up.
    tuning_trees : int, default=None
        Trees while tuning; None: as many as in the end.
    fewer : mapping of str to (int, int)
        Options of ``bevel lab run`` whose default is below the paper's number: both.
    one_at_a_time : bool
        For studies of time: never two cells at once.
    figures : tuple of str
        What the results support, by name, for the report.
    claims : tuple of Claim
        Claims of the paper, to be compared with the results (`claims.check_claim`).
    """

    name: str
    paper: str
    sentence: str
    default_systems: tuple[str, ...]
    cells: Callable[[Plan], Iterator[Cell]]
    load: Callable[[Cell, Plan], Problem]
    parameters: Callable[[Cell, Plan], Mapping[str, Any]] = _no_parameters
    size: Callable[[Cell, Plan], int] = _small
    measure: Callable[[Estimator, Problem, Cell], Mapping[str, float]] | None = None
    source: str = SIMULATED
    left_out: Callable[[Plan], Sequence[str]] = _nothing
    tuned: bool = False
    grids: Mapping[str, Grid] = field(default_factory=dict)
    other_grids: Mapping[str, Mapping[str, Grid]] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    tuning_trees: int | None = None
    fewer: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    one_at_a_time: bool = False
    figures: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()

    def is_tuned(self, plan: Plan) -> bool:
        """Whether systems with a grid are tuned."""
        return self.tuned and not plan.quick if plan.tune is None else plan.tune

    def grids_of(self, plan: Plan) -> Mapping[str, Grid]:
        """What is tried instead of a system's own grid, as the plan asks."""
        return {**self.grids, **self.other_grids[plan.grid]} if plan.grid else self.grids

    def meaning(self, plan: Plan) -> dict[str, Any]:
        """What changes the result of a cell without being in its key.

        A run folder holds results of one meaning; systems, data sets and repeats may be added.
        """
        grid = {"grid": plan.grid or "printed"} if self.other_grids else {}
        return {"experiment": self.name, **plan.meaning(), **grid, **self.rules}
