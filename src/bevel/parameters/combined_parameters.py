"""The parameters of the models that combine a forest and boosting."""

from __future__ import annotations

from dataclasses import replace

from bevel.parameters.boosting_parameters import BOOSTING_CLASSIFIER_PARAMETERS
from bevel.parameters.forest_parameters import CLASSIFIER_PARAMETERS
from bevel.parameters.parameter import Integer, NoneOption, Number, Parameter

__all__ = ["COMBINED_CLASSIFIER_PARAMETERS", "COMBINED_REGRESSOR_PARAMETERS"]

_QUALITY = Parameter(
    "quality",
    3,
    [Integer(1, 5)],
    "How much work the fit does, from 1 to 5: the number of trees of the forest, and of boosting "
    "models. 3 is the forest and boosting at their defaults. 1 takes about 0.4 of the time and "
    "2 takes 0.7; 4 averages three boosting models, 5 six of them, and doubles the forest.",
    "Use 3.",
)
_TIME_LIMIT = Parameter(
    "time_limit",
    None,
    [NoneOption(), Number("(0, inf)")],
    "Seconds that the fit may take; the highest step of `quality` that should end in time is then "
    "taken (`quality_`), by the time of a few trees and of the first boosting model. A step gives "
    "the same model as `quality`, but a busier machine may allow a lower one only.",
    "Use for example 60.",
)
_CLASS_WEIGHT = BOOSTING_CLASSIFIER_PARAMETERS["class_weight"]
_DATA = [
    CLASSIFIER_PARAMETERS[name]
    for name in ("categorical_features", "monotonic_cst", "interaction_cst")
]
_RUN = [
    *(CLASSIFIER_PARAMETERS[name] for name in ("n_jobs", "random_state", "verbose")),
    replace(
        CLASSIFIER_PARAMETERS["callback"],
        meaning="Called a few times a second during fit with the number of finished trees or "
        "iterations of a stage of the fit, and of all of them. An exception it raises ends the "
        "fit.",
    ),
]


def _table(*groups: list[Parameter]) -> dict[str, Parameter]:
    return {parameter.name: parameter for group in groups for parameter in group}


COMBINED_CLASSIFIER_PARAMETERS = _table(
    [_QUALITY, _TIME_LIMIT], _DATA[:1], [_CLASS_WEIGHT], _DATA[1:], _RUN
)
COMBINED_REGRESSOR_PARAMETERS = _table([_QUALITY, _TIME_LIMIT], _DATA, _RUN)
