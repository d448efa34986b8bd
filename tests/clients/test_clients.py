"""Packages that use estimators through scikit-learn's interface, with forests, boosting, survival
and isolation. Run by `nox -s clients`; a package that is not installed is skipped.
"""

import importlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
)
from bevel.datasets import weibull

# Warnings of other packages are theirs.
pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("default")]

X, CLASSES = make_classification(160, 5, n_informative=4, n_redundant=0, random_state=0)
LABELS = np.array(["no", "yes"])[CLASSES]
_, NUMBERS = make_regression(160, 5, random_state=0)
NUMBERS = X @ np.arange(1.0, 6.0) + NUMBERS / 100.0

CLASSIFIERS = {
    "forest": ObliqueForestClassifier(20, random_state=0),
    "boosting": ObliqueBoostingClassifier(max_iter=20, random_state=0),
}
REGRESSORS = {
    "forest": ObliqueForestRegressor(20, random_state=0),
    "boosting": ObliqueBoostingRegressor(max_iter=20, random_state=0),
}
CASES = {
    **{f"{name} classifier": (model, LABELS) for name, model in CLASSIFIERS.items()},
    **{f"{name} regressor": (model, NUMBERS) for name, model in REGRESSORS.items()},
    "isolation": (ObliqueIsolationForest(20, random_state=0), None),
}
SURVIVAL_X, SURVIVAL_Y = weibull(150, random_state=0)


def client(name):
    """A package, imported; the test is skipped without it."""
    pytest.importorskip(name.split(".")[0], reason=f"{name} is not installed; nox -s clients")
    return importlib.import_module(name)


@pytest.fixture(params=CASES)
def fitted(request):
    """A fitted model of each kind; the rows are X."""
    model, y = CASES[request.param]
    return clone(model).fit(X, y)


@pytest.fixture(params=[*CASES, "survival"])
def any_fitted(request):
    """The same, with survival; and rows of it."""
    if request.param == "survival":
        model = ObliqueSurvivalForest(20, random_state=0).fit(SURVIVAL_X, SURVIVAL_Y)
        return model, SURVIVAL_X
    model, y = CASES[request.param]
    return clone(model).fit(X, y), X


# shap


@pytest.mark.parametrize("algorithm", ["exact", "permutation"])
@pytest.mark.parametrize("name", ["forest regressor", "boosting regressor", "survival"])
def test_shap_explains_predictions(name, algorithm):
    shap = client("shap")
    if name == "survival":
        rows = SURVIVAL_X[:, :5] if SURVIVAL_X.shape[1] > 5 else SURVIVAL_X
        model = ObliqueSurvivalForest(20, random_state=0).fit(rows, SURVIVAL_Y)
    else:
        rows, model = X, clone(CASES[name][0]).fit(X, NUMBERS)
    explainer = shap.Explainer(model.predict, rows[:20], algorithm=algorithm, seed=0)
    values = explainer(rows[:4])
    sums = values.base_values + values.values.sum(axis=1)
    np.testing.assert_allclose(sums, model.predict(rows[:4]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_shap_explains_probabilities(name):
    shap = client("shap")
    model = clone(CLASSIFIERS[name]).fit(X, LABELS)
    explainer = shap.KernelExplainer(model.predict_proba, X[:10], silent=True)
    values = explainer.shap_values(X[:3], silent=True)
    sums = explainer.expected_value + np.asarray(values).sum(axis=1)
    np.testing.assert_allclose(sums, model.predict_proba(X[:3]), atol=1e-6)


def test_shap_explains_scores_of_an_isolation_forest():
    shap = client("shap")
    model = ObliqueIsolationForest(20, random_state=0).fit(X)
    explainer = shap.Explainer(model.score_samples, X[:20], algorithm="exact")
    values = explainer(X[:3])
    sums = values.base_values + values.values.sum(axis=1)
    np.testing.assert_allclose(sums, model.score_samples(X[:3]), atol=1e-9)


# MAPIE


@pytest.mark.parametrize("name", REGRESSORS)
def test_mapie_makes_intervals_of_split_rows(name):
    regression = client("mapie.regression")
    model = clone(REGRESSORS[name]).fit(X[:80], NUMBERS[:80])
    conformal = regression.SplitConformalRegressor(model, confidence_level=0.9, prefit=True)
    conformal.conformalize(X[80:120], NUMBERS[80:120])
    predicted, intervals = conformal.predict_interval(X[120:])
    np.testing.assert_array_equal(predicted, model.predict(X[120:]))
    inside = (intervals[:, 0, 0] <= NUMBERS[120:]) & (NUMBERS[120:] <= intervals[:, 1, 0])
    assert inside.mean() > 0.7


@pytest.mark.parametrize("name", REGRESSORS)
def test_mapie_makes_intervals_by_cross_validation(name):
    regression = client("mapie.regression")
    conformal = regression.CrossConformalRegressor(
        clone(REGRESSORS[name]), confidence_level=0.9, cv=3, random_state=0
    )
    conformal.fit_conformalize(X[:120], NUMBERS[:120])
    _, intervals = conformal.predict_interval(X[120:])
    inside = (intervals[:, 0, 0] <= NUMBERS[120:]) & (NUMBERS[120:] <= intervals[:, 1, 0])
    assert inside.mean() > 0.7


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_mapie_makes_sets_of_classes(name):
    classification = client("mapie.classification")
    model = clone(CLASSIFIERS[name]).fit(X[:80], LABELS[:80])
    conformal = classification.SplitConformalClassifier(model, confidence_level=0.9, prefit=True)
    conformal.conformalize(X[80:120], LABELS[80:120])
    _, sets = conformal.predict_set(X[120:])
    place = np.searchsorted(model.classes_, LABELS[120:])
    assert sets[np.arange(40), place, 0].mean() > 0.7


# imbalanced-learn


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_imbalanced_learn_samples_before_the_fit(name):
    over_sampling, pipeline = client("imblearn.over_sampling"), client("imblearn.pipeline")
    some = np.concatenate((np.flatnonzero(CLASSES == 0), np.flatnonzero(CLASSES == 1)[:15]))
    steps = over_sampling.SMOTE(random_state=0), clone(CLASSIFIERS[name])
    model = pipeline.make_pipeline(*steps).fit(X[some], LABELS[some])
    assert model.predict_proba(X).shape == (160, 2)
    assert model.score(X, LABELS) > 0.7


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_imbalanced_learn_bags_the_estimators(name):
    ensemble = client("imblearn.ensemble")
    bagged = ensemble.BalancedBaggingClassifier(clone(CLASSIFIERS[name]), 3, random_state=0)
    assert bagged.fit(X, LABELS).score(X, LABELS) > 0.7


# Optuna


@pytest.mark.parametrize(("models", "y"), [(CLASSIFIERS, LABELS), (REGRESSORS, NUMBERS)])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_optuna_searches_parameters(models, y, name):
    from sklearn.model_selection import cross_val_score

    optuna = client("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        parameters = {"min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 30)}
        if name == "boosting":
            parameters["learning_rate"] = trial.suggest_float("learning_rate", 0.01, 0.3, log=True)
        model = clone(models[name]).set_params(**parameters)
        return cross_val_score(model, X, y, cv=3).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=4, catch=())
    best = clone(models[name]).set_params(**study.best_params)
    assert cross_val_score(best, X, y, cv=3).mean() == study.best_value


