"""The parameters that constrain a model, which forests and boosting share."""

from __future__ import annotations

from bevel.parameters.constraints import NoneOption, Parameter, Special

__all__ = ["CONSTRAINT_PARAMETERS"]

CONSTRAINT_PARAMETERS = [
    Parameter(
        "monotonic_cst",
        None,
        [NoneOption(), Special("1, -1 or 0 for each column, or a dict by name")],
        "1 for columns that predictions must not fall with, -1 for those they must not rise with, "
        "0 for the others; or a dict with the constrained columns by name. Holds for the predicted "
        "value, and with two classes for the probability of the second one. Missing values are "
        "not compared.",
        "Write for example monotonic_cst={'age': 1}.",
    ),
    Parameter(
        "interaction_cst",
        None,
        [
            NoneOption(),
            Special('"pairwise", "no_interactions", or a sequence of sets of columns'),
        ],
        "Sets of columns, by position or name, that may be combined in a direction and follow each "
        "other on a path; columns that no set names form one more. "
        '"no_interactions": every column alone. "pairwise": any two.',
        "Write for example interaction_cst=[{0, 1}, {2, 3, 4}].",
    ),
]
