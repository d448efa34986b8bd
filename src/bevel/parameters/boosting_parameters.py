"""The parameters of gradient boosting, named as in scikit-learn's HistGradientBoosting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bevel.parameters.forest_parameters import (
    CLASSIFIER_PARAMETERS,
    CONSTRAINT_PARAMETERS,
    MAX_MODELS,
)
from bevel.parameters.parameter import (
    Flag,
    Function,
    InstanceOf,
    Integer,
    NoneOption,
    Number,
    Parameter,
    StrOptions,
)

__all__ = [
    "BOOSTING_CLASSIFIER_PARAMETERS",
    "BOOSTING_RANKER_PARAMETERS",
    "BOOSTING_REGRESSOR_PARAMETERS",
    "BOOSTING_SURVIVAL_PARAMETERS",
]

_SCHEDULE = [
    Parameter(
        "learning_rate",
        "auto",
        [StrOptions(("auto",)), Number("(0, 10]")],
        "Factor of what each tree adds. Smaller ones need more iterations and often predict "
        'better. "auto" is 0.05, or 0.1 with more than 10 000 rows. Regressions that fit all rows '
        "again (`refit`) first look for the number of iterations with 0.1, and then have 0.03.",
        "Use 0.01 to 0.3.",
    ),
    Parameter(
        "max_iter",
        "auto",
        [StrOptions(("auto",)), Integer(1, MAX_MODELS)],
        "Largest number of iterations; with three classes and more each grows a tree per class. "
        '"auto" is 1000 with early stopping, 600 where an iteration has several trees; without '
        "early stopping, 10 over the learning rate in classification and 50 over it in regression.",
        "Use 100 to 1000.",
    ),
]

_TREES = [
    Parameter(
        "projection",
        "auto",
        [InstanceOf('"auto", a name, an object of bevel.projections, or a list of them')],
        "Where the directions come from that splits cut along. They are drawn once for each "
        'iteration, for all nodes of its trees. "auto": all single features and sparse '
        "combinations, side by side; a regression with validation rows tries single features alone "
        'too, and takes them if their loss is 3 % lower. "axis" cuts single features only; '
        '"sparse", "combination", "rotation", "multirotation", `P.Patches(shape)` and '
        "`P.Custom(matrix)` combine them. In a list all members take part.",
    ),
    Parameter(
        "n_projections",
        "auto",
        [InstanceOf('"auto", an integer, a share in (0, 1], "sqrt", "log2", "p" or "p**k"')],
        'Directions drawn for each iteration, where p counts all columns. "auto" takes all single '
        "features, and combinations by the number of rows and columns.",
    ),
    Parameter(
        "growth",
        "best_first",
        [StrOptions(("best_first", "symmetric"))],
        'How trees grow. "best_first": the leaf whose split lowers the loss most is split next. '
        '"symmetric": level by level, with one direction and one cut for all nodes of a level, as '
        "CatBoost grows trees. Such trees predict several times as fast as others of as many "
        "leaves. Not with `monotonic_cst`.",
    ),
    Parameter(
        "multi_strategy",
        "one_output_per_tree",
        [StrOptions(("one_output_per_tree", "multi_output_tree"))],
        "With several outputs (three classes and more, several quantiles), whether each iteration "
        "grows a tree for each of them or one tree for all, whose leaves have a value for each; "
        "names as in XGBoost. One tree for many classes takes a small part of the time, since its "
        "splits are sought on five random sums of the outputs (Iosipoi and Vakhrushev 2022). With "
        "one output both are the same. Not with `monotonic_cst`.",
    ),
    Parameter(
        "max_leaf_nodes",
        "auto",
        [StrOptions(("auto",)), NoneOption(), Integer(2)],
        'Largest number of leaves of a tree; None for no limit. "auto" is 15, and no limit for '
        "symmetric trees, whose number of leaves is a power of two.",
        "Use 4 to 255.",
    ),
    Parameter(
        "max_depth",
        None,
        [NoneOption(), Integer(1)],
        "Largest number of splits between the root and a leaf; None for no limit, and 4 for "
        "symmetric trees, which have 16 at most.",
    ),
    Parameter(
        "min_samples_leaf",
        5,
        [Integer(1)],
        "Rows that each side of a split must keep. Leaves of symmetric trees may have fewer: they "
        "then take the value that the nearest node above them would have that has as many.",
        "Use 1 to 50.",
    ),
    Parameter(
        "l2_regularization",
        3.0,
        [Number("[0, inf)")],
        "Penalty of the squares of leaf values, added to the sum of hessians of a leaf.",
    ),
    Parameter(
        "max_bins",
        255,
        [Integer(2, 255)],
        "Bins of each direction, between which splits are sought.",
        "Use 255.",
    ),
    Parameter(
        "subsample",
        1.0,
        [Number("(0, 1]")],
        "Share of the rows that each iteration is grown on, drawn without replacement.",
    ),
    Parameter(
        "row_sampling",
        "uniform",
        [StrOptions(("uniform", "gradient"))],
        "How the rows of an iteration are drawn if `subsample` is below 1: all alike, or rows of "
        "large gradient rather than others, weighted so that sums stay right on average (minimal "
        "variance sampling, Ibragimov and Gusev 2019).",
    ),
]

_STOPPING = [
    Parameter(
        "early_stopping",
        "auto",
        [StrOptions(("auto",)), Flag()],
        "Whether to stop when the loss on validation rows stops to fall, and to keep the "
        'iterations up to its minimum. "auto": if validation rows are given to fit, if there are '
        "more than 10 000 rows, of which a share is then held out, and with fewer rows to choose "
        'the number of iterations if it is "auto" (see `refit`).',
    ),
    Parameter(
        "scoring",
        "loss",
        [
            NoneOption(),
            InstanceOf('"loss" or a scorer or its name', str),
            Function("(estimator, X, y)"),
        ],
        'What is compared on validation rows: "loss", or a scorer of scikit-learn or its name, '
        'such as "roc_auc", of which higher is better; None is accuracy or R². With a scorer, '
        '`early_stopping="auto"` holds out rows of small tables too. A function without an '
        "argument `sample_weight` is called without the weights. Of no effect with "
        "`early_stopping=False`.",
        'Use for example scoring="roc_auc".',
    ),
    Parameter(
        "validation_fraction",
        "auto",
        [StrOptions(("auto",)), Number("(0, 1)")],
        "Share of the training rows that is held out for early stopping if fit is given no "
        'validation rows; of each class alike. "auto" is 0.2 if all rows are fitted again, else '
        "0.1.",
        "Use 0.1 to 0.3.",
    ),
    Parameter(
        "refit",
        "auto",
        [StrOptions(("auto",)), Flag()],
        "Whether to fit all rows again after early stopping on held-out rows, with 1.5 times the "
        "iterations that were best. Validation scores and intervals are those of the first fit. "
        '"auto": with 100 to 10 000 rows, if `early_stopping` and `max_iter` are "auto" and '
        "`warm_start` is False.",
    ),
    Parameter(
        "n_iter_no_change",
        50,
        [Integer(1)],
        "Iterations without a lower validation loss, or a higher score, after which fit stops.",
        "Use 10 to 100.",
    ),
    Parameter(
        "tol",
        1e-7,
        [Number("[0, inf)")],
        "By how much the validation loss must fall, or the score rise, to count as better.",
    ),
]


def _shared(*names: str) -> list[Parameter]:
    return [CLASSIFIER_PARAMETERS[name] for name in names]


_DATA = [*_shared("scale", "categorical_features"), *CONSTRAINT_PARAMETERS]
_RUN = [
    replace(CLASSIFIER_PARAMETERS["n_jobs"]),
    *_shared("random_state"),
    Parameter(
        "warm_start",
        False,
        [Flag()],
        "Whether a second fit adds iterations up to `max_iter` instead of starting anew. Scale and "
        "levels stay those of the first fit.",
    ),
    *_shared("verbose"),
    replace(
        CLASSIFIER_PARAMETERS["callback"],
        meaning="Called a few times a second during fit with the number of finished iterations "
        "and of all iterations. An exception it raises ends the fit.",
    ),
]

_CLASSIFIER = [
    Parameter(
        "loss",
        "log_loss",
        [StrOptions(("log_loss",)), Function("(y_true, raw) -> (gradient, hessian)")],
        "What is minimised: the logarithmic loss of the class probabilities, or the loss of a "
        "function. It gets the positions of the rows' classes in `classes_` and their raw "
        "predictions, and returns gradient and hessian of each row by the raw prediction, without "
        "weights, and as a third array the losses if there is to be early stopping by loss. Two "
        "classes: arrays of shape (n_rows,), and probabilities are 1 / (1 + exp(-raw)). More: raw "
        "predictions, gradients and hessians (their diagonal) of shape (n_rows, n_classes), "
        "probabilities are their softmax.",
    ),
    Parameter(
        "class_weight",
        None,
        [NoneOption(), StrOptions(("balanced",)), InstanceOf("a dict", Mapping)],
        'Weights of the classes, multiplied into the sample weights. "balanced" weighs classes '
        "inversely to their frequency. In a dict, classes without a weight have weight 1.",
    ),
]

_LEAVES = [
    Parameter(
        "linear_leaves",
        "auto",
        [StrOptions(("auto",)), Flag()],
        "Whether leaves have linear models on up to seven numeric features of the splits above "
        "them, shrunk by `l2_regularization`. A leaf cuts features to the range of its training "
        "rows, so that it does not extrapolate; a missing value counts as the median. "
        '"auto": a regression by squared error with validation rows fits both kinds of leaves, and '
        "takes linear ones if their loss is 3 % lower. Not of sparse tables, and not with "
        "`monotonic_cst` or losses of quantiles.",
        "Use False for leaves of one value.",
    ),
]

REGRESSION_LOSSES = (
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "poisson",
    "gamma",
)
_REGRESSOR = [
    Parameter(
        "loss",
        "squared_error",
        [StrOptions(REGRESSION_LOSSES), Function("(y_true, y_pred) -> (gradient, hessian)")],
        'What is minimised. "absolute_error" predicts the median, "quantile" the `quantile`; '
        '"huber" counts the largest tenth of the residuals by their size instead of their square; '
        '"poisson" and "gamma" predict positive means through a logarithm. A function gets targets '
        "and predictions of all rows and returns gradient and hessian of each row, without "
        "weights, and as a third array the losses if there is to be early stopping.",
    ),
    Parameter(
        "quantile",
        None,
        [NoneOption(), Number("(0, 1)"), InstanceOf("an ascending list of such numbers", Iterable)],
        'Which quantile to predict with `loss="quantile"`; with a list all of them at once, which '
        "do not cross.",
        "Use for example 0.9 or [0.1, 0.5, 0.9].",
    ),
]

_RANKER = [
    Parameter(
        "loss",
        "lambdarank",
        [StrOptions(("lambdarank", "pairwise"))],
        "How pairs of rows of a query count: by what swapping them would change in NDCG, or all "
        "alike. Pairs have a row among the first `eval_at` + 20 of the present ranking.",
    ),
    Parameter(
        "eval_at",
        10,
        [Integer(1)],
        "Places at the top of a ranking that NDCG counts, in learning curves, early stopping and "
        "`score`.",
        "Use 5 to 30.",
    ),
]

_SURVIVAL = [
    Parameter(
        "loss",
        "cox",
        [StrOptions(("cox", "log_logistic", "weibull"))],
        'What is minimised. "cox": minus the logarithm of the partial likelihood, which orders the '
        "rows and leaves the shape of the hazard open; events of one time are at risk together "
        '(Breslow 1974). "log_logistic" and "weibull": accelerated failure time, where features '
        "stretch times that have this distribution, whose spread is estimated too.",
    ),
]


def _table(*groups: list[Parameter]) -> dict[str, Parameter]:
    return {parameter.name: parameter for group in groups for parameter in group}


BOOSTING_CLASSIFIER_PARAMETERS = _table(
    _CLASSIFIER[:1], _SCHEDULE, _TREES, _STOPPING, _DATA, _CLASSIFIER[1:], _RUN
)
BOOSTING_REGRESSOR_PARAMETERS = _table(
    _REGRESSOR, _SCHEDULE, _TREES, _LEAVES, _STOPPING, _DATA, _RUN
)
_OF_OTHERS = ("scoring", "multi_strategy")  # of no use to a loss of its own and one output
_OF_RANKER = {
    "learning_rate": "Factor of what each tree adds. Smaller ones need more iterations and often "
    'rank better. "auto" is 0.05, or 0.1 with more than 10 000 rows. Where all rows are fitted '
    "again (`refit`), a first fit looks for the number of iterations with 0.1.",
    "max_iter": 'Largest number of iterations. "auto" is 1000 with early stopping, else 20 over '
    "the learning rate.",
    "projection": "Where the directions come from that splits cut along. They are drawn once for "
    'each iteration, for all nodes of its trees. "auto": all single features and sparse '
    "combinations, side by side; with validation queries single features alone are tried too, and "
    'taken if their NDCG is 3 % higher. "axis" cuts single features only; "sparse", '
    '"combination", "rotation", "multirotation", `P.Patches(shape)` and `P.Custom(matrix)` '
    "combine them. In a list all members take part.",
    "early_stopping": "Whether to stop when NDCG on validation queries stops to rise, and to keep "
    'the iterations up to its maximum. "auto": if validation rows are given to fit, if there are '
    "more than 10 000 rows, of whose queries a share is then held out, and with fewer rows to "
    'choose the number of iterations if it is "auto" (see `refit`).',
    "validation_fraction": "Share of the training queries that is held out for early stopping if "
    'fit is given no validation rows. "auto" is 0.2 if all rows are fitted again, else 0.1.',
    "n_iter_no_change": "Iterations without a higher validation NDCG after which fit stops.",
    "tol": "By how much the validation NDCG must rise to count as better.",
}
BOOSTING_RANKER_PARAMETERS = {
    name: replace(parameter, meaning=_OF_RANKER.get(name, parameter.meaning))
    for name, parameter in _table(_RANKER, _SCHEDULE, _TREES, _STOPPING, _DATA, _RUN).items()
    if name not in _OF_OTHERS
}
for _name, _default in (("growth", "symmetric"), ("max_depth", 6)):
    BOOSTING_RANKER_PARAMETERS[_name] = replace(BOOSTING_RANKER_PARAMETERS[_name], default=_default)
_OF_TIMES = {
    "learning_rate": _OF_RANKER["learning_rate"].replace("rank better", "predict better"),
    "max_iter": 'Largest number of iterations. "auto" is 1000 with early stopping, else 5 over '
    "the learning rate.",
    "validation_fraction": "Share of the training rows that is held out for early stopping if fit "
    'is given no validation rows; of events and censored rows alike. "auto" is 0.2 if all rows are '
    "fitted again, else 0.1.",
}
BOOSTING_SURVIVAL_PARAMETERS = {
    name: replace(parameter, meaning=_OF_TIMES.get(name, parameter.meaning))
    for name, parameter in _table(_SURVIVAL, _SCHEDULE, _TREES, _STOPPING, _DATA, _RUN).items()
    if name not in _OF_OTHERS
}
