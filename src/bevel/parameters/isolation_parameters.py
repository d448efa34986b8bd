"""The parameters of isolation forests: default, range and meaning of each, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bevel.parameters.constraints import Flag, Integer, Number, Parameter, Real, Special, StrOptions
from bevel.parameters.forest_parameters import REGRESSOR_PARAMETERS

__all__ = ["ISOLATION_PARAMETERS"]


def _table(*parameters: Parameter) -> Mapping[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters}


ISOLATION_PARAMETERS = _table(
    replace(
        REGRESSOR_PARAMETERS["n_estimators"],
        default=100,
        meaning="Number of trees. More of them steady the scores; training, prediction and memory "
        "grow in proportion.",
    ),
    Parameter(
        "projection",
        "auto",
        [Special("a name, an object of bevel.projections, or a list of them")],
        "Where the one direction of a node comes from; it must not look at a target. "
        '"auto" combines √p features, at least two, with normal coefficients; '
        "`P.Gaussian(n_features=1.0)` all of them, which is the extended isolation forest at full "
        'extension; "axis" takes a single feature, as the isolation forest does.',
        'Use "auto", "gaussian", "sparse" or "axis".',
    ),
    Parameter(
        "max_samples",
        "auto",
        [StrOptions(("auto",)), Integer(1), Real("(0, 1]")],
        'Rows drawn for each tree; a float is a share of the training rows. "auto" is 256, or all '
        "rows if there are fewer.",
        'Use "auto" for 256 rows.',
    ),
    Parameter(
        "contamination",
        "auto",
        [StrOptions(("auto",)), Number("(0, 0.5]")],
        'Share of outliers among the training rows, from which `offset_` follows. "auto" is an '
        "offset of -0.5, as in the original paper.",
        'Use "auto", or a share such as 0.05.',
    ),
    Parameter(
        "max_features",
        1.0,
        [Integer(1), Real("(0, 1]")],
        "Columns drawn for each tree, without replacement; a float is a share of them. Directions "
        "of the tree combine its columns only.",
        "Use 1.0 for all columns.",
    ),
    Parameter(
        "bootstrap",
        False,
        [Flag()],
        "Whether the rows of a tree are drawn with replacement.",
    ),
    replace(
        REGRESSOR_PARAMETERS["scale"],
        meaning="How features are made comparable before they are combined; learned on the "
        'training rows and applied inside predict. "minmax" and "minmax_clip" (cut to the training '
        'range), "standard", "quantile" (5 to 95 %, outliers dampened), "rank" and '
        '"relative_rank". "auto" scales only when features that may be in different units are '
        'combined, by "standard", which leaves outliers where they are.',
    ),
    REGRESSOR_PARAMETERS["categorical_features"],
    *(
        REGRESSOR_PARAMETERS[name]
        for name in ("n_jobs", "random_state", "warm_start", "verbose", "callback")
    ),
)
