"""Fits that change an estimator only on success, and leave it unchanged if they fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from bevel.estimators._memory import explained

Estimator = TypeVar("Estimator", bound=object)
Given = ParamSpec("Given")
Result = TypeVar("Result")


def whole_or_not_at_all(
    fit: Callable[Concatenate[Estimator, Given], Result],
) -> Callable[Concatenate[Estimator, Given], Result]:
    """Decorator of `fit`: the result of an earlier fit stays until the new model is complete.

    The fit works on a copy of the estimator, which then gets what the copy has. Threads may predict
    with the earlier model meanwhile. After Ctrl-C an estimator whose class sets
    `_keeps_interrupted_fits` gets the model that the copy has, if it has a new one. If there is not
    enough memory, the error says for what; see `explained`.
    """

    @wraps(fit)
    def guarded(self: Estimator, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        before = dict(vars(self))
        copy = object.__new__(type(self))
        vars(copy).update(before)
        try:
            result = fit(copy, *args, **kwargs)
        except KeyboardInterrupt:
            if getattr(self, "_keeps_interrupted_fits", False) and _has_new_model(copy, before):
                _take_over(self, copy, before)
            raise
        except MemoryError as error:
            told = explained(error, "fit", copy, args[0] if args else kwargs.get("X"))
            if told is error:
                raise
            raise told from error
        _take_over(self, copy, before)
        return cast("Result", self) if result is copy else result

    return guarded


def _has_new_model(copy: object, before: Mapping[str, Any]) -> bool:
    model = vars(copy).get("_fitted")
    return model is not None and model is not before.get("_fitted")


def _take_over(estimator: object, copy: object, before: Mapping[str, Any]) -> None:
    """Give an estimator the changed attributes of its copy, and drop those that the copy lacks."""
    own, new = vars(estimator), vars(copy)
    own.update(
        {name: new[name] for name in new if name not in before or before[name] is not new[name]}
    )
    for name in before.keys() - new.keys():
        own.pop(name, None)
