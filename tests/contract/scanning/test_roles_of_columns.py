"""Columns of scanned files: none is both a target or weight and a feature, and no index is one."""

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueBoostingRegressor, ObliqueForestRegressor, scan

MODELS = [
    ObliqueForestRegressor(n_estimators=3, random_state=0),
    ObliqueBoostingRegressor(max_iter=3, early_stopping=False, random_state=0),
]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    frame["y"] = frame.a + rng.normal(size=200)
    frame["w"] = rng.uniform(size=200)
    return frame.sort_values("y")  # whose index then is stored


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
        return path
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(frame)
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    return path


def test_target_or_weight_among_the_features_is_refused(frame, tmp_path):
    path = write(frame, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"columns must be features, and not .* target; got 'y'"):
        scan(path, target="y", columns=["a", "y"])
    with pytest.raises(ValueError, match=r"columns must be features, and not .* weight; got 'w'"):
        scan(path, target="y", weight="w", columns=["w", "a"])
    with pytest.raises(ValueError, match="weight must be another column than the target; got 'y'"):
        scan(path, target="y", weight="y")
    with pytest.raises(ValueError, match="columns must be different columns"):
        scan(path, target="y", columns=["a", "a"])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_index_of_a_data_frame_is_no_feature(model, name, frame, tmp_path):
    path = write(frame, tmp_path / name)
    assert model.fit(scan(path, target="y")).feature_names_in_.tolist() == ["a", "b", "w"]
    assert model.fit(scan(path, target="y", weight="w")).feature_names_in_.tolist() == ["a", "b"]
    rows = frame.rename_axis("patient")
    path = write(rows, tmp_path / name)
    assert model.fit(scan(path, target="y")).feature_names_in_.tolist() == ["a", "b", "w"]
    # A named one may be wanted.
    chosen = scan(path, target="y", columns=["patient", "a"])
    assert model.fit(chosen).feature_names_in_.tolist() == ["patient", "a"]
    path = write(rows.reset_index(drop=True), tmp_path / name)
    assert model.fit(scan(path, target="y")).feature_names_in_.tolist() == ["a", "b", "w"]


@pytest.mark.parametrize("model", MODELS)
def test_index_may_be_the_target(model, frame, tmp_path):
    path = write(frame.set_index("y"), tmp_path / "rows.parquet")
    assert model.fit(scan(path, target="y")).feature_names_in_.tolist() == ["a", "b", "w"]


def test_name_of_a_column_as_the_target_of_a_data_frame_is_refused(frame):
    with pytest.raises(TypeError, match="target must be an array with a value for each row"):
        scan(frame, target="y")
    with pytest.raises(TypeError, match="weight must be an array with a value for each row"):
        scan(frame[["a"]], target=frame.y, weight="w")
