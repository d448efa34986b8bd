"""A notebook as a user runs it: pictures are shown once, results as tables, progress in place."""

from __future__ import annotations

import base64
import struct

import matplotlib
import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
kernelspec = pytest.importorskip("ipykernel.kernelspec")

SETUP = """\
import numpy as np
import pandas as pd
from bevel import ObliqueForestClassifier, analysis, plots

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["mean concave points", "mean area", "age"])
y = np.where(X["mean concave points"] + X["mean area"] > 0, "malignant", "benign")
forest = ObliqueForestClassifier(20, random_state=0, n_jobs=1).fit(X, y)
"""
if matplotlib.__version_info__[:2] < (3, 9):  # it would show the first picture a cell late
    SETUP = "%matplotlib inline\n" + SETUP
PICTURES = {
    "bars": 'plots.importance_bars(analysis.importance(forest, "permutation", X, y))',
    "waterfall": "plots.shapley_waterfall(analysis.shapley_values(forest, X[:2], X[:20]))",
    "reliability": "plots.calibration(analysis.calibration(forest, X, y))",
    "map": "plots.proximity_map(analysis.principal_coordinates(forest, X, y), labels=y)",
    "tree": "plots.tree(forest.forest_.tree(0))",
    "several panels": "plots.proximity_pairs(analysis.principal_coordinates(forest, X, y))",
    "display": "plots.ImportanceDisplay.from_estimator(forest, X, y)",
}
TABLES = {
    "importance": ('analysis.importance(forest, "gini")', "mean concave points"),
    "calibration": ("analysis.calibration(forest, X, y)", "expected calibration error"),
    "forest": ("forest.forest_", "Flat forest of 20 trees, 2 classes"),
    "estimator": ("forest", "ObliqueForestClassifier"),
}
PROGRESS = "ObliqueForestClassifier(30, verbose=1, n_jobs=1).fit(X, y);"
STOPPED = """\
from bevel.training.progress import Progress

try:
    with Progress(0, 30, bar=True, callback=None) as report:
        report(2)
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Outputs of each cell, by its name, of one notebook that is run once."""
    folder = tmp_path_factory.mktemp("notebook")
    # A kernel of this Python, whatever kernels the user has.
    kernelspec.write_kernel_spec(folder / "kernels" / "bevel-test")
    cells = {"setup": SETUP, **PICTURES, **{name: code for name, (code, _) in TABLES.items()}}
    cells |= {"progress": PROGRESS, "stopped": STOPPED}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code in cells.values()]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.delenv("MPLBACKEND", raising=False)  # notebooks have one of their own
        client = nbclient.NotebookClient(
            notebook,
            timeout=600,
            kernel_name="bevel-test",
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
    return {name: cell.outputs for name, cell in zip(cells, notebook.cells, strict=True)}


# The client's sockets and event loops warn in ways that are not ours.
pytestmark = pytest.mark.filterwarnings("ignore")


def pngs(cell):
    found = [
        output["data"]["image/png"] for output in cell if "image/png" in output.get("data", {})
    ]
    return [base64.b64decode(each) for each in found]


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_shown_once_and_large_enough_to_read(outputs, name):
    (png,) = pngs(outputs[name])
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width >= 350
    assert height >= 180


@pytest.mark.parametrize("name", TABLES)
def test_result_is_shown_as_html(outputs, name):
    (output,) = outputs[name]
    assert TABLES[name][1] in output["data"]["text/html"]


def test_progress_is_one_output_that_ends_complete(outputs):
    shown = [output for output in outputs["progress"] if output["output_type"] == "display_data"]
    assert len(shown) == 1
    assert 'value="30" max="30"' in shown[0]["data"]["text/html"]
    assert not [output for output in outputs["progress"] if output["output_type"] == "stream"]


def test_interrupted_progress_says_so(outputs):
    (output,) = outputs["stopped"]
    assert output["data"]["text/plain"] == "growing trees: 2/30, stopped"
