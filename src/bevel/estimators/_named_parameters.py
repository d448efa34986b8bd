"""Parameters by name: those of a projection through the estimator, and hints for unknown ones."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self, TypeVar

from sklearn.base import clone

from bevel.errors import shorten
from bevel.parameters.constraints import Parameter
from bevel.parameters.other_names import remedy_for
from bevel.projections import NAMED, Projection

Estimator = TypeVar("Estimator", bound="NamedParameters")
NESTED = "projection__"
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class NamedParameters:
    """Handling of parameter names in all estimators; comes before BaseEstimator."""

    _parameters: ClassVar[Mapping[str, Parameter]]
    projection: Any

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        """Raise for unknown parameters, with the name that they have here."""
        known = _known(cls)
        unknown = [name for name in parameters if name not in known]
        if unknown and not _takes_any(cls):
            remedy = remedy_for(unknown[0], known)
            raise TypeError(f"{cls.__name__} has no parameter {unknown[0]!r}. {remedy}")
        return super().__new__(cls)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **parameters
            Values by name. ``projection__density=3`` replaces the projection by a copy with that
            setting; a name such as "sparse" becomes its object.

        Returns
        -------
        self : object
            The estimator.
        """
        self._check_known(parameters)
        settings = {
            name.removeprefix(NESTED): parameters.pop(name)
            for name in list(parameters)
            if name.startswith(NESTED)
        }
        super().set_params(**parameters)  # type: ignore[misc]
        if settings:
            self.projection = _changed(self.projection, settings)
        return self

    def _own_parameters(self) -> dict[str, Any]:
        """Values of the library's parameters, even if the `__init__` of a subclass lacks them."""
        return {name: getattr(self, name) for name in self._parameters}

    def _check_known(self, parameters: Iterable[str]) -> None:
        known = _known(type(self))
        for name in parameters:
            if name.partition("__")[0] not in known:
                remedy = remedy_for(name, known)
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. {remedy}"
                )


def copy_with(estimator: Estimator, **parameters: Any) -> Estimator:
    """Return an unfitted copy with other values of the library's parameters.

    The values become attributes, since the `__init__` of a subclass need not take them.
    """
    copy: Estimator = clone(estimator)
    copy._check_known(name for name in parameters if name not in copy._parameters)
    for name, value in parameters.items():
        setattr(copy, name, value)
    return copy


def _known(cls: type) -> list[str]:
    """Names of the parameters of a class, in their order."""
    parameters = inspect.signature(cls).parameters
    return [name for name, each in parameters.items() if each.kind not in _VARIABLE]


def _takes_any(cls: type) -> bool:
    """Whether the `__init__` of a subclass takes ``**`` parameters."""
    kinds = [each.kind for each in inspect.signature(cls).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


def _changed(projection: object, settings: dict[str, Any]) -> Projection:
    """Return a copy of a projection with other settings."""
    if isinstance(projection, str) and projection in NAMED:
        projection = NAMED[projection]()
    if not isinstance(projection, Projection):
        raise ValueError(
            f"{NESTED}{next(iter(settings))} needs a single projection; got "
            f"{shorten(projection)}. Set projection to an object of bevel.projections, such as "
            "P.SparseSigns()."
        )
    return projection.with_params(**settings)
