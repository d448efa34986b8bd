"""The names of parameters in other libraries, and what an estimator answers to them.

The names are those of scikit-learn, LightGBM, XGBoost, CatBoost, ranger, randomForest and YDF. None
is accepted: `clone` and `get_params` of scikit-learn need one name for each parameter. An estimator
that does not know a name answers with its own, and with the value as it is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from bevel.errors import nearest, shorten

__all__ = [
    "UNKNOWN",
    "Answer",
    "answers",
    "instead_of_attribute",
    "remedy_for",
    "remedy_of_fit",
    "remedy_of_predict",
    "same_value",
]

UNKNOWN = object()  # in place of a value that is not known

# Ours, and the others' names for it. Of several names of ours, that of the estimator counts.
_SAME: dict[tuple[str, ...], str] = {
    ("n_projections",): "max_features mtry feature_fraction feature_fraction_bynode "
    "colsample_bytree colsample_bylevel colsample_bynode rsm sub_feature num_candidate_attributes "
    "num_candidate_attributes_ratio sparse_oblique_num_projections_exponent",
    ("n_estimators", "max_iter"): "n_estimators max_iter n_trees num_trees num_tree ntree "
    "num_iterations num_iteration num_round num_rounds num_boost_round n_iter iterations nrounds",
    ("learning_rate",): "eta shrinkage shrinkage_rate",
    ("l2_regularization",): "reg_lambda lambda lambda_ lambda_l2 l2_leaf_reg l2",
    ("linear_leaves",): "linear_tree",
    ("random_state",): "seed random_seed bagging_seed",
    ("n_jobs",): "n_threads num_threads num_thread nthread nthreads thread_count",
    ("min_samples_leaf",): "min_data_in_leaf min_data min_child_samples min_node_size min_bucket "
    "nodesize min_examples",
    ("min_weight_fraction_leaf",): "min_child_weight min_sum_hessian_in_leaf min_sum_hessian",
    ("max_leaf_nodes",): "num_leaves num_leaf max_leaves maxnodes max_num_nodes",
    ("max_depth",): "depth",
    ("max_samples", "subsample"): "subsample bagging_fraction sub_row sample_fraction sampsize "
    "bootstrap_size_ratio",
    ("min_impurity_decrease",): "min_split_gain min_gain_to_split gamma min_split_loss",
    ("categorical_features",): "categorical_feature cat_feature cat_features categorical_column "
    "feature_types",
    ("class_weight",): "class_weights",
    ("loss", "criterion"): "objective application obj loss_function splitrule loss criterion",
    ("max_bins", "split_search"): "max_bin max_bins border_count",
    ("n_iter_no_change",): "early_stopping_rounds early_stopping_round od_wait "
    "early_stopping_num_trees_look_ahead",
    ("scoring",): "eval_metric metric metrics custom_metric",
    ("oob_score",): "oob oob_error compute_oob_performances",
    ("verbose",): "verbosity silent",
    ("tol",): "early_stopping_min_delta od_pval",
    ("validation_fraction",): "eval_fraction",
    ("quantile",): "quantile_alpha",
    ("projection",): "split_axis",
    ("scale",): "sparse_oblique_normalization normalize standardize",
    ("keep_targets",): "quantreg keep_inbag",
    ("monotonic_cst",): "monotone_constraints monotonic_constraints monotone_constraint",
    ("interaction_cst",): "interaction_constraints",
}
_OURS = {name: ours for ours, names in _SAME.items() for name in names.split()}

# Losses elsewhere, in small letters, and here.
_LOSS_NAMES = {
    "squared_error": "squared_error regression regression_l2 l2 mse rmse l2_root "
    "mean_squared_error root_mean_squared_error reg:squarederror reg:linear least_squares ls "
    "squared_loss",
    "absolute_error": "absolute_error regression_l1 l1 mae mean_absolute_error lad "
    "reg:absoluteerror least_absolute_deviation",
    "huber": "huber reg:pseudohubererror fair",
    "quantile": "quantile reg:quantileerror multiquantile pinball",
    "poisson": "poisson count:poisson",
    "gamma": "gamma reg:gamma",
    "log_loss": "log_loss binary binary:logistic binary_logloss logloss logistic binomial "
    "deviance exponential crossentropy cross_entropy binary_crossentropy multiclass softmax "
    "multiclassova multi:softmax multi:softprob multi_logloss mlogloss binomial_log_likelihood "
    "multinomial_log_likelihood reg:logistic",
}
_LOSSES = {theirs: ours for ours, names in _LOSS_NAMES.items() for theirs in names.split()}
_METRIC_NAMES = {
    "roc_auc": "auc roc_auc",
    "accuracy": "accuracy error merror binary_error",
    "average_precision": "aucpr average_precision prauc",
    "neg_mean_absolute_error": "mae l1 mean_absolute_error",
    "neg_root_mean_squared_error": "rmse l2 mse l2_root",
    "neg_log_loss": "logloss mlogloss binary_logloss multi_logloss",
}
_METRICS = {theirs: ours for ours, names in _METRIC_NAMES.items() for theirs in names.split()}

# Values that are written otherwise here: for a name of ours, or for one of others.
_VALUES: Mapping[str, Mapping[Any, Any]] = {
    "loss": _LOSSES,
    "criterion": _LOSSES,
    "scoring": _METRICS,
    "max_depth": {-1: None, 0: None},
    "max_leaf_nodes": {-1: None, 0: None},
    "silent": {True: 0, False: 1},
    "verbose": {-1: 0, False: 0, True: 1},
    "verbosity": {-1: 0},
}

_OF_CLASSES = "class_weight"  # parameter that classifiers have
_OF_BOOSTING = "l2_regularization"
_FORESTS = "ObliqueForestClassifier and ObliqueForestRegressor"
_BOOSTING = "ObliqueBoostingClassifier and ObliqueBoostingRegressor"

# What there is instead of parameters that have no counterpart: for estimators that have a
# parameter, or for all ("").
_INSTEAD: dict[str, dict[str, str]] = {
    "learning_rate": {
        "": f"The trees of a forest are not boosted, and have no learning rate; see {_BOOSTING}."
    },
    "l2_regularization": {
        "": "Leaves of a forest hold means, which no penalty shrinks; min_samples_leaf makes them "
        "smoother."
    },
    "reg_alpha": {
        _OF_BOOSTING: "There is no penalty of absolute leaf values; l2_regularization shrinks "
        "them.",
        "": "Leaves of a forest hold means, which no penalty shrinks.",
    },
    "min_weight_fraction_leaf": {
        _OF_BOOSTING: "There is no limit of the hessians in a leaf; min_samples_leaf limits "
        "its rows."
    },
    "min_impurity_decrease": {
        _OF_BOOSTING: "There is no least gain of a split; limit trees by max_leaf_nodes, "
        "max_depth or min_samples_leaf."
    },
    "n_iter_no_change": {
        "": "A forest does not overfit with more trees, and needs no early stopping. Leave it out."
    },
    "scoring": {
        "": "A forest has no validation rows; oob_score=True, or a function as oob_score, scores "
        "out-of-bag rows."
    },
    "scale_pos_weight": {
        _OF_CLASSES: "It is a weight of a class here: class_weight={{0: 1, 1: {value}}} if the "
        "classes are 0 and 1.",
        "": "Weigh the rows with fit(X, y, sample_weight=...).",
    },
    "callbacks": {
        "callback": "There is one callback, a function of the numbers of finished and of all "
        "iterations or trees. What stops early is n_iter_no_change, in boosting; what prints "
        "progress is verbose=1."
    },
    "is_unbalance": {
        _OF_CLASSES: 'It is class_weight="balanced" here.',
        "": "Weigh the rows with fit(X, y, sample_weight=...).",
    },
    "enable_categorical": {
        "": 'Leave it out: categorical_features="from_dtype", the default, takes nominal columns '
        "by their dtype."
    },
    "boosting_type": {
        _OF_BOOSTING: 'Leave it out: "gbdt" is what is done. "goss" is row_sampling="gradient" '
        f"here, and a random forest is {_FORESTS}.",
        "": f"This is a forest; boosting is {_BOOSTING}.",
    },
    "data_sample_strategy": {
        _OF_BOOSTING: 'It is called row_sampling here: "bagging" is "uniform", "goss" and MVS are '
        '"gradient".',
        "": "The rows of trees are drawn by bootstrap, max_samples and replace.",
    },
    "bagging_freq": {
        _OF_BOOSTING: "Rows are drawn anew for each iteration: subsample is all that it needs.",
        "": "Rows are drawn anew for each tree: max_samples is all that it needs.",
    },
    "grow_policy": {
        _OF_BOOSTING: 'It is called growth here: "SymmetricTree" is "symmetric", "Lossguide" and '
        '"lossguide" are "best_first"; max_leaf_nodes and max_depth limit trees.',
        "growth": 'It is called growth here: growth="best_first" or "depth_first".',
    },
    "tree_method": {
        _OF_BOOSTING: "Leave it out: splits are sought in histograms; max_bins is the number of "
        "bins.",
        "split_search": 'It is called split_search here: split_search="histogram" or "exact".',
    },
    "device": {
        "": "Everything runs on the processor; n_jobs is the number of threads. Leave it out."
    },
    "missing": {"": "Missing values are NaN or None. Replace other marks of them. Leave it out."},
    "importance_type": {
        "": "Leave it out, and call bevel.analysis.importance(model, X, y, kind=...)."
    },
    "one_hot_max_size": {
        "": "Leave it out: nominal columns are split by subsets of their levels, and need no codes."
    },
    "extra_trees": {
        "threshold": 'threshold="random" draws cuts, as extremely randomised trees do.',
        "": "Cuts are not drawn at random in boosting. Leave it out.",
    },
    "base_score": {
        _OF_BOOSTING: "The first prediction is the constant of least loss, baseline_prediction_ "
        "after fit. Leave it out.",
        "": "A forest starts from no prediction. Leave it out.",
    },
    "alpha": {
        "quantile": 'With loss="quantile" the level is called quantile here: quantile={value}.',
        "": "There is no penalty of that name; quantiles are those of predict_quantiles.",
    },
    "od_type": {
        _OF_BOOSTING: "Leave it out: fits stop after n_iter_no_change iterations without progress.",
        "": "A forest needs no early stopping. Leave it out.",
    },
    "output": {"": "Leave it out: fit writes no files; verbose=1 shows its progress."},
    "machinery": {"": "Leave it out: results do not depend on how rows and threads are shared."},
    "top_rate": {
        _OF_BOOSTING: 'With row_sampling="gradient" subsample is the share of the rows.',
        "": "Trees of a forest are grown on bags. Leave it out.",
    },
    "drop_rate": {"": "Trees are not dropped out. Leave it out."},
    "num_class": {"": "Leave it out: the classes are those of y."},
    "use_best_model": {
        _OF_BOOSTING: "Leave it out: with validation rows a model has the iterations up to the "
        "lowest loss.",
        "": "All trees of a forest predict. Leave it out.",
    },
    "ccp_alpha": {
        "": "Trees are not pruned; limit them with max_depth, min_samples_leaf or "
        "min_impurity_decrease."
    },
    "splitter": {"": 'threshold="random" draws cuts as splitter="random" does.'},
    "monotonic_cst": {"": "Trees are not constrained; there is no parameter for it."},
    "class_weight": {"": "Weigh the rows with fit(X, y, sample_weight=...)."},
    "sample_weight": {"": "Pass it to fit(X, y, sample_weight=...)."},
    "eval_set": {
        _OF_BOOSTING: "Pass it to fit(X, y, eval_set=[(X_val, y_val)]).",
        "": "A forest needs no validation rows; oob_score=True scores out-of-bag rows.",
    },
    "density": {
        "": "It belongs to the projection: projection=P.SparseSigns(density=...), or "
        "set_params(projection__density=...)."
    },
    "feature_combinations": {
        "": "It belongs to the projection: projection=P.SparseSigns(density=...)."
    },
}
for name, names in {
    "reg_alpha": "lambda_l1 alpha_l1 l1_regularization",
    "is_unbalance": "unbalance unbalanced_sets auto_class_weights",
    "boosting_type": "boosting boost booster",
    "data_sample_strategy": "bootstrap_type sampling_method",
    "bagging_freq": "subsample_freq bagging_temperature",
    "grow_policy": "growing_strategy",
    "device": "device_type task_type gpu_id predictor devices",
    "one_hot_max_size": "max_cat_to_onehot max_cat_threshold cat_smooth cat_l2",
    "extra_trees": "extra_tree random_strength",
    "output": "logging_level metric_period allow_writing_files train_dir snapshot_file "
    "save_snapshot snapshot_interval",
    "machinery": "force_col_wise force_row_wise deterministic histogram_pool_size max_cached_hist "
    "subsample_for_bin bin_construct_sample_cnt validate_parameters used_ram_limit",
    "top_rate": "other_rate",
    "drop_rate": "rate_drop skip_drop max_drop one_drop drop_seed",
    "num_class": "classes_count class_names",
    "base_score": "boost_from_average init_score",
    "feature_combinations": "projection_density_factor sparse_oblique_projection_density_factor",
    "eval_set": "valid_sets evals eval_metric_set",
}.items():
    _INSTEAD |= dict.fromkeys(names.split(), _INSTEAD[name])

# Arguments of `fit` elsewhere: what they are here, if not parameters of the estimator.
_IN_FIT: dict[str, dict[str, str]] = {
    "eval_sample_weight": {
        _OF_BOOSTING: "The weights of validation rows are sample_weight_val here."
    },
    "eval_names": {"": "There is one set of validation rows, without a name. Leave it out."},
    "init_model": {
        "warm_start": "With warm_start=True a second fit adds trees to those that there are.",
        "": "Trees are not added to those of another model. Leave it out.",
    },
    "plot": {"": "Leave it out; bevel.plots has pictures of fitted models."},
    "feature_name": {"": "Names of columns are those of a data frame."},
    "base_margin": {"": "Fits start from the constant of least loss. Leave it out."},
    "group": {"": "Queries are ranked by bevel.ObliqueBoostingRanker, whose fit takes groups=."},
}
for name, names in {
    "eval_sample_weight": "sample_weight_eval_set eval_class_weight",
    "init_model": "xgb_model",
    "plot": "plot_file",
    "group": "eval_group qid eval_qid",
    "base_margin": "base_margin_eval_set eval_init_score",
}.items():
    _IN_FIT |= dict.fromkeys(names.split(), _IN_FIT[name])


# Arguments of `predict` elsewhere.
_IN_PREDICT: dict[str, str] = {
    "pred_leaf": "The leaves of rows are apply(X) here.",
    "pred_contrib": "What features contribute is bevel.analysis.shapley_values(model, X, "
    "background) here.",
    "pred_interactions": "That is bevel.analysis.shapley_interactions(model, X, background) here.",
    "output_margin": "Sums of trees are decision_function(X) here, of classifiers by boosting.",
    "prediction_type": "Classes or values are predict(X), probabilities predict_proba(X), sums of "
    "trees decision_function(X).",
    "validate_features": "Leave it out: names of columns are always compared.",
    "n_jobs": "It is a parameter of the estimator, n_jobs.",
    "verbose": "Leave it out.",
    "quantiles": "Quantiles of a forest are predict_quantiles(X, [0.1, 0.9]).",
}
for name, names in {
    "pred_contrib": "pred_contribs approx_contribs",
    "output_margin": "raw_score",
    "n_jobs": "thread_count num_threads n_threads nthread task_type",
    "validate_features": "predict_disable_shape_check",
}.items():
    _IN_PREDICT |= dict.fromkeys(names.split(), _IN_PREDICT[name])

_N_ITERATIONS = ("num_iteration", "ntree_end", "ntree_limit", "iteration_range", "n_estimators")

# Attributes and methods elsewhere: for estimators that have a parameter, or for all ("").
_FILES = 'Models are saved by model.save("model.bevel"), and read by bevel.load("model.bevel").'
_HISTORY = {
    _OF_BOOSTING: "It is called evals_result_ here, after a fit with validation rows.",
    "": "A forest has no iterations; bevel.analysis.out_of_bag_curve has its error by trees.",
}
_IMPORTANCES = {
    "": "Importances are feature_importances_, and bevel.analysis.importance(model, kind, ...)."
}
_TREES = {
    "": "The trees are forest_; rules = bevel.analysis.tree_rules(model, 0) prints one, and "
    "bevel.plots.tree(rules) draws it."
}
_SEARCHES = {"": "Searches are those of sklearn.model_selection; forests also have bevel.tune."}
_BEST = {**_HISTORY, _OF_BOOSTING: "It is called best_iteration_ here."}
_SCORES = {**_HISTORY, _OF_BOOSTING: "Scores of validation rows are validation_score_ here."}
_ATTRIBUTES: dict[str, dict[str, str]] = {
    name: texts
    for names, texts in (
        ("save_model load_model save_raw save_to_json", {"": _FILES}),
        ("evals_result get_evals_result", _HISTORY),
        ("best_iteration get_best_iteration best_ntree_limit", _BEST),
        ("best_score best_score_ get_best_score", _SCORES),
        (
            "booster_ get_booster",
            {"": "The estimator itself has feature_importances_, forest_, apply and save."},
        ),
        ("get_feature_importance feature_importance get_score get_fscore", _IMPORTANCES),
        ("dump_model get_dump trees_to_dataframe plot_tree estimators_", _TREES),
        ("grid_search randomized_search", _SEARCHES),
        ("feature_name_ feature_names_ feature_name", {"": "It is called feature_names_in_ here."}),
        ("n_features_ n_features", {"": "It is called n_features_in_ here."}),
        (
            "tree_count_ n_estimators_ get_num_boosting_rounds num_trees",
            {
                _OF_BOOSTING: "The number of iterations is n_iter_ here.",
                "": "The trees are forest_, their number forest_.n_trees.",
            },
        ),
        (
            "get_all_params get_xgb_params",
            {"": "It is called get_params() here."},
        ),
        ("calc_leaf_indexes", {"": "The leaves of rows are apply(X) here."}),
    )
    for name in names.split()
}


def remedy_for(name: str, known: Sequence[str], value: object = UNKNOWN) -> str:
    """What to write instead of an unknown parameter.

    Parameters
    ----------
    name : str
        The name that was given.
    known : sequence of str
        The parameters of the estimator.
    value : object, optional
        The value that was given.
    """
    ours = next((each for each in _OURS.get(name, ()) if each in known), None)
    if ours is not None:
        return _called(name, ours, known, value)
    for key in (name, *_OURS.get(name, ())):
        for parameter, text in _INSTEAD.get(key, {}).items():
            if not parameter or parameter in known:
                return text.format(value="..." if value is UNKNOWN else shorten(value))
    close = nearest(name, known)
    return f"Did you mean {close}?" if close else f"It has {', '.join(known)}."


def _called(name: str, ours: str, known: Sequence[str], value: object) -> str:
    if value is UNKNOWN:
        return f"It is called {ours} here."
    if ours in ("loss", "criterion") and isinstance(value, str):
        return _loss(name, ours, known, value)
    translated = same_value(name, value, same_value(ours, value, value))
    return f"{name}={shorten(value)} is {ours}={shorten(translated)} here."


def _loss(name: str, ours: str, known: Sequence[str], value: str) -> str:
    """The loss or criterion of an estimator for that of another library."""
    given, told = f"{name}={shorten(value)}", same_value("loss", value)
    if told is None:
        if value.startswith(("survival", "Cox")):
            return f"{given} is bevel.ObliqueSurvivalBoosting here, or bevel.ObliqueSurvivalForest."
        if value.startswith(("rank", "lambdarank", "Yeti", "Pair", "Query")):
            return f"{given} is bevel.ObliqueBoostingRanker here."
        return f"{name} is called {ours} here, and has no {shorten(value)}; see the documentation."
    of_classes = told == "log_loss"
    if of_classes != (_OF_CLASSES in known):
        kind = "Classifier" if of_classes else "Regressor"
        family = "Boosting" if ours == "loss" else "Forest"
        return f"{given} is {ours}={told!r} of bevel.Oblique{family}{kind} here."
    if ours == "criterion" and told == "quantile":
        return "A forest predicts quantiles by predict_quantiles; leave it out."
    if ours == "criterion" and told in ("huber", "gamma"):
        return f"{given} is loss={told!r} of bevel.ObliqueBoostingRegressor here."
    return f"{given} is {ours}={told!r} here."


def remedy_of_fit(name: str, known: Sequence[str], value: object) -> str:
    """What to do instead of an unknown argument of `fit`."""
    for parameter, text in _IN_FIT.get(name, {}).items():
        if not parameter or parameter in known:
            return text
    if name in known:
        value = same_value(name, value, value)
        return f"It is a parameter of the estimator: {name}={shorten(value)}, not of fit."
    if name in _OURS or name in _INSTEAD:
        remedy = remedy_for(name, known, value)
        own = any(each in known for each in _OURS.get(name, ()))
        return remedy.removesuffix(".") + ", a parameter of the estimator." if own else remedy
    return "See the documentation of fit."


def remedy_of_predict(name: str, known: Sequence[str], value: object) -> str:
    """What to do instead of an unknown argument of `predict` and its kin."""
    if name in _N_ITERATIONS:
        if _OF_BOOSTING not in known:
            return "All trees predict; prune_trees of a forest keeps some of them."
        n = value[-1] if isinstance(value, Sequence) and not isinstance(value, str) else value
        return f"{name}={shorten(value)} is n_iterations={shorten(n)} here."
    return _IN_PREDICT.get(name, "See the documentation.")


def instead_of_attribute(name: str, known: Sequence[str]) -> str | None:
    """What there is instead of an attribute or method of other libraries; None if not known."""
    for parameter, text in _ATTRIBUTES.get(name, {}).items():
        if not parameter or parameter in known:
            return text
    return None


def same_value(name: str, value: object, default: object = None) -> Any:
    """A value of another library as it is written here; `default` if it is not known."""
    key = value.lower().partition(":alpha")[0] if isinstance(value, str) else value
    known = _VALUES.get(name, {})
    return known.get(key, default) if isinstance(key, Hashable) else default


Answer = Callable[[str, Sequence[str], object], str]


def answers(given: Mapping[str, object], known: Sequence[str], answer: Answer = remedy_for) -> str:
    """Answers to all unknown names at once."""
    if len(given) == 1:
        return " ".join(answer(name, known, value) for name, value in given.items())
    found = {name: answer(name, known, value) for name, value in given.items()}
    return " ".join(
        text if text.startswith(f"{name}=") else f"{name}: {text}" for name, text in found.items()
    )
