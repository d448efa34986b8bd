"""The papers' baselines, from scikit-learn."""

from functools import partial
from typing import Any

from bevel_lab.systems.base import BASELINE, Estimator, Grid, System, Task
from bevel_lab.systems.tuning import inner_folds

__all__ = ["systems"]

CLASSIFICATION = ("classification",)


def systems() -> list[System]:
    """All of them."""
    return [*_forests(), *_kernels_and_neighbours(), *_others()]


def _forests() -> list[System]:
    return [
        System(
            "sklearn-rf",
            "scikit-learn RF",
            BASELINE,
            "RandomForestClassifier / Regressor, 500 trees, else at its defaults.",
            partial(_forest, "RandomForest"),
            tuning=Grid(_max_features),
            has_trees=True,
            missing=True,
        ),
        System(
            "sklearn-et",
            "scikit-learn ET",
            BASELINE,
            "ExtraTreesClassifier / Regressor, 500 trees, else at its defaults.",
            partial(_forest, "ExtraTrees"),
            has_trees=True,
            missing=True,
        ),
        System(
            "et-1",
            "RF-rnd",
            BASELINE,
            "Menze section 3: extremely random trees with one feature per node.",
            partial(_forest, "ExtraTrees", max_features=1),
            has_trees=True,
            missing=True,
        ),
        System(
            "gbm",
            "GBM",
            BASELINE,
            "Blaser 1.6.5: scikit-learn's gradient boosting with the defaults of R's gbm (trees of "
            "one split on half of the rows) and a shrinkage of 2.5 over the number of trees.",
            _gbm,
            has_trees=True,
        ),
        System(
            "hist-gb",
            "HistGB",
            BASELINE,
            "HistGradientBoostingClassifier / Regressor at its defaults.",
            _boosting,
            nominal=True,
            missing=True,
        ),
    ]


def _kernels_and_neighbours() -> list[System]:
    return [
        System(
            "svm",
            "SVM",
            BASELINE,
            "Blaser 2.5: radial basis functions, C = 1, gamma = 1/p, features standardised (the "
            "defaults of R's e1071).",
            _svm,
            max_rows=20_000,
        ),
        System(
            "svm-cv",
            "SVM (tuned)",
            BASELINE,
            "Menze section 3: kernel width from the quartiles of |x − x'|², then cost from "
            "10^−5 to 10^5, each by 3-fold cross-validation; features standardised.",
            _tuned_svm,
            max_rows=5_000,
        ),
        System(
            "knn",
            "kNN",
            BASELINE,
            "Menze section 3: 2^i neighbours, i = 0 … log2 p, by 3-fold cross-validation. Features "
            "are standardised, of which the paper says nothing.",
            _tuned_neighbours,
        ),
        System(
            "knn-5",
            "kNN-5",
            BASELINE,
            "Blaser 2.5: 5 neighbours. Features are standardised, where R's class::knn leaves that "
            "to its user.",
            partial(_neighbours, n_neighbors=5),
        ),
    ]


def _others() -> list[System]:
    return [
        System(
            "lda",
            "LDA",
            BASELINE,
            "Blaser 2.5: linear discriminant analysis.",
            _lda,
            tasks=CLASSIFICATION,
        ),
        System(
            "cart",
            "CART",
            BASELINE,
            "Menze section 3: one tree, its pruning chosen by ten-fold cross-validation.",
            _pruned_tree,
            missing=True,
        ),
        System(
            "adaboost",
            "AdaBoost",
            BASELINE,
            "Menze section 3: discrete AdaBoost, 10, 20, … 50 iterations by 3-fold "
            "cross-validation; trees of R's rpart.control, each on half of the rows, drawn anew, "
            "as R's ada bags them.",
            _adaboost,
            tasks=CLASSIFICATION,
        ),
        System(
            "rf-cv",
            "RF (tuned)",
            BASELINE,
            "Menze section 3: presets.random_forest with 20, 40, … 640 trees by 3-fold "
            "cross-validation.",
            _tuned_forest,
            nominal=True,
            missing=True,
        ),
        System(
            "gp",
            "GP",
            BASELINE,
            "Blaser 2.5: Gaussian process with radial basis functions of the width that kernlab's "
            "sigest gives (the median of |x − x'|²), features standardised.",
            _gaussian_process,
            max_rows=2_000,
        ),
        System(
            "logistic",
            "Logistic",
            BASELINE,
            "Logistic regression (in regression: ridge), unit penalty, standardised features.",
            _linear,
        ),
    ]


def _forest(kind: str, task: Task, *, n_trees: int = 500, **setting: Any) -> Estimator:
    import sklearn.ensemble

    make = getattr(sklearn.ensemble, kind + ("Regressor" if task.is_regression else "Classifier"))
    forest: Estimator = make(
        n_estimators=n_trees, n_jobs=task.n_jobs, random_state=task.random_state, **setting
    )
    return forest


