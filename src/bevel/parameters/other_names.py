"""Parameters under the names they have elsewhere, and what they are called here.

The names are those of scikit-learn, LightGBM, XGBoost, ranger, randomForest and YDF. An estimator
that does not know a parameter looks here before it raises.
"""

from __future__ import annotations

from collections.abc import Sequence

from bevel.errors import nearest

__all__ = ["remedy_for"]

# Ours, and the others' names for it.
_SAME: dict[str, tuple[str, ...]] = {
    "n_projections": (
        "max_features",
        "mtry",
        "feature_fraction",
        "feature_fraction_bynode",
        "colsample_bytree",
        "colsample_bylevel",
        "colsample_bynode",
        "num_candidate_attributes",
        "num_candidate_attributes_ratio",
        "sparse_oblique_num_projections_exponent",
    ),
    "n_estimators": (
        "n_trees",
        "num_trees",
        "ntree",
        "num_iterations",
        "num_boost_round",
        "n_iter",
        "max_iter",
        "iterations",
    ),
    "random_state": ("seed", "random_seed", "bagging_seed"),
    "n_jobs": ("n_threads", "num_threads", "num_thread", "nthread", "thread_count"),
    "min_samples_leaf": (
        "min_data_in_leaf",
        "min_child_samples",
        "min_node_size",
        "min_bucket",
        "nodesize",
        "min_examples",
    ),
    "min_weight_fraction_leaf": ("min_child_weight", "min_sum_hessian_in_leaf"),
    "max_leaf_nodes": ("num_leaves", "max_leaves", "maxnodes", "max_num_nodes"),
    "max_samples": (
        "subsample",
        "bagging_fraction",
        "sample_fraction",
        "sampsize",
        "bootstrap_size_ratio",
    ),
    "min_impurity_decrease": ("min_split_gain", "min_gain_to_split", "gamma"),
    "categorical_features": (
        "categorical_feature",
        "cat_features",
        "enable_categorical",
        "feature_types",
    ),
    "class_weight": ("class_weights", "scale_pos_weight", "is_unbalance"),
    "criterion": ("objective", "splitrule", "loss", "loss_function"),
    "split_search": ("max_bin", "max_bins", "tree_method"),
    "oob_score": ("oob", "oob_error", "compute_oob_performances"),
    "verbose": ("verbosity", "silent"),
    "growth": ("grow_policy", "growing_strategy"),
    "projection": ("split_axis",),
    "scale": ("sparse_oblique_normalization", "normalize", "standardize"),
    "keep_targets": ("quantreg", "keep_inbag"),
    "monotonic_cst": ("monotone_constraints", "monotonic_constraints"),
    "interaction_cst": ("interaction_constraints",),
}
_OURS = {name: ours for ours, names in _SAME.items() for name in names}

# What there is instead of parameters that have no counterpart.
_INSTEAD = {
    "ccp_alpha": "Trees are not pruned; limit them with max_depth, min_samples_leaf or "
    "min_impurity_decrease.",
    "splitter": 'threshold="random" draws cuts as splitter="random" does.',
    "learning_rate": "The trees of a forest are not boosted; see bevel.ObliqueBoostingClassifier.",
    "monotonic_cst": "Trees are not constrained; there is no parameter for it.",
    "class_weight": "Weigh the rows with fit(X, y, sample_weight=...).",
    "sample_weight": "Pass it to fit(X, y, sample_weight=...).",
    "density": "It belongs to the projection: projection=P.SparseSigns(density=...), or "
    "set_params(projection__density=...).",
    "projection_density_factor": "It belongs to the projection: "
    "projection=P.SparseSigns(density=...).",
    "feature_combinations": "It belongs to the projection: projection=P.SparseSigns(density=...).",
    "sparse_oblique_projection_density_factor": "It belongs to the projection: "
    "projection=P.SparseSigns(density=...).",
}
_INSTEAD["monotone_constraints"] = _INSTEAD["monotonic_cst"]
_INSTEAD["eta"] = _INSTEAD["shrinkage"] = _INSTEAD["learning_rate"]


def remedy_for(name: str, known: Sequence[str]) -> str:
    """What to write instead of an unknown parameter; `known` are those of the estimator."""
    ours = _OURS.get(name)
    if ours in known:
        return f"It is called {ours} here."
    if name in _INSTEAD:
        return _INSTEAD[name]
    close = nearest(name, known)
    return f"Did you mean {close}?" if close else f"It has {', '.join(known)}."
