"""The parameters of ensembles of rotations: default, range and meaning of each, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bevel.parameters.forest_parameters import CLASSIFIER_PARAMETERS, MAX_MODELS
from bevel.parameters.parameter import Flag, InstanceOf, Integer, NoneOption, Parameter, StrOptions

__all__ = [
    "BOOSTING_CLASSIFIER",
    "BOOSTING_REGRESSOR",
    "ROTATED_FEATURES",
    "STACKED_CLASSIFIER",
    "STACKED_REGRESSOR",
]

_FLIP = Parameter(
    "flip",
    False,
    [Flag()],
    "Admit reflections as well, that is orthogonal matrices of determinant −1.",
)

_DATA = [
    replace(
        CLASSIFIER_PARAMETERS["scale"],
        meaning="How features are made comparable before they are rotated, learned on the rows "
        "that a model is trained on. The scalings of Blaser 1.6.2 are "
        '"minmax_clip" (basic), "quantile" and "relative_rank"; "auto" is "quantile", None leaves '
        "features as they are.",
    ),
    replace(
        CLASSIFIER_PARAMETERS["categorical_features"],
        meaning='Nominal columns, which are never rotated. "from_dtype" takes text, categorical '
        "and mixed object columns of data frames; otherwise a list of indices or names or a "
        "boolean mask, or None. They are passed to a learner with a parameter "
        "`categorical_features`; others get 0/1 indicators of the levels, of which missing is one.",
    ),
]

_RUN = [
    Parameter(
        "rotation_state",
        None,
        [InstanceOf("None, an integer or a RandomState")],
        "Seed of the rotations alone, so that the same rotations may meet other folds and other "
        "forests, and the reverse; None draws them by `random_state`.",
    ),
    replace(
        CLASSIFIER_PARAMETERS["n_jobs"],
        meaning="Models fitted, or used to predict, at the same time, in threads. None takes all "
        "cores this process may use, -1 too, -2 all but one, and so on. The learners' own "
        "`n_jobs`, where it is None, becomes 1. The result does not depend on it.",
    ),
    replace(
        CLASSIFIER_PARAMETERS["random_state"],
        meaning="Seed of all random choices; an integer makes fit repeatable. It replaces the "
        "`random_state` of the learners.",
    ),
    CLASSIFIER_PARAMETERS["verbose"],
    replace(
        CLASSIFIER_PARAMETERS["callback"],
        meaning="Called after each model with the number of fitted models and of all models. An "
        "exception it raises ends the fit.",
    ),
]

_STACKING = [
    Parameter(
        "level0",
        None,
        [NoneOption(), InstanceOf("a classifier with predict_proba")],
        "Learner of each view. None is a random forest: `ObliqueForestClassifier(100, "
        'projection="axis")`. It sees class labels as numbers 0, 1, ….',
    ),
    Parameter(
        "level1",
        None,
        [NoneOption(), InstanceOf("a classifier")],
        "Learner on the class probabilities that level 0 gives to rows it has not seen. None is a "
        "random forest as at level 0.",
    ),
    Parameter(
        "n_rotations",
        20,
        [Integer(0, MAX_MODELS)],
        "K, random rotations beside the features as they are, which are always among the views. "
        "There are (K + 1) × (folds + 1) + 1 models to fit in two stages.",
        "The thesis uses 20.",
    ),
    _FLIP,
    Parameter(
        "n_stages",
        2,
        [Integer(2, MAX_MODELS)],
        "Levels in all (Blaser 3.4.2). Of S > 2, the stages between level 0 and the last have K + "
        "1 learners of the kind of `level1` each, on what the stage before passes on, as it is and "
        "after K rotations. No model hears of a row from one that was fitted to it: level 0 is "
        "fitted without any S − 1 folds, any S − 2, and so on, so that with F folds it takes "
        "(K + 1) (1 + F + F(F − 1)/2 + …) fits.",
        "The thesis has 2.",
    ),
    Parameter(
        "passes",
        "probabilities",
        [StrOptions(("probabilities", "labels"))],
        'What models pass on to the next stage: "probabilities" of the classes, or "labels", an '
        "indicator of the predicted class. The thesis says predictions.",
    ),
    Parameter(
        "cv",
        5,
        [InstanceOf("an integer of at least 2, a splitter or pairs of training and test rows")],
        "Folds, stratified by class and drawn at random. Or a splitter of scikit-learn, or pairs "
        "of row numbers as it makes them, whose test rows must be all rows, each once.",
        "The thesis uses 5 and recommends 5 to 10.",
    ),
    Parameter(
        "refit",
        True,
        [Flag()],
        "Whether level 0 is fitted once more, on all rows, to predict new ones. False keeps the "
        "models of the folds and takes the mean of what they pass on, one fit less of each view. "
        "A cross-validation over F + 1 outer folds then fits (F + 1)² models in all for each view, "
        "as the thesis counts them (3.3.1).",
    ),
    Parameter(
        "param_grid",
        None,
        [NoneOption(), InstanceOf("a dict or a list of dicts")],
        "Settings of `level0` to choose from, as in scikit-learn's GridSearchCV. Every model of "
        "level 0 chooses for itself, on the rows it is trained on: by accuracy on out-of-bag rows "
        "if it can, else in a stratified cross-validation of five folds.",
    ),
]

_BOOSTING = [
    Parameter(
        "booster",
        None,
        [NoneOption(), InstanceOf("a learner of scikit-learn's kind")],
        "Learner of each group. None is scikit-learn's gradient boosting with 50 trees and a "
        "shrinkage of 0.05 (`n_estimators=50, learning_rate=0.05`), else at its defaults.",
    ),
    Parameter(
        "n_groups",
        100,
        [Integer(1, MAX_MODELS)],
        "Groups of boosted trees, each on a rotation of its own.",
        "The thesis uses 100.",
    ),
    _FLIP,
]

_VOTING = replace(
    CLASSIFIER_PARAMETERS["voting"],
    default="hard",
    meaning='How groups combine. "hard": each has one vote, as in the thesis; "soft": the mean of '
    "their class probabilities.",
)


def _table(*parameters: Parameter) -> Mapping[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters}


_N_COPIES = Parameter(
    "n_rotations",
    10,
    [Integer(1, MAX_MODELS)],
    "K, rotated copies of the numeric features. The table grows to K + 1 times its width.",
    "The thesis uses 30, and finds that the first ones bring most.",
)

STACKED_CLASSIFIER = _table(*_STACKING, *_DATA, *_RUN)
_REGRESSORS = {
    "level0": replace(
        _STACKING[0],
        accepts=[NoneOption(), InstanceOf("a regressor")],
        meaning="Learner of each view. None is a random forest: `ObliqueForestRegressor(100, "
        'projection="axis")`.',
    ),
    "level1": replace(
        _STACKING[1],
        accepts=[NoneOption(), InstanceOf("a regressor")],
        meaning="Learner on the values that level 0 gives to rows it has not seen. None is a "
        "random forest as at level 0.",
    ),
    "cv": replace(
        STACKED_CLASSIFIER["cv"],
        meaning="Folds, drawn at random. Or a splitter of scikit-learn, or pairs of row numbers as "
        "it makes them, whose test rows must be all rows, each once.",
    ),
    "param_grid": replace(
        STACKED_CLASSIFIER["param_grid"],
        meaning="Settings of `level0` to choose from, as in scikit-learn's GridSearchCV. Every "
        "model of level 0 chooses for itself, on the rows it is trained on: by its score on "
        "out-of-bag rows if it can, else by squared error in a cross-validation of five folds.",
    ),
}
STACKED_REGRESSOR = {
    name: _REGRESSORS.get(name, parameter)
    for name, parameter in STACKED_CLASSIFIER.items()
    if name != "passes"
}
ROTATED_FEATURES = _table(
    _N_COPIES,
    _FLIP,
    _DATA[0],
    replace(
        CLASSIFIER_PARAMETERS["categorical_features"],
        meaning='Nominal columns, which become indicators. "from_dtype" takes text, categorical '
        "and mixed object columns of data frames; otherwise a list of indices or names or a "
        "boolean mask, or None.",
    ),
    replace(
        CLASSIFIER_PARAMETERS["n_jobs"],
        meaning="Threads that rotate rows. None takes all cores this process may use, -1 too, -2 "
        "all but one, and so on. The result does not depend on it.",
    ),
    replace(CLASSIFIER_PARAMETERS["random_state"], meaning="Seed of the rotations."),
)
BOOSTING_CLASSIFIER = _table(*_BOOSTING, _VOTING, *_DATA, *_RUN)
BOOSTING_REGRESSOR = _table(*_BOOSTING, *_DATA, *_RUN)