def _max_features(task: Task) -> list[dict[str, Any]]:
    """d = p^1/4, p^1/2, p^3/4 and p, as SPORF 3.2 tunes RF; rounded up, as ours is."""
    from bevel.projections.base import resolve_count
    from bevel_lab.systems.ours import UP_TO_P

    return [{"max_features": resolve_count("max_features", power, task.p)} for power in UP_TO_P]


def _gbm(task: Task, *, n_trees: int = 5000, **setting: Any) -> Estimator:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    make = GradientBoostingRegressor if task.is_regression else GradientBoostingClassifier
    own = {"learning_rate": 2.5 / n_trees, "max_depth": 1, "subsample": 0.5, "min_samples_leaf": 10}
    boosting: Estimator = make(
        n_estimators=n_trees, random_state=task.random_state, **{**own, **setting}
    )
    return boosting


def _boosting(task: Task, **setting: Any) -> Estimator:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if task.has_nominal:
        setting.setdefault("categorical_features", task.categorical_features)
    make = HistGradientBoostingRegressor if task.is_regression else HistGradientBoostingClassifier
    boosting: Estimator = make(random_state=task.random_state, **setting)
    return boosting


def _standardised(model: Any) -> Estimator:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline: Estimator = make_pipeline(StandardScaler(), model)
    return pipeline


def _svm(task: Task, **setting: Any) -> Estimator:
    from sklearn.svm import SVC, SVR

    setting = {"C": 1.0, "gamma": 1.0 / task.p, **setting}
    return _standardised(SVR(**setting) if task.is_regression else SVC(**setting))


def _tuned_svm(task: Task, **setting: Any) -> Estimator:
    from sklearn.svm import SVC, SVR

    from bevel_lab.systems.learners import KernelWidthThenCost

    return _standardised(
        KernelWidthThenCost(SVR(**setting) if task.is_regression else SVC(**setting))
    )


def _neighbours(task: Task, **setting: Any) -> Estimator:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    make = KNeighborsRegressor if task.is_regression else KNeighborsClassifier
    return _standardised(make(n_jobs=task.n_jobs, **setting))


def _tuned_neighbours(task: Task) -> Estimator:
    from sklearn.model_selection import GridSearchCV

    # A third of the rows is left out while tuning: no more neighbours than the rest has.
    largest = min(task.p.bit_length() - 1, max(task.n_train * 2 // 3, 1).bit_length() - 1)
    step = "kneighborsregressor" if task.is_regression else "kneighborsclassifier"
    grid = {f"{step}__n_neighbors": [2**power for power in range(largest + 1)]}
    search: Estimator = GridSearchCV(_neighbours(task), grid, cv=inner_folds(task, 3))
    return search


def _lda(task: Task, **setting: Any) -> Estimator:  # noqa: ARG001
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    discriminant: Estimator = LinearDiscriminantAnalysis(**setting)
    return discriminant


def _pruned_tree(task: Task) -> Estimator:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from bevel_lab.systems.learners import PrunedTree

    make = DecisionTreeRegressor if task.is_regression else DecisionTreeClassifier
    return PrunedTree(make(random_state=task.random_state), cv=inner_folds(task, 10))


def _adaboost(task: Task) -> Estimator:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.model_selection import GridSearchCV

    from bevel_lab.systems.learners import HalfTree

    tree = HalfTree(min_samples_split=20, min_samples_leaf=7)
    boosting = AdaBoostClassifier(tree, random_state=task.random_state)
    grid = {"n_estimators": [10, 20, 30, 40, 50]}
    search: Estimator = GridSearchCV(boosting, grid, cv=inner_folds(task, 3))
    return search


def _tuned_forest(task: Task) -> Estimator:
    from sklearn.model_selection import GridSearchCV

    from bevel import presets

    nominal = {"categorical_features": task.categorical_features} if task.has_nominal else {}
    forest = presets.random_forest(
        task=task.kind, random_state=task.random_state, n_jobs=task.n_jobs, **nominal
    )
    grid = {"n_estimators": [10 * 2**i for i in range(1, 7)]}
    search: Estimator = GridSearchCV(forest, grid, cv=inner_folds(task, 3))
    return search


def _gaussian_process(task: Task) -> Estimator:
    from bevel_lab.systems.learners import GaussianProcess

    return _standardised(GaussianProcess(task.is_regression, task.random_state))


def _linear(task: Task, **setting: Any) -> Estimator:
    from sklearn.linear_model import LogisticRegression, Ridge

    if task.is_regression:
        return _standardised(Ridge(**setting))
    return _standardised(LogisticRegression(**{"max_iter": 1000, **setting}))
