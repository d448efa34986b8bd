"""Candidates of a search: sets of parameters, each a dict for `set_params`.

The first is empty: the estimator as it was passed. The others follow in the order in which a
larger budget adds them (docs/reference/tuning.md).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bevel.errors import join_names, wrong_type, wrong_value
from bevel.estimators import ObliqueForestClassifier
from bevel.parameters.forest_parameters import (
    CLASSIFIER_PARAMETERS,
    REGRESSOR_PARAMETERS,
)
from bevel.parameters.parameter import Parameter, check_each
from bevel.projections import (
    CCA,
    LDA,
    PLS,
    Axis,
    PrincipalRotation,
    RandomCombination,
    RandomRotation,
    Ridge,
    SparseSigns,
)
from bevel.projections.base import resolve_count
from bevel.projections.families import TableShape, read_projection
from bevel.training.options import check_combinations, draws_bags, is_regression, resolve_options

__all__ = [
    "DENSITIES",
    "POWERS",
    "SEARCHED",
    "Parameters",
    "list_candidates",
    "parameters_of",
    "sporf_grid",
    "write_parameters",
]

Parameters = Mapping[str, Any]

# Parameters that tuning may change, where the estimator has their defaults.
SEARCHED = (
    "projection",
    "n_projections",
    "criterion",
    "scale",
    "min_samples_leaf",
    "max_samples",
)
# Parameters that are not searched, and do not matter when candidates are compared.
MANAGED = (
    "n_estimators",
    "random_state",
    "n_jobs",
    "warm_start",
    "oob_score",
    "verbose",
    "callback",
)

# SPORF's grid, section 3.2.
POWERS = ("p**0.25", "p**0.5", "p**0.75", "p", "p**2")
DENSITIES = (1, 2, 3, 4, 5)

AFFORDABLE_DRAWS = 1000  # larger numbers of directions at a node, if above p, are not tried
AFFORDABLE_FEATURES = 100  # node models of more features are not tried
MAX_DRAWN = 500  # candidates drawn at random


def parameters_of(estimator: Any) -> Mapping[str, Parameter]:
    """The table of parameters of a forest."""
    is_classifier = isinstance(estimator, ObliqueForestClassifier)
    return CLASSIFIER_PARAMETERS if is_classifier else REGRESSOR_PARAMETERS


def write_parameters(parameters: Parameters) -> str:
    """Parameters as arguments of a call."""
    text = ", ".join(f"{name}={_write(value)}" for name, value in parameters.items())
    return text or "as passed"


def _write(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value).replace("'", '"')


def list_candidates(
    estimator: Any, shape: TableShape, wanted: str | Sequence[Parameters]
) -> list[dict[str, Any]]:
    """Candidates for an estimator and a table, with the unchanged estimator first.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        Estimator, whose parameters that differ from the defaults are not searched.
    shape : TableShape
        Size of the training table.
    wanted : {"auto", "sporf"} or sequence of dict
        "auto": those of this module; "sporf": SPORF's grid; otherwise a list given by the user.
    """
    values = estimator.get_params(deep=False)
    _check(estimator, {}, shape)
    if not isinstance(wanted, str):
        chosen = _read_candidates(wanted, parameters_of(estimator))
        for each in chosen:
            _check(estimator, each, shape)
        return _distinct([{}, *chosen])
    if wanted not in ("auto", "sporf"):
        required = '"auto", "sporf" or a list of dicts of parameters'
        raise wrong_value("candidates", required, wanted, "Leave it out to try the usual ones.")
    proposed = _usual(values, shape) if wanted == "auto" else sporf_grid(shape)
    table = parameters_of(estimator)
    fixed = {name for name in SEARCHED if not _is_default(table[name], values[name])}
    free = [each for each in _distinct([{}, *proposed]) if not fixed.intersection(each)]
    return [each for each in free if not each or _fits(estimator, each, shape)]


def sporf_grid(shape: TableShape, *, all_powers: bool = False) -> list[dict[str, Any]]:
    """SPORF's grid: d = p^¼, p^½, p^¾, p and, if affordable or wanted, p²; λp from 1 to 5."""
    powers: dict[int, str] = {}
    for power in POWERS:
        n_draws = resolve_count("d", power, shape.n_features)
        if power != "p**2" or all_powers or n_draws <= AFFORDABLE_DRAWS:
            powers.setdefault(n_draws, power)
    densities = [density for density in DENSITIES if density <= shape.n_numeric]
    return [
        {"projection": SparseSigns(density), "n_projections": power}
        for power, density in itertools.product(powers.values(), densities)
    ]


def _usual(values: Parameters, shape: TableShape) -> Iterator[dict[str, Any]]:
    """Candidates of general use, then random combinations of their parameters."""
    regression = is_regression(values["criterion"])
    entropy = {} if regression else {"criterion": "entropy"}
    many = "p**1.5"
    mixed = [(Axis(), "p"), (SparseSigns(2), many), (LDA(), 5)]
    yield {"projection": mixed, **entropy}
    yield {"projection": SparseSigns(3), "n_projections": many, "scale": "minmax", **entropy}
    yield {"scale": "rank"}
    yield {"projection": LDA(n_features=0.5), "n_projections": 5, **entropy}
    yield {"projection": "axis", "n_projections": "p" if regression else 0.33, **entropy}
    combination = RandomCombination(2)
    yield {"projection": combination, "n_projections": many, "scale": "minmax", **entropy}
    yield {"projection": Ridge(tune="gcv"), "n_projections": 3, **entropy}
    yield {"projection": PrincipalRotation(), **entropy}
    yield {"projection": SparseSigns(2), "n_projections": "p**2", **entropy}
    yield {"max_samples": 0.5}
    yield {"projection": [Axis(), SparseSigns(2), (LDA(), 2)], **entropy}
    yield {"min_samples_leaf": 3}
    yield {"projection": CCA(bootstrap=None), **entropy}
    yield {"scale": "minmax"}
    yield {"projection": PLS(n_features=0.5), "n_projections": 3, **entropy}
    yield {"projection": "axis", "n_projections": 0.33 if regression else "p", **entropy}
    yield from _of_fixed(values, shape)
    yield from _drawn(regression)


