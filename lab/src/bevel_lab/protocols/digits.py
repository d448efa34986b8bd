"""Pairs of handwritten digits from MNIST, where a data folder has it: sets 21 to 23 of Menze's
Table 1, and real images beside the bars of Tomita's thesis (3.3.8)."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from bevel.datasets import LabelledTable
from bevel_lab.protocols.base import Plan
from bevel_lab.protocols.sets import all_sets, open_set

__all__ = ["PAIRS", "SHAPE", "chosen_pairs", "open_pair", "what_is_missing"]

MNIST = "mnist"  # how the name of the set begins
SHAPE = (28, 28)
# Digits of the first class and of the second, under the names of Menze's Table 1.
PAIRS: Mapping[str, tuple[str, str]] = {
    "digits 2-4": ("2", "4"),
    "digits 3-8": ("3", "8"),
    "digits even-odd": ("02468", "13579"),
}


def chosen_pairs(plan: Plan) -> list[str]:
    """Names of the requested pairs that the folder has; in a quick run if named."""
    if _mnist(plan.data) is None or (plan.quick and not plan.only):
        return []
    return [name for name in PAIRS if not plan.only or name in plan.only]


def what_is_missing(plan: Plan) -> list[str]:
    """A message if the pairs belong to the experiment but the folder has no MNIST."""
    named = any(name in PAIRS for name in plan.only)
    if _mnist(plan.data) is not None or not (named or not (plan.only or plan.quick)):
        return []
    where = "no folder was given" if plan.data is None else f"{plan.data} has none"
    return [
        f"The pairs of digits need MNIST, a set of 784 columns whose name begins with {MNIST}; "
        f"{where}. Give --data FOLDER with it."
    ]


@lru_cache(maxsize=1)
def open_pair(name: str, data: Path | None, n_images: int, seed: int) -> LabelledTable:
    """Images of two classes of digits, drawn without repetition; all systems see the same ones."""
    mnist = _mnist(data)
    if mnist is None:
        raise ValueError(
            f"{name} needs MNIST; {data} has no set of that name. Give another --data."
        )
    table = open_set(mnist, data)
    first, second = (np.isin(table.y, list(digits)) for digits in PAIRS[name])
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(first | second))[:n_images]
    labels = np.where(first[rows], *PAIRS[name])
    names, nominal = table.feature_names, table.categorical_features
    return LabelledTable(table.X[rows], labels, names, nominal, {})


def _mnist(data: Path | None) -> str | None:
    """The name of the folder's MNIST; Fashion-MNIST has another beginning."""
    if data is None:
        return None
    return next((name for name in all_sets(data) if name.lower().startswith(MNIST)), None)
