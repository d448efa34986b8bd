"""What tests of scikit-learn expect and Bevel does otherwise.

`docs/coming_from/differences.md` shows this table. The tests that are named here must fail with
Bevel's estimators in place of scikit-learn's, and all others must pass.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """A behaviour of scikit-learn, what Bevel does instead, and the tests that show it.

    A test is given by its name; behind a colon may be what the names of its cases have in common.
    """

    theirs: str
    ours: str
    tests: tuple[str, ...]

    def covers(self, test: str, case: str) -> bool:
        """Whether a test, or a case of it, is among them."""
        for each in self.tests:
            name, _, part = each.partition(":")
            if name == test and part in case:
                return True
        return False


DIFFERENCES = (
    Difference(
        "Private attributes and functions, such as `_predictors`, `_raw_predict` or `_bin_mapper`.",
        "Has others: the trees are in `forest_`.",
        (
            "test_max_samples_consistency",
            "test_iforest_chunks_works1",
            "test_iforest_chunks_works2",
            "test_class_weights_forest",
            "test_validate_y_class_weight",
            "test_oob_not_computed_twice",
            "test_should_stop",
            "test_small_trainset",
            "test_binning_train_validation_are_separated",
            "test_sample_weight_effect",
            "test_max_depth_max_leaf_nodes",
            "test_early_stopping_with_sample_weights",
            "test_raw_predict_is_called_with_custom_scorer",
            "test_single_node_trees",
            "test_categorical_encoding_strategies",
            "test_check_interaction_cst",
            "test_dataframe_categorical_results_same_as_ndarray",
            "test_categorical_different_order_same_model",
        ),
    ),
    Difference(
        "A forest is a list of trees that are estimators: `estimators_`, `estimator`, "
        "`estimators_samples_`, and loops over the forest.",
        "Trees are arrays: `forest_`, `forest_.tree(0)`; a loop over `forest_` gives views.",
        (
            "test_recalculate_max_depth",
            "test_iforest_warm_start",
            "test_importances_asymptotic",
            "test_forest_multioutput_integral_regression_target",
            "test_distribution",
            "test_memory_layout",
            "test_min_samples_split",
            "test_min_impurity_decrease",
            "test_warm_start",
            "test_estimators_samples",
        ),
    ),
    Difference(
        "Messages of errors in the words of scikit-learn.",
        "The same is refused in words of its own. What is of a wrong type is a TypeError.",
        (
            "test_forest_oob_score_requires_bootstrap",
            "test_max_samples_bootstrap",
            "test_forest_y_sparse",
            "test_poisson_y_positive_check",
            "test_init_parameters_validation",
            "test_gamma_y_positive",
            "test_poisson_y_positive",
            "test_consistent_lengths",
            "test_categorical_spec_errors",
            "test_categorical_spec_errors_with_feature_names",
            "test_X_val_raises_missing_y_val",
            "test_X_val_raises_with_early_stopping_false",
        ),
    ),
    Difference(
        '`criterion="friedman_mse"`, which is deprecated, and criteria as objects.',
        "Refused. For one output `squared_error` chooses the same splits.",
        (
            "test_regression_criterion:friedman_mse",
            "test_missing_values_is_resilient:friedman_mse",
            "test_missing_value_is_predictive:friedman_mse",
            "test_friedman_mse_deprecation",
            "test_mse_criterion_object_segfault_smoke_test",
        ),
    ),
    Difference(
        "joblib runs the trees, with a backend of the user's.",
        "Threads of the core run them; `n_jobs` says how many.",
        ("test_backend_respected",),
    ),
    Difference(
        "Out-of-bag estimates of several outputs with more than two classes raise; those of two "
        "classes are one array with a third dimension.",
        "There are such estimates. `oob_decision_function_` is a list of one array (rows, classes) "
        "for each output, as `predict_proba` is; `oob_score_` is the share of rows of which all "
        "outputs are right.",
        (
            "test_classifier_error_oob_score_multiclass_multioutput",
            "test_forest_classifier_oob:X3-y3",
        ),
    ),
    Difference(
        "Bags of more draws than there are rows: `max_samples` above 1.0 or the number of rows.",
        "A share above 1 is refused. A number above that of the rows warns, and draws all rows.",
        ("test_max_samples_geq_one",),
    ),
    Difference(
        "A warm start with another target, such as several outputs after one, warns.",
        "Refused: trees of one forest predict the same target.",
        ("test_class_weight_errors",),
    ),
    Difference(
        "`validation_fraction=None` stops boosting early by the loss of the training rows.",
        "Early stopping needs validation rows: a share of the training rows, or `X_val`.",
        (
            "test_early_stopping_regression:-None-",
            "test_early_stopping_classification:-None-",
            "test_early_stopping_on_test_set_with_warm_start",
        ),
    ),
    Difference(
        "After early stopping the last `n_iter_no_change` iterations stay in the model.",
        "They are dropped: `n_iter_` is the number of iterations up to the best one.",
        ("test_early_stopping_classification:-0.1-True-5-1e-07",),
    ),
    Difference(
        "The rows that boosting holds out are those of `train_test_split` with a seed drawn from "
        "`random_state`.",
        "They are drawn by a seed of its own, so that other rows are held out.",
        ("test_X_val_in_fit",),
    ),
    Difference(
        "A loss is an object of `sklearn._loss`.",
        "A loss is a function that returns gradients and second derivatives.",
        ("test_custom_loss",),
    ),
    Difference(
        "Infinite values of features are allowed in boosting.",
        "Refused with the column and the row. Replace them by NaN or a large number.",
        ("test_infinite_values", "test_infinite_values_missing_values"),
    ),
    Difference(
        "Any positive `learning_rate`.",
        "At most 10.",
        ("test_zero_division_hessians",),
    ),
    Difference(
        "Nominal columns have at most `max_bins` levels; more raise.",
        "Any number of levels.",
        ("test_categorical_bad_encoding_errors", "test_dataframe_categorical_errors"),
    ),
    Difference(
        "A level that training rows did not have is a missing value.",
        "Missing values that training rows had are a level of their own, for which a level that "
        "they did not have is not taken.",
        ("test_unknown_categories_nan:HistGradientBoostingRegressor-True",),
    ),
)


def table() -> str:
    """The differences as a table in Markdown."""
    rows = ["| scikit-learn | Bevel | tests |", "| --- | --- | --- |"]
    for each in DIFFERENCES:
        tests = ", ".join(f"`{name}`" for name in each.tests)
        rows.append(f"| {each.theirs} | {each.ours} | {tests} |")
    return "\n".join(rows)
