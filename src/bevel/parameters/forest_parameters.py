"""The parameters of the estimators: default, range and meaning of each, in one place.

Messages and docstrings are rendered from these tables. Combinations of parameters are evaluated in
`bevel.training.options`.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from bevel.data.scaling import SCALES
from bevel.parameters.parameter import (
    ATTRIBUTES,
    Flag,
    Float,
    Function,
    InstanceOf,
    Integer,
    NoneOption,
    Number,
    Parameter,
    StrOptions,
)
from bevel.training.options import CLASS_CRITERIA, NUMBER_CRITERIA
from bevel.training.rotation_ensemble import WEIGHTINGS

__all__ = [
    "CLASSIFIER_PARAMETERS",
    "CONSTRAINT_PARAMETERS",
    "ISOLATION_PARAMETERS",
    "MAX_MODELS",
    "PURITY",
    "REGRESSOR_PARAMETERS",
    "ROTATION_CLASSIFIER_PARAMETERS",
    "ROTATION_REGRESSOR_PARAMETERS",
    "SURVIVAL_PARAMETERS",
    "documented",
]

PURITY = Parameter(
    "split_pure_nodes",
    False,
    [Flag()],
    "Whether nodes of a single target are split too, along a drawn direction at a random cut. "
    "Leaves then have fewer rows than `min_samples_split` if directions tell them apart, as in "
    "Lin and Jeon's Proposition 2. Predictions stay the same.",
)


CONSTRAINT_PARAMETERS = [
    Parameter(
        "monotonic_cst",
        None,
        [NoneOption(), InstanceOf("1, -1 or 0 for each column, or a dict by name")],
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
            InstanceOf('"pairwise", "no_interactions", or a sequence of sets of columns'),
        ],
        "Sets of columns, by position or name, that may be combined in a direction and follow each "
        "other on a path; columns that no set names form one more. "
        '"no_interactions": every column alone. "pairwise": any two.',
        "Write for example interaction_cst=[{0, 1}, {2, 3, 4}].",
    ),
]


# Trees, or models of an ensemble: their number alone, without any splits, takes 1 GB.
MAX_MODELS = 10**6

_N_ESTIMATORS = Parameter(
    "n_estimators",
    300,
    [Integer(1, MAX_MODELS)],
    "Number of trees. More of them steady the result and do not overfit; training, "
    "prediction and memory grow in proportion.",
    "Use 100 to 1000.",
)


def _chosen_number(most: int) -> Parameter:
    """The number of trees of a forest that may choose it."""
    return replace(
        _N_ESTIMATORS,
        default="auto",
        accepts=[StrOptions(["auto"]), *_N_ESTIMATORS.accepts],
        meaning=f'{_N_ESTIMATORS.meaning} "auto" is {most}, or fewer with `projection="auto"` '
        "and 5000 rows or more: so many that further trees would lower the squared error (Brier "
        "score) by at most 0.5 % of it, and of what the forest explains, both out of bag.",
        remedy='Use "auto", or 100 to 1000.',
    )


_FOREST = [
    _N_ESTIMATORS,
    Parameter(
        "projection",
        "auto",
        [InstanceOf("a name, an object of bevel.projections, or a list of them")],
        'Where candidate directions come from. "auto" lets several families share the trees by '
        "their out-of-bag results, see `families_`. "
        '"axis" gives Breiman\'s random forest; "sparse", '
        '"combination", "gaussian", "rotation", "multirotation" and "principal" combine features; '
        '"ridge", "lda", "logistic", "pls" and "cca" fit a model to the rows of each node; '
        "`P.Patches(shape)` combines neighbouring pixels, `P.Custom(...)` is your own; a list "
        "evaluates the candidates of all its members, each a projection or a pair `(projection, "
        "n_projections)`. See `bevel.projections`.",
    ),
    Parameter(
        "n_projections",
        "auto",
        [InstanceOf('"auto", an integer, a share in (0, 1], "sqrt", "log2", "p" or "p**k"')],
        'Candidates drawn at each node, where p counts all columns. "auto" is √p for "axis", '
        '"gaussian" and "rotation" (p/3 in regression), √(Kp) for the K views of "multirotation", '
        'p for "sparse", "combination", "principal" and patches, and one model per node for those '
        'that fit one, all of whose directions are tried. "sqrt", '
        '"log2" and shares round down, "p**k" rounds up, all to at least 1. More '
        "candidates give stronger and more alike trees; training time grows in proportion. With "
        "nominal columns, their share of the draws (rounded, at least one) are nominal columns, "
        "and at least one is not.",
    ),
]

# At which missing a cut by chance alone is out of the question.
MAX_REDRAWS = 1000

_SPLITS = [
    Parameter(
        "threshold",
        "best",
        [StrOptions(("best", "random", "purely_random"))],
        'How the cut on a direction is chosen. "best": the one of highest gain. "random": the '
        'best of `n_thresholds` uniform cuts (extremely randomised trees). "purely_random": one '
        "direction and one cut chosen without looking at y, up to a budget of `max_leaf_nodes` "
        "leaves, by default ⌈√n⌉.",
    ),
    Parameter(
        "n_thresholds",
        1,
        [Integer(1)],
        'Cuts tried on each direction when `threshold="random"`.',
        "Use 1 to 10.",
    ),
    Parameter(
        "split_search",
        "auto",
        [StrOptions(("auto", "exact", "histogram"))],
        'How the best cut is found. "exact" sorts; "auto" grows the same forest by whatever route '
        'is fastest; "histogram" looks at a limited number of cuts and may be faster.',
    ),
    Parameter(
        "max_depth",
        None,
        [NoneOption(), Integer(1)],
        "Largest number of splits between the root and a leaf; None for no limit.",
        "Use None for full trees.",
    ),
    Parameter(
        "min_samples_split",
        "auto",
        [StrOptions(("auto",)), Integer(2), Float("(0, 1]")],
        "Distinct rows a node needs to be split; a float is a share of the training rows. "
        '"auto": 2, but with `projection="auto"` 2, 5, 12, 32 or 80, whichever is best out of bag '
        "(see `families_`).",
    ),
    Parameter(
        "min_samples_leaf",
        1,
        [Integer(1), Float("(0, 1)")],
        "Distinct rows each side of a split must keep; a float is a share of the training rows.",
    ),
    Parameter(
        "min_weight_fraction_leaf",
        0.0,
        [Number("[0, 0.5]")],
        "Share of a tree's total weight each side of a split must keep.",
    ),
    Parameter(
        "max_leaf_nodes",
        None,
        [NoneOption(), Integer(2)],
        "Largest number of leaves of a tree; None for no limit.",
        "Use None for full trees.",
    ),
    Parameter(
        "growth",
        None,
        [NoneOption(), StrOptions(("best_first", "breadth_first", "random_leaf"))],
        "Which node is split next when `max_leaf_nodes` is set: the one of highest gain "
        '("best_first"), the oldest ("breadth_first", Lin and Jeon\'s Algorithm 1) or a random '
        'one ("random_leaf"). None means "best_first", or "random_leaf" with '
        '`threshold="purely_random"`.',
    ),
    Parameter(
        "min_impurity_decrease",
        0.0,
        [Number("[0, inf)")],
        "Decrease of impurity a split must bring, weighted by the node's share of the rows as in "
        "scikit-learn.",
    ),
    Parameter(
        "max_redraws",
        "auto",
        [StrOptions(("auto",)), Integer(0, MAX_REDRAWS)],
        "How often a node draws further candidates while none of those drawn has a cut, before it "
        'becomes a leaf; of single columns and other lists, one candidate each time. "auto" goes '
        "on until a single column can be cut, as scikit-learn does, and draws other directions "
        "again eight times. 0: the node becomes a leaf at once, as in R's randomForest.",
        'Use "auto", or 0 for smaller trees.',
    ),
]

_BAGS = [
    Parameter(
        "bootstrap",
        "auto",
        [StrOptions(("auto",)), Flag()],
        'Whether each tree is grown on a random bag of rows, or on all rows. "auto" draws bags '
        'unless a projection needs all rows, as `CCA(bootstrap="projection")` does.',
    ),
    Parameter(
        "max_samples",
        None,
        [NoneOption(), Integer(1), Float("(0, 1]")],
        "Rows drawn for a bag; a float is a share of the training rows. None draws n rows with "
        "replacement, or 0.632 n without, which is the expected number of distinct rows of the "
        "former.",
    ),
    Parameter(
        "replace",
        True,
        [Flag()],
        "Whether bags are drawn with replacement.",
    ),
]

_HONEST = Parameter(
    "honest",
    False,
    [Flag(), Float("(0, 1)")],
    "Whether the splits of a tree are learnt on one part of its bag and the values of its leaves "
    "on the other, so that leaves are estimates from rows that did not shape them. A float is the "
    "share of the rows (with groups, of the groups) of each bag that give leaves their values; "
    "True is 0.5. `min_samples_leaf` and other limits count rows of the part for splits, and a "
    "leaf that no row of the other part reaches is merged with its sibling. Out-of-bag rows are in "
    "neither part. With "
    'projection="auto" the shares of the families, the size of nodes and the calibration are '
    "chosen on out-of-bag predictions of all rows.",
    "Use True, or for example 0.5.",
)

_SCALE = (
    "How features are made comparable before they are combined; learned on the training rows "
    'and applied inside predict. "minmax" and "minmax_clip" (cut to the training range), '
    '"standard", "quantile" (5 to 95 %, outliers dampened), "rank" and "relative_rank". '
    '"auto" scales only when features that may be in different units are combined, by '
)
# Isolation and survival forests use nominal columns by subsets only.
_NOMINAL = (
    'Nominal columns, split by subsets of their levels. "from_dtype" takes text, categorical and '
    "mixed object columns of data frames; otherwise a list of indices or names or a boolean mask, "
    "or None. A level not seen in training follows the heavier child."
)

_DATA = [
    Parameter(
        "scale",
        "auto",
        [NoneOption(), StrOptions(("auto", *SCALES))],
        f'{_SCALE}"quantile", or by "minmax" with projection="auto" (the evidence is in the '
        "documentation, How it works).",
    ),
    Parameter(
        "categorical_features",
        "from_dtype",
        [InstanceOf('"from_dtype", None, indices, names or a mask')],
        f"{_NOMINAL} By default, levels of columns of at most 20 are also terms of directions, and "
        "a column of more than 100 levels is read as one number, the mean of the target in each "
        "level; see `columns_`.",
    ),
]

_RUN = [
    Parameter(
        "oob_score",
        False,
        [Flag(), Function("(y_true, y_pred) -> float")],
        "Whether to estimate the score from the rows out of each tree's bag; a function replaces "
        "accuracy or R².",
    ),
    Parameter(
        "n_jobs",
        None,
        [NoneOption(), Integer()],
        "Threads for fit and predict. None takes all cores this process may use, as LightGBM does "
        "and unlike scikit-learn; -1 too, -2 all but one, and so on. The forest does not depend "
        "on it.",
        "Use None for all cores.",
    ),
    Parameter(
        "random_state",
        None,
        [InstanceOf("None, an integer or a RandomState")],
        "Seed of all random choices; an integer makes fit repeatable, bit for bit.",
    ),
    Parameter(
        "warm_start",
        False,
        [Flag()],
        "Whether a second fit adds trees up to `n_estimators` instead of starting anew. Scale and "
        'levels stay those of the first fit, and so do the families and `min_samples_split="auto"` '
        'of `projection="auto"`.',
    ),
    Parameter(
        "verbose",
        0,
        [Integer(0), Flag()],
        "1 shows a progress bar with the remaining time.",
        "Use 0 or 1.",
    ),
    Parameter(
        "callback",
        None,
        [NoneOption(), Function("(n_done, n_total)")],
        "Called a few times a second during fit with the number of finished trees and of all "
        "trees. An exception it raises ends the fit.",
    ),
]

_CLASSIFIER = [
    Parameter(
        "criterion",
        "auto",
        [StrOptions(("auto", *CLASS_CRITERIA))],
        'Impurity whose decrease is the gain of a split. "auto" is "gini"; with projection="auto" '
        'it is "entropy". "log_loss" is another name of "entropy".',
    ),
    Parameter(
        "voting",
        "soft",
        [StrOptions(("soft", "hard"))],
        'How trees combine. "soft": mean of the class shares in the leaves; "hard": each tree '
        "votes for its leaf's most frequent class, as in the papers.",
    ),
    Parameter(
        "class_weight",
        None,
        [
            NoneOption(),
            StrOptions(("balanced", "balanced_subsample")),
            InstanceOf("a dict", Mapping),
            InstanceOf("a list of dicts", list),
        ],
        'Weights of the classes, multiplied into the sample weights. "balanced" weighs classes '
        'inversely to their frequency; "balanced_subsample" does so within each bag. In a dict, '
        "classes without a weight have weight 1, and a class of weight 0 is never predicted. "
        "Several outputs take a list of one dict each, whose weights are multiplied.",
    ),
]

_CALIBRATION = [
    Parameter(
        "calibration",
        "auto",
        [NoneOption(), StrOptions(("auto", "power"))],
        'How the mean shares of the trees become probabilities. "power" raises them to a power '
        "that is chosen on out-of-bag rows and divides them by their sum, and no class gets less "
        "than an equal part of a quarter of one tree's vote; predicted classes stay "
        'the same. None leaves them as they are. "auto" is "power" with projection="auto" and '
        "soft votes where bags leave rows out, and None otherwise. See `calibration_power_`.",
    )
]

_REGRESSOR = [
    Parameter(
        "criterion",
        "squared_error",
        [StrOptions(NUMBER_CRITERIA)],
        'What a split lowers most, and what leaves hold. "squared_error": leaves have the mean '
        'target. "poisson": half of the Poisson deviance, for counts and rates, zero or more; '
        'leaves have the mean target. "absolute_error": leaves have the median target, which '
        "outliers do not move; fit takes a few times as long.",
    ),
    Parameter(
        "keep_targets",
        False,
        [Flag()],
        "Whether to keep the training targets of every leaf, so that `predict_quantiles` and "
        "`predict_interval` need no training rows: 4 bytes for each row in each bag and 8 for "
        "each node. `slim` drops them. The trees are the same. The size of nodes that is chosen is "
        "the best for means; `min_samples_split=2` shows where the spread alone changes.",
    ),
]

_ROTATIONS = [
    replace(_FOREST[0], default=500, meaning="M, the number of trees of the ensemble."),
    Parameter(
        "weighting",
        "exp",
        [StrOptions(WEIGHTINGS)],
        "How trees are shared out among the rotations, sorted from the least complex trees to the "
        'most complex: "rre" equally; "cut" equally among the first h; "exp" halved every h '
        'rotations; "bst" all to the first; "new" equally among those up to the identity; "lin" in '
        'proportion to R, R − 1, ... 1; "oob" as "lin", sorted by out-of-bag error; "jnt" as '
        '"lin", sorted by the sum of the ranks of both.',
    ),
    Parameter(
        "n_rotations",
        "auto",
        [StrOptions(("auto",)), Integer(1, MAX_MODELS)],
        'R, the number of rotations; the first is the identity. "auto" is 100, or fewer where more '
        "than half of the trees would be in micro-forests.",
        'Use 20 to 100, or "auto".',
    ),
    Parameter(
        "n_micro_trees",
        "auto",
        [StrOptions(("auto",)), Integer(1, MAX_MODELS)],
        "U, the trees of the micro-forest by which a rotation is evaluated; less than M/R. "
        '"auto" is 10, or a tenth of fewer than 100 trees.',
        'Use 10 to 20, or "auto".',
    ),
    Parameter(
        "h",
        None,
        [NoneOption(), Number("(0, inf)")],
        'Tuning parameter of "cut", an integer, and of "exp". None takes the one of lowest '
        "out-of-bag error, a weighted mean over the micro-forests.",
        "Use None to choose it on the data.",
    ),
    Parameter(
        "drop_worst",
        0.0,
        [Number("[0, 1)")],
        "Share of the rotations left out before the others are weighted: random ones of highest "
        "out-of-bag error. 0.1 drops the worst decile.",
    ),
    Parameter(
        "max_rotated",
        500,
        [Integer(1)],
        "Numeric features that are rotated together. Of more, every rotation turns a random subset "
        "of so many and leaves the others as they are. Rotations take 8 bytes for each of R times "
        "its square, 200 MB for 100 rotations of 500 features.",
        "Use 100 to 1000.",
    ),
    replace(
        _FOREST[2],
        meaning="Axes of the tree's rotation that are tried at each node, where p counts all "
        'columns. "auto" is √p, or p/3 in regression. "sqrt", "log2" and shares round down, "p**k" '
        "rounds up, all to at least 1. With nominal columns, which are not rotated, their share of "
        "the draws (rounded, at least one) are nominal columns, and at least one is not.",
    ),
]


def _table(*groups: Sequence[Parameter]) -> dict[str, Parameter]:
    return {parameter.name: parameter for group in groups for parameter in group}


CLASSIFIER_PARAMETERS = _table(
    [_chosen_number(500), *_FOREST[1:]],
    _CLASSIFIER[:1],
    [*_SPLITS, PURITY],
    [*_BAGS, _HONEST],
    [*_CLASSIFIER[1:2], *_CALIBRATION],
    [*_DATA, *CONSTRAINT_PARAMETERS],
    _CLASSIFIER[2:],
    _RUN,
)
REGRESSOR_PARAMETERS = _table(
    [_chosen_number(300), *_FOREST[1:]],
    _REGRESSOR[:1],
    [*_SPLITS, PURITY],
    [*_BAGS, _HONEST],
    [*_DATA, *CONSTRAINT_PARAMETERS],
    _REGRESSOR[1:],
    _RUN,
)
_GINI = replace(
    _CLASSIFIER[0],
    default="gini",
    accepts=[StrOptions(CLASS_CRITERIA)],
    meaning="Impurity whose decrease is the gain of a split.",
)
_SPLIT_SIZE = Parameter(
    "min_samples_split",
    2,
    [Integer(2), Float("(0, 1]")],
    "Distinct rows a node needs to be split; a float is a share of the training rows.",
)
_ROTATED_SPLITS = [_SPLIT_SIZE if p.name == "min_samples_split" else p for p in _SPLITS]
_RUN_ONCE = [parameter for parameter in _RUN if parameter.name != "warm_start"]
ROTATION_CLASSIFIER_PARAMETERS = _table(
    _ROTATIONS, [_GINI], _ROTATED_SPLITS, _BAGS, _CLASSIFIER[1:2], _DATA, _CLASSIFIER[2:], _RUN_ONCE
)
ROTATION_REGRESSOR_PARAMETERS = _table(
    _ROTATIONS, _REGRESSOR[:1], _ROTATED_SPLITS, _BAGS, _DATA, _RUN_ONCE
)


Class = TypeVar("Class", bound=type)


def documented(parameters: Mapping[str, Parameter]) -> Callable[[Class], Class]:
    """Class decorator: render the table into the docstring, where it says {parameters}.

    Likewise attributes that several estimators have, by their names in `ATTRIBUTES`.
    """

    def decorate(cls: Class) -> Class:
        entries = "".join(_entry(parameter) for parameter in parameters.values())
        text = inspect.cleandoc(cls.__doc__ or "")  # later Pythons indent no docstring
        for name, lines in {"parameters": entries, **ATTRIBUTES}.items():
            text = text.replace(f"\n{{{name}}}\n", f"\n{lines}")
        cls.__doc__ = text
        return cls

    return decorate


def _entry(parameter: Parameter) -> str:
    head = f"{parameter.name} : {parameter.required}, default={parameter.default!r}\n"
    body = textwrap.fill(parameter.meaning, width=91)
    return head + textwrap.indent(body, "    ") + "\n"


def _by_name(*parameters: Parameter) -> Mapping[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters}


ISOLATION_PARAMETERS = _by_name(
    replace(
        _N_ESTIMATORS,
        default=100,
        meaning="Number of trees. More of them steady the scores; training, prediction and memory "
        "grow in proportion.",
    ),
    Parameter(
        "projection",
        "auto",
        [InstanceOf("a name, an object of bevel.projections, or a list of them")],
        "Where the one direction of a node comes from; it must not look at a target. "
        '"auto" combines √p features, at least two, with normal coefficients; '
        "`P.Gaussian(n_features=1.0)` all of them, which is the extended isolation forest at full "
        'extension; "axis" takes a single feature, as the isolation forest does.',
        'Use "auto", "gaussian", "sparse" or "axis".',
    ),
    Parameter(
        "max_samples",
        "auto",
        [StrOptions(("auto",)), Integer(1), Float("(0, 1]")],
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
        [Integer(1), Float("(0, 1]")],
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
        meaning=f'{_SCALE}"standard", which leaves outliers where they are.',
    ),
    replace(REGRESSOR_PARAMETERS["categorical_features"], meaning=_NOMINAL),
    *(
        REGRESSOR_PARAMETERS[name]
        for name in ("n_jobs", "random_state", "warm_start", "verbose", "callback")
    ),
)


_OWN = {
    "projection": replace(
        REGRESSOR_PARAMETERS["projection"],
        meaning='Where candidate directions come from. "auto" tries, at each node, the '
        "directions of a Cox model and of partial least squares, √p sparse combinations and √p "
        "single features. "
        '"axis" gives random survival forests; "cox" fits a Cox model to the rows of each node; '
        '"sparse", "combination", "gaussian", "rotation", "multirotation" and "principal" combine '
        'features; "lda", "pls", "cca" and `P.Ridge(tune="gcv")` are fitted to the log-rank scores '
        "of the node; a list evaluates the candidates of all its members. See "
        "`bevel.projections`.",
    ),
    "criterion": Parameter(
        "criterion",
        "log_rank",
        [StrOptions(("log_rank", "log_rank_score"))],
        'Statistic by which cuts are compared. "log_rank" is the log-rank statistic of the two '
        'sides. "log_rank_score" is that of the log-rank scores of the node (Hothorn and Lausen '
        "2003), which is faster in large nodes.",
    ),
    "min_samples_split": replace(
        REGRESSOR_PARAMETERS["min_samples_split"],
        default=20,
        accepts=[Integer(2), Float("(0, 1]")],
        meaning="Distinct rows a node needs to be split; a float is a share of the training rows.",
    ),
    "min_samples_leaf": replace(REGRESSOR_PARAMETERS["min_samples_leaf"], default=10),
    "scale": replace(REGRESSOR_PARAMETERS["scale"], meaning=f'{_SCALE}"quantile".'),
    "categorical_features": replace(REGRESSOR_PARAMETERS["categorical_features"], meaning=_NOMINAL),
    "max_redraws": replace(
        REGRESSOR_PARAMETERS["max_redraws"],
        meaning="How often a node draws further candidates while all of those drawn are the same "
        "for all of its rows, before it becomes a leaf; of single columns and other lists, one "
        'candidate each time. "auto" goes on until a single column varies, and draws other '
        "directions again eight times.",
    ),
    "competing_risks": Parameter(
        "competing_risks",
        False,
        [Flag()],
        "Whether events have causes, numbered from 1 on: who has an event of one cause is no "
        "longer at risk of the others. Splits add up the log-rank statistics of all causes; leaves "
        "hold the hazards of each. `predict_cumulative_incidence_function` gives the chance of an "
        "event of one cause; risks, survival curves and scores are of all causes together.",
    ),
    "oob_score": replace(
        REGRESSOR_PARAMETERS["oob_score"],
        meaning="Whether to estimate the concordance from the rows out of each tree's bag; a "
        "function of y as a structured array and of the risks replaces it.",
    ),
}
_LEFT_OUT = (
    "min_impurity_decrease",
    "split_pure_nodes",
    "honest",
    "keep_targets",
    "monotonic_cst",
    "interaction_cst",
)


def _in_order() -> dict[str, Parameter]:
    """As in the signature: after the columns comes what the events are."""
    found: dict[str, Parameter] = {}
    for name, parameter in REGRESSOR_PARAMETERS.items():
        if name not in _LEFT_OUT:
            found[name] = _OWN.get(name, parameter)
        if name == "categorical_features":
            found["competing_risks"] = _OWN["competing_risks"]
    return found


SURVIVAL_PARAMETERS: dict[str, Parameter] = _in_order()
