"""What the boosting estimators promise: repeatable, resumable, stoppable, savable, strict."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import train_test_split

import bevel
from bevel import ModelFileError, ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel import projections as P
from bevel.forest.aggregation import SumOfTrees

Table = tuple[npt.NDArray[Any], npt.NDArray[Any]]
BOTH = pytest.mark.parametrize("estimator", [ObliqueBoostingClassifier, ObliqueBoostingRegressor])


@pytest.fixture(scope="module")
def tumours() -> Table:
    return load_breast_cancer(return_X_y=True)  # type: ignore[no-any-return]


@BOTH
@pytest.mark.parametrize("projection", ["auto", "axis", [P.Axis(), P.RandomCombination(2)]])
def test_fit_gives_the_same_bits_for_any_number_of_threads(
    estimator: type[Any], projection: Any
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 9))
    X[rng.random(X.shape) < 0.02] = np.nan
    y = (np.nansum(X[:, :3], axis=1) > 0.3).astype(int)
    models = [
        estimator(
            max_iter=4, projection=projection, random_state=1, n_jobs=n, early_stopping=False
        ).fit(X, y)
        for n in (1, 2, 3)
    ]
    for model in models[1:]:
        for name, array in models[0].forest_.arrays().items():
            np.testing.assert_array_equal(array, model.forest_.arrays()[name], err_msg=name)


@pytest.mark.parametrize("loader", [load_iris, load_breast_cancer])
def test_model_comes_back_from_file_and_pickle(loader: Any, tmp_path: Path) -> None:
    X, y = loader(return_X_y=True)
    model = ObliqueBoostingClassifier(max_iter=10, random_state=0).fit(X, y)
    model.save(tmp_path / "model.bevel")
    for other in (
        bevel.load(tmp_path / "model.bevel"),
        bevel.load(tmp_path / "model.bevel", mmap=True),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other.n_iter_ == 10
        assert other.get_params() == model.get_params()


def test_file_with_baselines_that_do_not_fit_is_refused(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = ObliqueBoostingClassifier(max_iter=2, random_state=0).fit(X, y)
    two = model._fitted.aggregation.baseline[:2]
    model._fitted = replace(model._fitted, aggregation=SumOfTrees(two, "softmax"))
    model.save(tmp_path / "model.bevel")
    with pytest.raises(ModelFileError, match="baseline"):
        bevel.load(tmp_path / "model.bevel")


@pytest.mark.parametrize("loader", [load_iris, load_breast_cancer])
def test_warm_start_gives_the_trees_of_one_long_fit(loader: Any) -> None:
    X, y = loader(return_X_y=True)
    model = ObliqueBoostingClassifier(max_iter=4, random_state=0, warm_start=True).fit(X, y)
    model.set_params(max_iter=9).fit(X, y)
    whole = ObliqueBoostingClassifier(max_iter=9, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
    assert len(model.train_score_) == 9


def test_early_stopping_keeps_the_iterations_up_to_the_best_one(tumours: Table) -> None:
    X, X_val, y, y_val = train_test_split(*tumours, random_state=0)
    model = ObliqueBoostingClassifier(
        learning_rate=0.3, max_iter=300, n_iter_no_change=5, tol=0.0, random_state=0
    ).fit(X, y, X_val=X_val, y_val=y_val)
    best = int(np.argmax(model.validation_score_))
    assert model.n_iter_ == best + 1 == len(model.validation_score_) - 5
    loss = -np.log(model.predict_proba(X_val)[np.arange(len(y_val)), y_val]).mean()
    assert model.validation_score_[best] == pytest.approx(-loss, rel=1e-9)


def test_validation_rows_do_not_change_the_trees(tumours: Table) -> None:
    X, X_val, y, y_val = train_test_split(*tumours, random_state=0)
    settings: dict[str, Any] = {"max_iter": 5, "n_iter_no_change": 50, "random_state": 0}
    alone = ObliqueBoostingClassifier(**settings).fit(X, y)
    watched = ObliqueBoostingClassifier(**settings).fit(X, y, X_val=X_val, y_val=y_val)
    n_kept = watched.forest_.n_nodes
    np.testing.assert_array_equal(alone.forest_.threshold[:n_kept], watched.forest_.threshold)


def test_staged_predictions_end_with_the_prediction() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ObliqueBoostingRegressor(max_iter=7, random_state=0).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 7
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(model.predictor_.predict(X), model.predict(X))


def test_staged_probabilities_of_several_classes_are_those_of_shorter_fits() -> None:
    X, y = load_iris(return_X_y=True)
    settings = {"random_state": 0, "early_stopping": False}
    model = ObliqueBoostingClassifier(max_iter=4, **settings).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == len(list(model.staged_predict(X))) == 4
    for n_iter in (1, 4):
        shorter = ObliqueBoostingClassifier(max_iter=n_iter, **settings).fit(X, y)
        np.testing.assert_array_equal(stages[n_iter - 1], shorter.predict_proba(X))


@pytest.mark.parametrize("loader", [load_iris, load_breast_cancer, load_diabetes])
def test_onnx_model_predicts_the_same(loader: Any) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = loader(return_X_y=True)
    is_regression = loader is load_diabetes
    estimator = ObliqueBoostingRegressor if is_regression else ObliqueBoostingClassifier
    model = estimator(max_iter=8, random_state=0).fit(X, y)
    graph = model.to_onnx(dtype="float64").SerializeToString()
    outputs = onnxruntime.InferenceSession(graph).run(None, {"X": X})
    expected = model.predict(X) if is_regression else model.predict_proba(X)
    np.testing.assert_allclose(outputs[-1], expected, rtol=1e-12, atol=1e-12)


def test_onnx_model_sorts_quantiles() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = load_diabetes(return_X_y=True)
    model = ObliqueBoostingRegressor(
        "quantile", quantile=[0.4, 0.5, 0.6], max_iter=30, learning_rate=0.5, random_state=0
    ).fit(X, y)
    assert (np.diff(model._raw(X), axis=1) < 0.0).any()
    graph = model.to_onnx(dtype="float64").SerializeToString()
    (found,) = onnxruntime.InferenceSession(graph).run(None, {"X": X})
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)


def test_row_of_weight_zero_is_as_good_as_absent(tumours: Table) -> None:
    X, y = tumours
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    settings: dict[str, Any] = {"max_iter": 5, "random_state": 0, "scale": None}
    weighted = ObliqueBoostingClassifier(**settings).fit(X, y, sample_weight=weights)
    fewer = ObliqueBoostingClassifier(**settings).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(weighted.decision_function(X), fewer.decision_function(X))


def test_frame_with_text_and_missing_values_is_fitted() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=300), "colour": rng.choice(["r", "g", "b"], 300)})
    frame.loc[::7, "size"] = np.nan
    y = np.where(frame["colour"] == "r", "yes", "no")
    model = ObliqueBoostingClassifier(max_iter=30, random_state=0).fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert model.feature_importances_[1] > 0.99


def test_callback_is_called_for_all_iterations_and_its_error_ends_the_fit() -> None:
    X, y = load_diabetes(return_X_y=True)
    heard: list[tuple[int, int]] = []
    ObliqueBoostingRegressor(max_iter=5, callback=lambda *n: heard.append(n)).fit(X, y)
    assert heard[-1] == (5, 5)

    def fail(_done: int, _total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ObliqueBoostingRegressor(max_iter=100_000, callback=fail).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "arguments", "words"),
    [
        ({"loss": "quantile"}, {}, "quantile must be given"),
        ({"quantile": 0.5}, {}, "quantile must be given"),
        ({"loss": "poisson"}, {"y": -1.0}, "at least 0"),
        ({"loss": "gamma"}, {"y": 0.0}, "positive"),
        ({"projection": "ridge"}, {}, "do not depend on the rows"),
        ({"projection": P.RandomRotation(per="node")}, {}, "do not depend on the rows"),
        ({"learning_rate": 0.0}, {}, "learning_rate"),
        ({"max_iter": 0}, {}, "max_iter"),
        ({"subsample": 1.5}, {}, "subsample"),
        ({"max_bins": 256}, {}, "max_bins"),
        ({"early_stopping": False}, {"X_val": True, "y_val": True}, "early_stopping must be"),
        ({}, {"X_val": True}, "given together"),
        ({}, {"y_val": True}, "given together"),
        ({}, {"X_val": "empty", "y_val": "empty"}, "at least one row"),
    ],
)
def test_what_cannot_be_honoured_raises(
    settings: dict[str, Any], arguments: dict[str, Any], words: str
) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.abs(X[:, 0]) + 1.0
    if isinstance(arguments.get("y"), float):
        y[3] = arguments["y"]
    given = {"X_val": X, "y_val": y}
    empty = {"X_val": X[:0], "y_val": y[:0]}
    fit = {
        name: empty[name] if value == "empty" else given[name]
        for name, value in arguments.items()
        if name != "y"
    }
    with pytest.raises(ValueError, match=words):
        ObliqueBoostingRegressor(**settings).fit(X, y, **fit)


def test_unknown_classes_raise(tumours: Table) -> None:
    X, y = tumours
    with pytest.raises(ValueError, match="classes of y only"):
        ObliqueBoostingClassifier().fit(X, y, X_val=X, y_val=y + 1)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "poisson", "gamma", "log_loss"]
)
def test_fit_that_diverges_stays_finite_and_can_be_saved(loss: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.exp(X[:, 0] + rng.normal(size=60))
    of_classes = loss == "log_loss"
    kind: Any = ObliqueBoostingClassifier if of_classes else ObliqueBoostingRegressor
    settings = {"learning_rate": 10.0, "max_iter": 400, "l2_regularization": 0}
    model = kind(loss=loss, min_samples_leaf=1, random_state=0, **settings)
    model.fit(X, y > 1.0 if of_classes else y)
    model.save(tmp_path / "model.bevel")
    for each in (model, bevel.load(tmp_path / "model.bevel")):
        predicted = each.predict_proba(3.0 * X) if of_classes else each.predict(3.0 * X)
        assert np.isfinite(predicted).all()
        assert np.isfinite(each.feature_importances_).all()


def test_targets_and_weights_of_extreme_size_give_finite_predictions() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    large = np.where(X[:, 0] > 0, 1e60, 0.0)
    weights = np.where(X[:, 1] > 0, 1e15, 1e-300)
    for loss in ("squared_error", "absolute_error", "huber", "poisson"):
        model = ObliqueBoostingRegressor(loss=loss, learning_rate=10.0, max_iter=50)
        assert np.isfinite(model.fit(X, large, sample_weight=weights).predict(X)).all()
    with pytest.raises(ValueError, match="up to 1e"):
        ObliqueBoostingRegressor(max_iter=2).fit(X, large * 1e240)


def halves(loader: Any) -> tuple[Table, Table]:
    X, y = loader(return_X_y=True)
    chosen = np.random.default_rng(0).random(len(y)) < 0.6
    return (X[chosen], y[chosen]), (X[~chosen], y[~chosen])


LOADERS = pytest.mark.parametrize(
    ("estimator", "loader"),
    [
        (ObliqueBoostingClassifier, load_breast_cancer),
        (ObliqueBoostingClassifier, load_iris),
        (ObliqueBoostingRegressor, load_diabetes),
    ],
)


@LOADERS
def test_eval_set_is_another_way_to_pass_validation_rows(estimator: type[Any], loader: Any) -> None:
    training, validation = halves(loader)
    settings = {"max_iter": 300, "n_iter_no_change": 5, "learning_rate": 0.3, "random_state": 0}
    expected = estimator(**settings).fit(*training, X_val=validation[0], y_val=validation[1])
    for pairs in ([validation], validation, [training, validation], [validation, training]):
        model = estimator(**settings).fit(*training, eval_set=pairs)
        np.testing.assert_array_equal(model.validation_score_, expected.validation_score_)
        np.testing.assert_array_equal(model.predict(validation[0]), expected.predict(validation[0]))


@pytest.mark.parametrize("pairs", [[], [(1, 2), (3, 4)], [(1, 2, 3)], "valid", {"X": 1}])
def test_eval_set_without_one_pair_of_other_rows_is_refused(pairs: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises((TypeError, ValueError), match="eval_set must be a pair"):
        ObliqueBoostingRegressor().fit(X, y, eval_set=pairs)
    with pytest.raises(ValueError, match="eval_set must be None with X_val"):
        ObliqueBoostingRegressor().fit(X, y, X_val=X, y_val=y, eval_set=pairs)


@LOADERS
def test_curves_and_best_iteration_are_named_as_elsewhere(
    estimator: type[Any], loader: Any, tmp_path: Path
) -> None:
    training, validation = halves(loader)
    model = estimator(max_iter=300, n_iter_no_change=5, learning_rate=0.3, random_state=0)
    model.fit(*training, eval_set=[validation]).save(tmp_path / "model.bevel")
    for each in (model, bevel.load(tmp_path / "model.bevel")):
        curves = each.evals_result_
        assert list(curves) == ["training", "validation"]
        losses = curves["validation"][each.loss]
        assert each.best_iteration_ == 1 + int(np.argmin(losses)) == each.n_iter_ < len(losses)
        assert curves["training"][each.loss] == (-each.train_score_).tolist()
    alone = estimator(max_iter=7, early_stopping=False).fit(*training)
    assert (alone.best_iteration_, list(alone.evals_result_)) == (7, ["training"])


def test_curves_of_a_scorer_have_its_name() -> None:
    training, validation = halves(load_breast_cancer)
    model = ObliqueBoostingClassifier(max_iter=20, scoring="roc_auc").fit(
        *training, eval_set=validation
    )
    assert model.evals_result_["validation"] == {"roc_auc": model.validation_score_.tolist()}
    assert list(model.evals_result_["training"]) == ["log_loss"]


@LOADERS
def test_first_iterations_predict_as_the_staged_predictions_do(
    estimator: type[Any], loader: Any, tmp_path: Path
) -> None:
    (X, y), (X_new, _) = halves(loader)
    frame = pd.DataFrame(X_new, columns=[f"x{i}" for i in range(X.shape[1])])
    model = estimator(max_iter=6, random_state=0).fit(pd.DataFrame(X, columns=frame.columns), y)
    model.save(tmp_path / "model.bevel")
    for each in (model, bevel.load(tmp_path / "model.bevel", mmap=True)):
        stages = list(each.staged_predict(frame))
        for n, expected in enumerate(stages, start=1):
            np.testing.assert_array_equal(each.predict(frame, n_iterations=n), expected)
            np.testing.assert_array_equal(each.predict(frame[:3], n_iterations=n), expected[:3])
        if isinstance(each, ObliqueBoostingClassifier):
            for n, expected in enumerate(each.staged_predict_proba(frame), start=1):
                found = each.predict_proba(frame, n_iterations=n)
                np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(
                each.predict_log_proba(frame, n_iterations=2),
                np.log(each.predict_proba(frame, n_iterations=2)),
            )
        none = each.predict(frame, n_iterations=0)
        assert len(np.unique(none)) == 1


@pytest.mark.parametrize("n", [-1, 6, 2.0, True, "all"])
def test_numbers_of_iterations_that_a_model_does_not_have_are_refused(n: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ObliqueBoostingRegressor(max_iter=5).fit(X, y)
    required = "n_iterations must be an integer from 0 to the 5 iterations of the model, or None"
    with pytest.raises((TypeError, ValueError), match=required):
        model.predict(X, n_iterations=n)
