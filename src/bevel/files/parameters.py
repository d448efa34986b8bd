"""Parameters of an estimator in a file: encoded, decoded and validated."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bevel._types import Arrays
from bevel.errors import join_names, shorten
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.scalars import UnstorableError
from bevel.files.values.values import decode_value, encode_value
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import check_each
from bevel.projections.families import read_projection
from bevel.training.threads import count_threads

__all__ = ["decode_parameters", "encode_parameters"]


# Threads are counted in 32 bits.
MOST_JOBS = 2**31 - 1


def encode_parameters(
    values: Mapping[str, Any], parameters: Mapping[str, Parameter], arrays: Arrays
) -> dict[str, Any]:
    """Turn parameters into JSON values; warns of those that become their defaults.

    Parameters
    ----------
    values : mapping
        Values from `get_params(deep=False)`.
    parameters : mapping of str to Parameter
        Parameters of the estimator.
    arrays : dict
        Receives arrays of numbers, by the names of their sections.
    """
    _check(values, parameters)
    lost = [name for name, value in values.items() if _is_lost(name, value)]
    if lost:
        warnings.warn(
            "A model file holds no functions and no random generators: "
            f"{join_names(lost)} will be the default in the loaded estimator. Set it again there "
            "if you fit once more.",
            UserWarning,
            stacklevel=5,  # the caller of save
        )
    kept = {n: parameters[n].default if n in lost else value for n, value in values.items()}
    return {name: _encode(name, value, arrays) for name, value in kept.items()}


def _is_lost(name: str, value: object) -> bool:
    if name == "random_state":
        return isinstance(value, np.random.RandomState | np.random.Generator) or callable(value)
    return name in ("oob_score", "callback", "loss", "scoring") and callable(value)


def _encode(name: str, value: Any, arrays: Arrays) -> Any:
    try:
        return encode_value(value, arrays)
    except UnstorableError as error:
        raise TypeError(
            f"{name} must be made of numbers, strings, dates, lists, dicts, arrays and "
            f"projections of bevel.projections to be saved; got {error}. Change it with "
            f"set_params({name}=...), or pickle the estimator."
        ) from None


def decode_parameters(
    value: Mapping[str, Any], parameters: Mapping[str, Parameter], sections: Sections
) -> dict[str, Any]:
    """Turn JSON values into parameters of the estimator.

    Parameters
    ----------
    value : mapping
        Values from the header. Parameters that it lacks did not exist yet and get their defaults.
    parameters : mapping of str to Parameter
        Parameters of the estimator.
    sections : Sections
        Sections to take arrays from.
    """
    unknown = [repr(name) for name in value if name not in parameters]
    if unknown:
        required = "a parameter of this version of Bevel (a later one may have more)"
        raise damaged("The names of parameters", required, join_names(unknown))
    values = {name: parameter.default for name, parameter in parameters.items()}
    values |= {name: decode_value(each, sections) for name, each in value.items()}
    try:
        _check(values, parameters)
        _check_seed(values["random_state"])
    except (TypeError, ValueError, ArithmeticError) as error:
        raise damaged("The parameters", "such as the estimator takes", str(error)) from None
    return values


def _check(values: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> None:
    """Raise for values that no fit and no prediction would accept."""
    check_each(values, parameters)
    if "projection" in parameters:
        # Boosting draws sparse combinations with "auto" too, whose number may be given.
        boosts = "max_iter" in parameters and values["projection"] == "auto"
        read_projection(
            "sparse" if boosts else values["projection"], values.get("n_projections", "auto")
        )
    count_threads(values["n_jobs"])
    if abs(values["n_jobs"] or 0) > MOST_JOBS:
        raise ValueError(f"n_jobs must be at most {MOST_JOBS}; got {shorten(values['n_jobs'])}.")


def _check_seed(random_state: object) -> None:
    if random_state is not None and not isinstance(random_state, numbers.Integral):
        raise ValueError(f"random_state must be None or an integer; got {shorten(random_state)}.")
