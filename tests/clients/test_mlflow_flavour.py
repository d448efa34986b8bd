"""Models logged by `bevel.mlflow`, and loaded as estimators and by MLflow's own interface."""

import numpy as np
import pandas as pd
import pytest
from clients.test_clients import client
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bevel.mlflow
from bevel import (
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueIsolationForest,
)

pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("default")]

RNG = np.random.default_rng(0)
X = pd.DataFrame({"dose": RNG.normal(size=80), "site": RNG.choice(["a", "b"], 80)})
Y = np.where(X["dose"] > 0, "ill", "well")
MODELS = {
    "forest": ObliqueForestClassifier(10, random_state=0).fit(X, Y),
    "boosting": ObliqueBoostingRegressor(max_iter=5, random_state=0).fit(X, X["dose"]),
    "both": ObliqueClassifier(quality=1, random_state=0).fit(X, Y),
    "isolation": ObliqueIsolationForest(10, random_state=0).fit(X),
}


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    package = client("mlflow")
    package.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    return package


@pytest.mark.parametrize("name", MODELS)
def test_models_are_logged_with_a_signature_and_loaded(name, mlflow):
    model = MODELS[name]
    with mlflow.start_run():
        info = bevel.mlflow.log_model(model, "model", input_example=X[:5])
    again = bevel.mlflow.load_model(info.model_uri)
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert info.signature.inputs.input_names() == ["dose", "site"]
    served = client("mlflow.pyfunc").load_model(info.model_uri)
    np.testing.assert_array_equal(served.predict(X), model.predict(X))


@pytest.mark.usefixtures("mlflow")
def test_a_logged_model_holds_a_model_file_and_no_pickle(tmp_path):
    bevel.mlflow.save_model(MODELS["forest"], tmp_path / "saved", input_example=X[:5])
    names = {each.name for each in (tmp_path / "saved").iterdir()}
    assert {"MLmodel", "model.bevel", "requirements.txt", "python_env.yaml"} <= names
    assert not any(name.endswith((".pkl", ".pickle")) for name in names)


@pytest.mark.usefixtures("mlflow")
def test_mlflow_serves_probabilities_where_they_are_asked_for(tmp_path):
    model = MODELS["forest"]
    bevel.mlflow.save_model(model, tmp_path / "saved", input_example=X[:5])
    served = client("mlflow.pyfunc").load_model(str(tmp_path / "saved"))
    shares = served.predict(X, params={"predict_method": "predict_proba"})
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    with pytest.raises(Exception, match="must be one of predict, predict_proba"):
        served.predict(X, params={"predict_method": "fit"})


@pytest.mark.usefixtures("mlflow")
def test_pipelines_are_refused(tmp_path):
    pipeline = make_pipeline(StandardScaler(), MODELS["forest"])
    with pytest.raises(TypeError, match=r"Log pipelines and other estimators by mlflow\.sklearn"):
        bevel.mlflow.save_model(pipeline, tmp_path / "saved")
