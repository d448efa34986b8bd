"""Implements `bevel.presets`: its table, and an estimator from the settings of a paper."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from bevel.estimators import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    StackedRotationClassifier,
    StackedRotationRegressor,
)
from bevel.projections.base import check_option

__all__ = [
    "BLASER",
    "LIN_JEON",
    "MENZE",
    "RODRIGUEZ",
    "SPORF",
    "TOMITA",
    "Boosting",
    "Forest",
    "GradientBoosting",
    "Preset",
    "PresetTable",
    "Stack",
    "check_names",
    "make_forest",
    "preset",
    "table",
]

# The papers that the presets come from.

BLASER = "Blaser, Random rotations in machine learning (thesis)"
LIN_JEON = "Lin and Jeon 2006, as reviewed by Duan 2016"
MENZE = "Menze et al. 2011, On oblique random forests"
RODRIGUEZ = "Rodriguez et al. 2006, Rotation forest"
SPORF = "Tomita et al. 2020, Sparse projection oblique randomer forests"
TOMITA = "Tomita 2018, Generalized linear splitting rules (thesis)"


Forest = ObliqueForestClassifier | ObliqueForestRegressor
Boosting = RotatedBoostingClassifier | RotatedBoostingRegressor
GradientBoosting = ObliqueBoostingClassifier | ObliqueBoostingRegressor
Stack = StackedRotationClassifier | StackedRotationRegressor
Made = Forest | Boosting | GradientBoosting | Stack


@dataclass(frozen=True)
class Preset:
    """One line of the table: a system, its function, and where it is described."""

    name: str
    system: str
    paper: str
    section: str
    make: Callable[..., Made]


class PresetTable(tuple[Preset, ...]):
    """The presets in the order of this module; printed as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        lines: list[tuple[str, ...]] = [("preset", "system", "paper", "section")]
        lines += [(preset.name, preset.system, preset.paper, preset.section) for preset in self]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, tuple("-" * width for width in widths))
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


Make = TypeVar("Make", bound=Callable[..., Made])

_SHARED_PARAMETERS = """
task : {"classification", "regression"}, default="classification"
    Which of the two estimators to return.
**parameters
    Parameters of the estimator, such as `n_estimators`, `n_jobs` and `random_state`; they replace
    the paper's.
"""


_PRESETS: list[Preset] = []  # in the order of their definition


def preset(system: str, paper: str, section: str) -> Callable[[Make], Make]:
    """Function decorator: enter the function into the table, complete its docstring."""

    def decorate(make: Make) -> Make:
        _PRESETS.append(Preset(make.__name__, system, paper, section, make))
        text = inspect.cleandoc(make.__doc__ or "")
        heading = "" if "\nParameters\n" in text else "\n\nParameters\n----------"
        source = textwrap.fill(f"Source: {paper}, {section}.", width=96)
        summary, _, rest = text.partition("\n\n")
        rest, examples, code = rest.partition("\n\nExamples\n")
        own = f"{summary}\n\n{source}\n\n{rest}{heading}{_SHARED_PARAMETERS}"
        make.__doc__ = own.rstrip("\n") + examples + code + "\n"
        return make

    return decorate


def table() -> PresetTable:
    """All presets defined so far."""
    return PresetTable(_PRESETS)


def make_forest(
    task: str,
    parameters: Mapping[str, Any],
    *,
    criterion: str = "gini",
    voting: str = "hard",
    regression: Mapping[str, Any] | None = None,
    kinds: tuple[type[Any], type[Any]] = (ObliqueForestClassifier, ObliqueForestRegressor),
    **settings: Any,
) -> Forest:
    """The estimator of a preset.

    Parameters
    ----------
    task : str
        As given by the user.
    parameters : mapping
        The user's, which come first.
    criterion, voting : str
        In classification: Gini and one vote per tree unless the paper says otherwise.
    regression : mapping, default=None
        What is different in regression.
    kinds : pair of classes
        The classifier and the regressor.
    **settings
        The paper's.
    """
    check_option("task", task, ("classification", "regression"))
    classifier, regressor = kinds
    if task == "classification":
        kind = classifier
        settings |= {"criterion": criterion, "voting": voting}
    else:
        kind = regressor
        settings |= regression or {}
    check_names(parameters, kind, classifier)
    forest: Forest = kind(**(settings | dict(parameters)))
    return forest


def check_names(
    parameters: Mapping[str, Any], estimator: type[Any], classifier: type[Any] | None = None
) -> None:
    """Refuse parameters that an estimator does not have, though its classifier may."""
    known = list(inspect.signature(estimator).parameters)
    for name in parameters:
        if name in known:
            continue
        close = difflib.get_close_matches(name, known, n=1)
        remedy = f"Did you mean {close[0]}?" if close else f"See help({estimator.__name__})."
        if classifier and name in inspect.signature(classifier).parameters:
            remedy = 'Leave it out: it has a meaning with task="classification" only.'
        raise TypeError(
            f"Parameters of a preset must be its own or those of {estimator.__name__}; got "
            f"{name}. {remedy}"
        )
