"""Names of families and baselines of boosting in a file: what is not sound is refused."""

from __future__ import annotations

import numpy as np
import pytest
from support.model_files import estimator_of, file_of
from support.mutations import seal, split

from bevel import ModelFileError, ObliqueBoostingRegressor, ObliqueForestClassifier


@pytest.fixture(scope="module")
def forest_of_families():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    forest = ObliqueForestClassifier(20, random_state=0, n_jobs=1)
    return file_of(forest.fit(X, X[:, 0] + X[:, 1] > 0))


@pytest.mark.parametrize("text", ["\x1b[31m", "a\nb", "\u202e", "\x00"])
@pytest.mark.parametrize("place", ["names", "left_out"])
def test_names_of_families_that_a_terminal_would_obey_are_refused(forest_of_families, text, place):
    header, data = split(forest_of_families)
    if place == "names":
        header["families"]["names"][0] = text
    else:
        header["families"]["left_out"] = [["lda", text]]
    with pytest.raises(ModelFileError, match="A name or reason of families must be plain text"):
        estimator_of(seal(header, bytes(data)))


def test_names_of_families_are_no_markup_in_notebooks(forest_of_families):
    header, data = split(forest_of_families)
    header["families"]["names"][0] = "<script>"
    header["families"]["left_out"] = [["<i>", "<b>"]]
    page = estimator_of(seal(header, bytes(data))).families_._repr_html_()
    assert "&lt;script&gt;" in page
    assert not any(tag in page for tag in ("<script>", "<i>", "<b>"))


@pytest.mark.parametrize("baseline", [1e66, -1e300, 1.7e308])
def test_baselines_beyond_all_leaf_values_are_refused(baseline):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = ObliqueBoostingRegressor(max_iter=2, loss="poisson").fit(X, X[:, 0] ** 2)
    header, data = split(file_of(model))
    header["additive"]["baseline"] = [1e65]
    assert np.isfinite(estimator_of(seal(header, bytes(data))).predict(X)).all()
    header["additive"]["baseline"] = [baseline]
    with pytest.raises(ModelFileError, match="baseline must be at most 1e"):
        estimator_of(seal(header, bytes(data)))


@pytest.mark.parametrize("size", [1, 0, -5, 2**31, 2.0, "12", None, True])
def test_sizes_of_nodes_that_cannot_be_are_refused(forest_of_families, size):
    header, data = split(forest_of_families)
    header["families"]["min_samples_split"] = size
    with pytest.raises(ModelFileError, match=r"families\.min_samples_split"):
        estimator_of(seal(header, bytes(data)))