def _of_fixed(values: Parameters, shape: TableShape) -> Iterator[dict[str, Any]]:
    """Numbers of draws for a projection that the user has chosen."""
    projection = values["projection"]
    if projection == "auto" or isinstance(projection, list | tuple):
        return
    member = read_projection(projection, "auto")[0]
    regression = is_regression(values["criterion"])
    n_draws = member.projection.default_draws(shape.n_features, regression)
    for factor in (2, 0.5, 4, 0.25, 8):
        yield {"n_projections": max(1, round(factor * n_draws))}


def _drawn(regression: bool) -> Iterator[dict[str, Any]]:
    """Random combinations, the same ones in every call, so that a larger budget continues."""
    rng = np.random.default_rng(0)
    families: list[tuple[Any, tuple[Any, ...]]] = [
        ("auto", ("auto",)),
        (Axis(), (0.33, 0.67, "p")),
        *((SparseSigns(density), ("p", "p**1.5", "p**2")) for density in (2, 3, 4, 6)),
        *((RandomCombination(n), ("p", "p**1.5")) for n in (2, 3, 5)),
        *((LDA(n_features=n), (1, 3, 10)) for n in ("sqrt", 0.5)),
        *((Ridge(n_features=n, tune="gcv"), (1, 3, 10)) for n in ("sqrt", 0.5)),
        (CCA(bootstrap=None), (1, 3)),
        (PrincipalRotation(), ("auto",)),
        (RandomRotation(), ("auto", "p")),
        ([(Axis(), "p"), (SparseSigns(2), "p"), (Ridge(tune="gcv"), 3)], ("auto",)),
    ]
    criteria = ("squared_error",) if regression else ("gini", "entropy")
    for _ in range(MAX_DRAWN):
        projection, draws = families[rng.integers(len(families))]
        made = {
            "projection": projection,
            "n_projections": draws[rng.integers(len(draws))],
            "criterion": criteria[rng.integers(len(criteria))],
            "scale": ("auto", "auto", "minmax", "rank")[rng.integers(4)],
            "min_samples_leaf": (1, 1, 2, 4)[rng.integers(4)],
        }
        plain: dict[str, Any] = {"projection": "auto", "n_projections": "auto", "scale": "auto"}
        plain |= {"criterion": "squared_error", "min_samples_leaf": 1}
        yield {name: value for name, value in made.items() if value != plain[name]}


def _distinct(candidates: Iterable[Parameters]) -> list[dict[str, Any]]:
    seen: dict[str, dict[str, Any]] = {}
    for each in candidates:
        seen.setdefault(write_parameters(each), dict(each))
    return list(seen.values())


def _is_default(parameter: Parameter, value: object) -> bool:
    return type(value) is type(parameter.default) and value == parameter.default


def _fits(estimator: Any, candidate: Parameters, shape: TableShape) -> bool:
    """Whether a forest with these parameters can be grown on the table at acceptable cost."""
    try:
        options = _check(estimator, candidate, shape)
    except ValueError:
        return False
    dear = max(AFFORDABLE_DRAWS, shape.n_features)
    return not any(
        family.n_draws > dear or (family.fits_models and family.n_nonzeros > AFFORDABLE_FEATURES)
        for family in options.families
    )


def _check(estimator: Any, candidate: Parameters, shape: TableShape) -> Any:
    """The options of a candidate for a table; raises the errors of a fit."""
    values = {**estimator.get_params(deep=False), **candidate}
    try:
        check_each(values, parameters_of(estimator))
        members = read_projection(values["projection"], values["n_projections"])
        values["bootstrap"] = draws_bags(values["bootstrap"], members)
        check_combinations({**values, "oob_score": True}, members)
        return resolve_options(values, members, shape, 0)
    except (TypeError, ValueError) as error:
        error.args = (f"{error} (candidate {write_parameters(candidate)})",)
        raise


def _read_candidates(
    wanted: Sequence[Parameters], known: Mapping[str, Parameter]
) -> list[dict[str, Any]]:
    """The user's list, its names checked."""
    required = "a list of dicts of parameters"
    remedy = 'Write for example [{"projection": "lda"}, {"projection": "ridge"}].'
    if not isinstance(wanted, Sequence) or not all(isinstance(each, Mapping) for each in wanted):
        raise wrong_type("candidates", required, wanted, remedy)
    if not wanted:
        raise wrong_value("candidates", "at least one dict of parameters", wanted, remedy)
    for each in wanted:
        unknown = [repr(name) for name in each if name not in known or name in MANAGED]
        if unknown:
            usable = ", ".join(name for name in known if name not in MANAGED)
            raise ValueError(
                f"candidates must name parameters that can be tuned ({usable}); got "
                f"{join_names(unknown)}. Set others in the estimator."
            )
    return [dict(each) for each in wanted]
