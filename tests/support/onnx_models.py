"""Runs exported models in onnxruntime, on the inputs that they declare."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from bevel.data.tables import is_missing
from bevel.export.onnx import to_onnx

NUMPY_TYPES = {
    onnx.TensorProto.FLOAT: np.float32,
    onnx.TensorProto.DOUBLE: np.float64,
    onnx.TensorProto.INT64: np.int64,
    onnx.TensorProto.STRING: object,
}


def answers(estimator: Any, X: Any, **options: Any) -> np.ndarray:
    """Probabilities of a classifier or predictions of a regressor by its model."""
    return Exported(estimator, **options).answers(X)


class Exported:
    """An estimator's model, checked, in a session."""

    def __init__(self, estimator: Any, **options: Any) -> None:
        self.estimator = estimator
        self.model = to_onnx(estimator.fitted_forest_, **options)
        onnx.checker.check_model(self.model, full_check=True)
        settings = ort.SessionOptions()
        settings.intra_op_num_threads = 1
        serialized = self.model.SerializeToString()
        self.session = ort.InferenceSession(serialized, settings, ["CPUExecutionProvider"])

    def run(self, X: Any) -> dict[str, np.ndarray]:
        """All outputs; X is an array or, for columns of their own, a data frame."""
        names = [output.name for output in self.model.graph.output]
        return dict(zip(names, self.session.run(None, feeds(self.model, X)), strict=True))

    def answers(self, X: Any) -> np.ndarray:
        """Probabilities or predictions; labels must be those of `predict`."""
        outputs = self.run(X)
        if "prediction" in outputs:
            return outputs["prediction"]
        np.testing.assert_array_equal(outputs["label"], self.estimator.predict(X))
        return outputs["probabilities"]


def feeds(model: onnx.ModelProto, X: Any) -> dict[str, np.ndarray]:
    """Columns in the types of the inputs; missing text becomes empty."""
    kinds = {t.name: NUMPY_TYPES[t.type.tensor_type.elem_type] for t in model.graph.input}
    if isinstance(X, np.ndarray):
        ((name, kind),) = kinds.items()
        return {name: X.astype(kind)}
    columns = (X.iloc[:, place] for place in range(X.shape[1]))
    return {n: _column(c, kind) for (n, kind), c in zip(kinds.items(), columns, strict=True)}


def _column(column: Any, kind: type) -> np.ndarray:
    if kind is object:
        texts = ["" if is_missing(value) else value for value in column]
        return np.array(texts, dtype=object)[:, None]
    return column.to_numpy(kind)[:, None]
