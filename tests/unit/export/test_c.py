"""`bevel.export.c`: how things are spelt in C, and what cannot be exported."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from support.fitted_forests import fitted_forest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.data.encoding import Encoding
from bevel.data.scaling import IdentityScaler
from bevel.export.c import write_c
from bevel.export.c.literals import code, comment_text, narrow, string, table
from bevel.export.c.trees import bitsets, leaf_predictions, splits, steps


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = X[:, 0] + X[:, 1] + rng.normal(size=2000) > 0
    return ObliqueForestClassifier(20, projection="sparse", random_state=0, n_jobs=1).fit(X, y)


def numbers_in(pieces):
    text = "".join(pieces).partition("{")[2].partition("}")[0]
    return [entry.strip() for entry in text.split(",") if entry.strip()]


@pytest.mark.parametrize(
    "name", ["", "1st", "my model", "é", "a-b", "_x", "x;", "x\n", "int main("]
)
def test_name_that_is_no_identifier_is_refused(fitted, name):
    with pytest.raises(ValueError, match=r"name must be a C identifier.*got .*write for example"):
        fitted.to_c(name)


def test_name_that_is_no_text_is_refused(fitted):
    with pytest.raises(TypeError, match="name must be a C identifier"):
        fitted.to_c(3)


def test_forest_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        ObliqueForestRegressor().to_c()


def test_scaler_that_is_unknown_is_refused(forest):
    encoding = Encoding(SimpleNamespace(), {}, np.zeros(3, np.int32), forest.medians)
    stranger = fitted_forest(forest, encoding)
    with pytest.raises(TypeError, match="scaler"):
        list(write_c(stranger, "model"))
    known = fitted_forest(forest, replace(encoding, scaler=IdentityScaler()))
    assert "model_predict" in "".join(write_c(known, "model"))


def test_same_forest_gives_the_same_file(fitted):
    assert fitted.to_c() == fitted.to_c()


def test_file_is_small(fitted):
    # 16 bytes a node, and 5 KB of code; what a table of text costs more would show here.
    assert len(fitted.to_c()) < 18 * fitted.forest_.n_nodes + 8000


def test_comment_says_what_is_in_the_file(fitted):
    heading = fitted.to_c("waves").partition("*/")[0]
    for fact in ("waves_predict_proba", "20 trees", f"{fitted.forest_.n_nodes} nodes", "0 to 7"):
        assert fact in heading
    assert '1  "True"' in heading


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_exact(dtype):
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    edges = [0, 1, -1, 0.5, 99999, 1e5, info.max, info.min, info.tiny, info.smallest_subnormal]
    values = np.concatenate([edges, rng.normal(size=500) * 10.0 ** rng.integers(-30, 30, 500)])
    values = values.astype(dtype)
    texts = numbers_in(table("x", values))
    suffixed = [text for text in texts if "x" in text]
    assert all(text.endswith("f") == (dtype is np.float32) for text in suffixed)
    read = [float.fromhex(t.removesuffix("f")) if "x" in t else float(t) for t in texts]
    np.testing.assert_array_equal(np.array(read, dtype), values)


def test_infinities_are_quotients_that_c_computes_exactly():
    texts = numbers_in(table("x", np.array([np.inf, -np.inf, np.nan], np.float32)))
    assert texts == ["(1.0f / 0.0f)", "(-1.0f / 0.0f)", "(0.0f / 0.0f)"]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 255], "u1"),
        ([0, 256], "u2"),
        ([-1, 127], "i1"),
        ([-1, 128], "i2"),
        ([-32769, 0], "i4"),
        ([2**32 - 1], "u4"),
        ([2**40], "u8"),
        ([], "u1"),
    ],
)
def test_whole_numbers_take_the_narrowest_type(values, dtype):
    narrowed = narrow(np.array(values, np.int64))
    assert narrowed.dtype == np.dtype(dtype)
    assert narrowed.tolist() == values


def test_prefix_is_replaced_once_even_where_the_name_holds_it():
    assert code("model_x MODEL_N my_model_x", "aMODEL_model") == (
        "aMODEL_model_x AMODEL_MODEL_N my_model_x"
    )


def test_strings_are_printable_ascii():
    assert string('a"\\?\n\té\x7f1') == r'"a\"\\\?\n\011\303\251\1771"'
    assert string("cut\0off") == '"cut"'


def test_comment_text_cannot_end_the_comment():
    assert comment_text("*/ /* ??/ \u202e") == r'"* / / * ? ?/ \u202e"'
    assert len(comment_text("x" * 1000)) < 70


def test_steps_of_a_forest_are_those_of_a_hand_computed_example(forest):
    leaves = leaf_predictions(forest, hard=False)
    walk = steps(forest, leaves.of_node)
    # Splits are nodes 0, 2 and 5; the leaf that is half and half is the first of its kind.
    assert walk.root.tolist() == [1, 3]
    assert walk.following.tolist() == [0, 1, -1, -2, -1, 0]
    assert leaves.mixed.index.tolist() == [0, 1]
    assert leaves.mixed.weight.tolist() == [0.5, 0.5]
    assert splits(forest).count.tolist() == [2, 1, 1]
    assert bitsets(forest).sets.tolist() == [0b1001]


def test_leaves_with_equal_shares_are_written_once(forest):
    twice = replace(
        forest,
        entry_offset=np.array([0, 2, 4, 5, 6, 8, 9, 10, 11], np.int64),
        entry_index=np.array([0, 1, 0, 1, 2, 1, 0, 1, 4, 1, 0], np.int32),
        entry_weight=np.array([1, -2, 0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1, 1], np.float32),
    )
    leaves = leaf_predictions(twice, hard=False)
    assert leaves.mixed.count.tolist() == [2]
    assert leaves.of_node[[1, 3, 4]].tolist() == [2, 1, 2]


def test_tied_votes_go_to_the_first_class(forest):
    assert leaf_predictions(forest, hard=True).of_node[4] == 0
