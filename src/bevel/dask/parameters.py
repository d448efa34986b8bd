"""Parameters of the estimators: those of the local one, and two for the cluster."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from bevel.dask.packages import cloudpickle
from bevel.errors import shorten, wrong_value
from bevel.parameters.constraints import NoneOption, Parameter, Special, StrOptions
from bevel.parameters.forest_parameters import check_each
from bevel.projections import Custom
from bevel.projections.families import read_projection

__all__ = [
    "CLUSTER_PARAMETERS",
    "check_cluster_parameters",
    "pickle_parameters",
    "takes_parameters_of",
]

_MODE = Parameter(
    "mode",
    "auto",
    [StrOptions(("auto", "replicated", "sharded"))],
    '"replicated": each worker has the whole encoded table and grows some of the trees. '
    '"sharded": workers keep blocks of rows, and grow all trees level by level; the forest is that '
    'of a local fit of a table of `bevel.scan`. "auto": "replicated" if a worker has the memory '
    "for it.",
    'Use "auto".',
)
_CLIENT = Parameter(
    "client",
    None,
    [NoneOption(), Special("a dask.distributed.Client")],
    "Of the cluster; None is the current one. It is not pickled.",
)
CLUSTER_PARAMETERS = {"mode": _MODE, "client": _CLIENT}

Class = TypeVar("Class", bound=type)


def takes_parameters_of(local: type) -> Callable[[Class], Class]:
    """Class decorator: a constructor with the parameters of `local` and those of the cluster."""
    of_local = list(inspect.signature(local.__init__).parameters.values())  # type: ignore[misc]
    of_cluster = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default)
        for name, parameter in CLUSTER_PARAMETERS.items()
    ]
    signature = inspect.Signature([*of_local, *of_cluster])

    def decorate(cls: Class) -> Class:
        def __init__(self: Any, *positional: Any, **named: Any) -> None:
            bound = signature.bind(self, *positional, **named)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[misc]
        return cls

    return decorate


def check_cluster_parameters(mode: object, warm_start: bool) -> None:
    """Raise for parameters that a fit on a cluster does not support."""
    check_each({"mode": mode}, {"mode": _MODE})
    if warm_start:
        remedy = "Add trees to the local estimator: to_local().set_params(warm_start=True)."
        raise wrong_value("warm_start", "False on a cluster", warm_start, remedy)


def pickle_parameters(parameters: Mapping[str, Any]) -> bytes:
    """Pickle parameters for workers; raises if a projection's function would be lost."""
    pickled: bytes = cloudpickle().dumps(dict(parameters))
    sent = pickle.loads(pickled)
    for before, after in zip(_projections(parameters), _projections(sent), strict=True):
        if isinstance(before, Custom) and callable(before.sampler) != callable(after.sampler):
            raise ValueError(
                "projection=P.Custom(function) on a cluster needs a function that workers can "
                f"import from a module; got {shorten(before.sampler)}. Put it into a module that "
                "is installed at the workers, use a matrix, or fit locally."
            )
    return pickled


def _projections(parameters: Mapping[str, Any]) -> list[Any]:
    members = read_projection(parameters["projection"], parameters["n_projections"])
    return [member.projection for member in members]
