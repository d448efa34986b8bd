"""Names as documents write them: what `import *` brings, and other names of kinds."""

import numpy as np
import pytest

from bevel import ObliqueBoostingRegressor, ObliqueForestClassifier, analysis
from bevel.parameters import (
    boosting_parameters,
    combined_parameters,
    forest_parameters,
    rotation_parameters,
)
from bevel.parameters.parameter import Parameter

X = np.random.default_rng(0).normal(size=(60, 3))
TABLES = (
    boosting_parameters,
    combined_parameters,
    forest_parameters,
    rotation_parameters,
)


@pytest.mark.parametrize("kind", ["gain", "impurity"])
def test_importances_of_impurity_have_three_names(kind):
    for model in (ObliqueForestClassifier(5, random_state=0), ObliqueBoostingRegressor(max_iter=5)):
        model.fit(X, X[:, 0] > 0)
        found, same = analysis.importance(model, kind), analysis.importance(model, "gini")
        assert str(found) == str(same)


def test_write_onnx_takes_an_estimator(tmp_path):
    onnx = pytest.importorskip("onnx")
    from bevel.export.onnx import write_onnx

    forest = ObliqueForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    write_onnx(forest, tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == forest.to_onnx()


def test_enumerations_of_accepted_values_have_no_empty_part():
    found = [
        parameter
        for module in TABLES
        for table in vars(module).values()
        if isinstance(table, dict)
        for parameter in table.values()
        if isinstance(parameter, Parameter)
    ]
    assert len(found) > 50
    for parameter in found:
        assert ",," not in parameter.required, parameter.name
        assert ", ," not in parameter.required, parameter.name