# mlflow


def test_mlflow_logs_and_loads(any_fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    client("mlflow")
    flavour, pyfunc = client("mlflow.sklearn"), client("mlflow.pyfunc")
    model, rows = any_fitted
    for form in ("cloudpickle", "pickle"):
        folder = str(tmp_path / form)
        flavour.save_model(model, folder, serialization_format=form, pip_requirements=["bevel"])
        again = flavour.load_model(folder)
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        served = pyfunc.load_model(folder)
        np.testing.assert_array_equal(served.predict(rows), model.predict(rows))


def test_mlflow_writes_skops_if_the_types_are_trusted(any_fitted, tmp_path, monkeypatch):
    """Its default format."""
    monkeypatch.chdir(tmp_path)
    flavour, files = client("mlflow.sklearn"), client("skops.io")
    model, rows = any_fitted
    trusted = files.get_untrusted_types(data=files.dumps(model))
    assert all(name.startswith("bevel.") for name in trusted)
    flavour.save_model(model, "model", skops_trusted_types=trusted, pip_requirements=["bevel"])
    np.testing.assert_array_equal(flavour.load_model("model").predict(rows), model.predict(rows))


def test_mlflow_tracks_a_fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mlflow = client("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.sklearn.autolog(log_models=False, silent=True)
    try:
        with mlflow.start_run() as run:
            model = make_pipeline(StandardScaler(), clone(CLASSIFIERS["forest"])).fit(X, LABELS)
        data = mlflow.get_run(run.info.run_id).data
    finally:
        mlflow.sklearn.autolog(disable=True)
    assert data.metrics["training_score"] == pytest.approx(model.score(X, LABELS))
    assert data.params["obliqueforestclassifier__n_estimators"] == "20"


# skops


def test_skops_writes_and_reads(any_fitted, tmp_path):
    files = client("skops.io")
    model, rows = any_fitted
    files.dump(model, tmp_path / "model.skops")
    unknown = files.get_untrusted_types(file=tmp_path / "model.skops")
    again = files.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


def test_damaged_skops_files_raise():
    files = client("skops.io")
    model = ObliqueForestClassifier(5, random_state=0).fit(X, LABELS)
    forest = model.fitted_forest_.forest
    damaged = forest.right.copy()
    damaged[0] = 2**30
    object.__setattr__(forest, "right", damaged)
    text = files.dumps(model)
    with pytest.raises(ValueError, match="must be sound; got a damaged one"):
        files.loads(text, trusted=files.get_untrusted_types(data=text))


# skforecast and sktime


@pytest.fixture
def series():
    """A series with a trend and a season, monthly."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed; nox -s clients")
    months = np.arange(96)
    rng = np.random.default_rng(0)
    values = 10.0 + 5.0 * np.sin(months * np.pi / 6.0) + rng.normal(scale=0.3, size=96)
    index = pandas.date_range("2015-01-01", periods=96, freq="MS")
    return pandas.Series(values, index=index, name="sales")


@pytest.mark.parametrize("name", REGRESSORS)
def test_skforecast_forecasts(name, series):
    recursive = client("skforecast.recursive")
    forecaster = recursive.ForecasterRecursive(estimator=clone(REGRESSORS[name]), lags=12)
    forecaster.fit(series[:84], store_in_sample_residuals=True)
    predicted = forecaster.predict(steps=12)
    assert np.abs(predicted.to_numpy() - series[84:].to_numpy()).mean() < 2.5
    intervals = forecaster.predict_interval(steps=12, interval=[0.1, 0.9], n_boot=20)
    assert (intervals["lower_bound"] <= intervals["upper_bound"]).all()


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("strategy", ["recursive", "direct"])
def test_sktime_forecasts(name, strategy, series):
    compose = client("sktime.forecasting.compose")
    model = clone(REGRESSORS[name])
    forecaster = compose.make_reduction(model, window_length=12, strategy=strategy)
    forecaster.fit(series[:84], fh=np.arange(1, 13))
    predicted = forecaster.predict()
    assert np.abs(predicted.to_numpy() - series[84:].to_numpy()).mean() < 2.5


# AutoGluon


@pytest.mark.parametrize("problem_type", ["binary", "regression"])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_autogluon_fits_a_model_of_others(name, problem_type, tmp_path):
    """Its interface for them: a class with `_fit`, whose models are scored, saved and loaded."""
    client("autogluon.core.models")
    Wrapped, pandas = importlib.import_module("clients.autogluon_model").Wrapped, client("pandas")
    estimator = (CLASSIFIERS if problem_type == "binary" else REGRESSORS)[name]
    y = pandas.Series(CLASSES if problem_type == "binary" else NUMBERS)
    table = pandas.DataFrame(X, columns=list("abcde"))
    table["f"] = pandas.Categorical(np.where(X[:, 0] > 0, "up", "down"))
    given = {"kind": type(estimator), **estimator.get_params(), "min_samples_leaf": 3}
    wrapped = Wrapped(
        path=str(tmp_path), name=name, problem_type=problem_type, hyperparameters=given
    )
    wrapped.fit(X=table, y=y)
    assert wrapped.model.min_samples_leaf == 3
    predicted = wrapped.predict(table)
    np.testing.assert_allclose(predicted, wrapped.model.predict(table), rtol=1e-6)  # float32
    # Accuracy, or the negative root of the mean squared error.
    assert wrapped.score(table, y) > (0.7 if problem_type == "binary" else -0.8 * NUMBERS.std())
    wrapped.save()
    again = Wrapped.load(str(tmp_path / name))
    np.testing.assert_array_equal(again.predict(table), predicted)


# FastAPI


def test_fastapi_predicts_in_threads(any_fitted):
    """Endpoints that are plain functions run in threads; all share one model."""
    fastapi, testing = client("fastapi"), client("fastapi.testclient")
    model, rows = any_fitted
    app = fastapi.FastAPI()

    @app.post("/predict")
    def predict(rows: list[list[float]]) -> list:
        return model.predict(np.array(rows)).tolist()

    blocks = [rows[first : first + 5].tolist() for first in range(0, 100, 5)]
    expected = [model.predict(np.array(block)).tolist() for block in blocks]
    with testing.TestClient(app) as http, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda block: http.post("/predict", json=block), blocks * 3))
    assert all(answer.status_code == 200 for answer in answers)
    assert [answer.json() for answer in answers] == expected * 3


# Packages of the guide

PAGE = Path(__file__).parents[2] / "docs/guide/other_packages.md"
PACKAGES = ("mlflow", "skops", "shap", "optuna", "sktime", "skforecast", "mlforecast")


def test_the_code_of_the_page_runs_and_forecasts_better_than_the_last_year(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in PACKAGES:
        client(name)
    known = {}
    for code in re.findall(r"```py\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(code, known)
    for name in ("sktime", "skforecast", "mlforecast"):
        assert known[f"{name}_error"] < known["same_month"], name
    print({name: known[name] for name in known if name.endswith("_error")}, known["same_month"])
