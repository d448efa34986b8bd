"""MLflow flavour: models are logged as model files, which are safe to load, instead of pickles.

The name is that of a flavour: MLflow calls `save_model` and `load_model`, and `_load_pyfunc` for
its own interface. All functions need the package mlflow.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bevel.errors import wrong_type
from bevel.estimators._base import TreeEstimator
from bevel.estimators.combined import ObliqueCombination
from bevel.estimators.loading import load
from bevel.extras import import_optional

__all__ = ["load_model", "log_model", "save_model"]

FLAVOUR, FILE = "bevel", "model.bevel"
# Methods that `predict` of the MLflow model may call: params={"predict_method": ...}.
METHODS = ("predict", "predict_proba", "decision_function", "predict_interval")


def _mlflow(module: str, needed_by: str) -> Any:
    return import_optional(f"mlflow{module}", needed_by=needed_by, install="mlflow")


def save_model(
    model: Any,
    path: str | Path,
    mlflow_model: Any = None,
    *,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Save a fitted estimator as a folder that MLflow reads.

    Parameters
    ----------
    model : fitted estimator
        An estimator that has `save`. Pipelines are logged by `mlflow.sklearn`.
    path : str or Path
        Folder to write, which must not exist or be empty.
    mlflow_model : mlflow.models.Model, default=None
        Description of the model to add to; MLflow passes it.
    signature : mlflow.models.ModelSignature, default=None
        Names and types of inputs and outputs; None infers them from `input_example`.
    input_example : array or data frame, default=None
        Some rows.
    pip_requirements : list of str, default=None
        Packages that a server installs; None: this version of Bevel.
    metadata : dict, default=None
        Anything to keep beside the model.
    """
    models, pyfunc = _mlflow(".models", "save_model"), _mlflow(".pyfunc", "save_model")
    environment = _mlflow(".utils.environment", "save_model")
    if not isinstance(model, TreeEstimator | ObliqueCombination):
        remedy = "Log pipelines and other estimators by mlflow.sklearn."
        raise wrong_type("model", "a fitted estimator of Bevel", model, remedy)
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / FILE)
    described = mlflow_model or models.Model()
    if input_example is not None:
        if signature is None:
            predicted = np.asarray(model.predict(input_example))
            signature = models.infer_signature(input_example, predicted, _PARAMETERS)
        if hasattr(models.utils, "_save_example"):
            models.utils._save_example(described, input_example, str(folder))
    if signature is not None:
        described.signature = signature
    if metadata is not None:
        described.metadata = metadata
    python = environment._PythonEnv.current()
    python.to_yaml(str(folder / "python_env.yaml"))
    pyfunc.add_to_model(
        described,
        loader_module="bevel.mlflow",
        data=FILE,
        python_env="python_env.yaml",
    )
    described.add_flavor(FLAVOUR, bevel_version=version("bevel"), data=FILE)
    wanted = pip_requirements or [f"bevel=={version('bevel')}"]
    (folder / "requirements.txt").write_text("\n".join(wanted) + "\n", encoding="utf-8")
    described.save(str(folder / "MLmodel"))


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a fitted estimator to the active run of MLflow.

    Parameters
    ----------
    model : fitted estimator
        An estimator that has `save`.
    name : str, default="model"
        Name of the logged model.
    **options
        Parameters of `save_model`, such as `input_example`, and of `mlflow.models.Model.log`, such
        as `registered_model_name`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        What MLflow knows of it; `model_uri` loads it again.

    Examples
    --------
    >>> import mlflow, bevel.mlflow  # doctest: +SKIP
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     info = bevel.mlflow.log_model(forest, "forest", input_example=X[:5])
    >>> bevel.mlflow.load_model(info.model_uri).predict(X)  # doctest: +SKIP
    """
    flavour: Any = import_optional("bevel.mlflow", needed_by="log_model", install="bevel")
    return _mlflow(".models", "log_model").Model.log(
        artifact_path=None, name=name, flavor=flavour, model=model, **options
    )


def load_model(model_uri: str, *, mmap: bool = False) -> Any:
    """Load an estimator that `log_model` or `save_model` wrote.

    Parameters
    ----------
    model_uri : str
        Address of the model, such as "models:/name/1", "runs:/id/model", or a folder.
    mmap : bool, default=False
        Whether to map the file; see `bevel.load`.

    Returns
    -------
    estimator
        The estimator.
    """
    download = _mlflow(".artifacts", "load_model").download_artifacts
    return load(Path(download(artifact_uri=str(model_uri))) / FILE, mmap=mmap)


_PARAMETERS = {"predict_method": "predict"}


class _Served:
    """A model as MLflow's servers and `mlflow.pyfunc.load_model` call it."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def get_raw_model(self) -> Any:
        """The estimator."""
        return self._estimator

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Predictions of rows, by the method that `params` names."""
        method = (params or {}).get("predict_method", "predict")
        if method not in METHODS or not hasattr(self._estimator, method):
            have = [name for name in METHODS if hasattr(self._estimator, name)]
            raise ValueError(
                f"predict_method must be one of {', '.join(have)}; got {method!r}. Leave it out "
                "for predict."
            )
        return getattr(self._estimator, method)(model_input)


def _load_pyfunc(path: str) -> _Served:
    """Load a model for `mlflow.pyfunc`, which calls this function."""
    return _Served(load(path))
