"""Data sets that an experiment runs on: those of a folder, or the few that come with scikit-learn.

A folder is one that `bevel.datasets.load_folder` reads, or holds several of them.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel import datasets
from bevel.datasets import LabelledTable
from bevel.errors import join_names, wrong_value
from bevel_lab.data.folder_tables import entries, read_table
from bevel_lab.data.recipes import RECIPES
from bevel_lab.protocols.base import Plan, Problem

__all__ = ["DataSet", "all_sets", "chosen_sets", "open_set", "prepared"]

QUICK_ROWS, QUICK_SETS = 400, 4


@dataclass(frozen=True)
class DataSet:
    """What is known of a data set before it is read; `load` reads it."""

    name: str
    n_rows: int
    n_classes: int  # 0: regression
    n_nominal: int
    load: Callable[[], LabelledTable]


def all_sets(data: Path | None) -> dict[str, DataSet]:
    """The sets of a folder and its subfolders by name; without a folder, scikit-learn's."""
    if data is None:
        return {each.name: each for each in _bundled()}
    return {each.name: each for folder in _folders(data) for each in _in_folder(folder)}


def chosen_sets(
    plan: Plan,
    *,
    paper: Collection[str] = (),
    keep: Callable[[DataSet], bool] | None = None,
    regression: bool = False,
) -> list[DataSet]:
    """Requested classification sets, or regression sets, in the order of the index.

    Parameters
    ----------
    plan : Plan
        ``only`` and ``max_rows`` choose; ``quick`` leaves a few small ones.
    paper : collection of str, default=()
        Names of the paper's own sets: if some are there, and the user names none, others are left
        out.
    keep : callable, default=None
        What the experiment itself requires of a set.
    regression : bool, default=False
        Whether sets with numbers as targets are wanted.
    """
    every = all_sets(plan.data)
    known = {name: each for name, each in every.items() if (each.n_classes == 0) == regression}
    if keep is not None:
        known = {name: each for name, each in known.items() if keep(each)}
    unknown = [name for name in plan.only if name not in known]
    if unknown:
        where = "the sets that come with scikit-learn" if plan.data is None else str(plan.data)
        required = f"data sets of {where} that suit the experiment ({join_names(list(known))})"
        raise wrong_value("only", required, unknown[0], "Check the spelling, or give --data.")
    named = plan.only or [name for name in known if name in paper]
    sets = [known[name] for name in named] or list(known.values())
    if plan.max_rows is not None:
        sets = [each for each in sets if each.n_rows <= plan.max_rows]
    if plan.quick and not plan.only:
        small = sorted(sets, key=lambda each: (each.n_rows, each.name))
        sets = [each for each in small if 100 <= each.n_rows <= QUICK_ROWS][:QUICK_SETS] or sets[:1]
    if not sets:
        raise ValueError(
            "The experiment needs a data set; none is left of those in "
            f"{plan.data or 'scikit-learn'}. Give another --data, or ask for larger ones."
        )
    return sets


def open_set(name: str, data: Path | None) -> LabelledTable:
    """Read a data set by name."""
    known = all_sets(data)
    if name not in known:
        required = f"one of {join_names(list(known))}"
        raise wrong_value("data set", required, name, "Give the folder that has it as --data.")
    return known[name].load()


def prepared(table: LabelledTable, train: NDArray[np.bool_], recipe: str) -> Problem:
    """Training and test rows, after a recipe that is learned on the former."""
    if recipe not in RECIPES:
        required = f"one of {', '.join(RECIPES)}"
        raise wrong_value("recipe", required, recipe, "Choose one of these.")
    fitted = RECIPES[recipe].fit(
        table.X[train],
        nominal=table.categorical_features,
        names=table.feature_names,
        accepts=("missing", "nominal"),
    )
    nominal = fitted.categorical_features
    return Problem(
        *(fitted.transform(table.X[train]), table.y[train]),
        *(fitted.transform(table.X[~train]), table.y[~train]),
        task="regression" if table.y.dtype.kind == "f" else "classification",
        categorical_features=nominal if nominal.any() else None,
    )


def _folders(data: Path) -> list[Path]:
    inside = [each.parent for each in sorted(data.glob("*/index.csv"))]
    return inside if inside and not (data / "index.csv").is_file() else [data]


def _in_folder(folder: Path) -> Iterable[DataSet]:
    for entry in entries(folder).values():
        load = partial(read_table, folder, entry.name)
        n_nominal = len(entry.categorical_columns)
        yield DataSet(entry.name, entry.n_rows, entry.n_classes, n_nominal, load)


BUNDLED: dict[str, tuple[Callable[[], tuple[Any, Any]], int, int]] = {  # rows, classes
    "iris": (datasets.load_iris, 150, 3),
    "wine": (datasets.load_wine, 178, 3),
    "breast_cancer-wisconsin-diag": (datasets.load_breast_cancer, 569, 2),
    "digits": (datasets.load_digits, 1797, 10),
}


def _bundled() -> Iterable[DataSet]:
    for name, (_, n_rows, n_classes) in BUNDLED.items():
        yield DataSet(name, n_rows, n_classes, 0, partial(_read_bundled, name))


@lru_cache(maxsize=len(BUNDLED))
def _read_bundled(name: str) -> LabelledTable:
    X, y = BUNDLED[name][0]()
    n_features = X.shape[1]
    names = tuple(f"x{i}" for i in range(n_features))
    return LabelledTable(X, y.astype(np.str_), names, np.zeros(n_features, dtype=np.bool_), {})
