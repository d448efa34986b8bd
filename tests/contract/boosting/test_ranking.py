"""Rankings: forms of queries, early stopping, files and exports, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import ObliqueBoostingRanker, analysis, workflow
from bevel.datasets import search_results

SETTINGS: dict[str, Any] = {"max_iter": 6, "early_stopping": False, "random_state": 0}


def _problem(n_queries: int = 30, seed: int = 0) -> tuple[Any, Any, Any]:
    return search_results(n_queries, 16, rows_per_query=20, random_state=seed)


def _fitted(**others: Any) -> tuple[ObliqueBoostingRanker, Any]:
    X, y, query = _problem()
    return ObliqueBoostingRanker(**{**SETTINGS, **others}).fit(X, y, groups=query), X


def test_queries_by_labels_sizes_and_shuffled_rows_give_one_ranking() -> None:
    X, y, query = _problem()
    by_label = ObliqueBoostingRanker(**SETTINGS).fit(X, y, groups=[f"q{each}" for each in query])
    by_size = ObliqueBoostingRanker(**SETTINGS).fit(X, y, group=np.bincount(query))
    by_qid = ObliqueBoostingRanker(**SETTINGS).fit(X, y, qid=query)
    for other in (by_size, by_qid):
        np.testing.assert_array_equal(by_label.predict(X), other.predict(X))
    sizes = np.bincount(query)
    assert by_label.score(X, y, groups=query) == by_label.score(X, y, group=sizes)


def test_ranking_is_the_same_for_all_threads_and_in_a_file(tmp_path: Path) -> None:
    one, X = _fitted(n_jobs=1)
    two, _ = _fitted(n_jobs=3)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    one.save(tmp_path / "ranking.bevel")
    loaded = bevel.load(tmp_path / "ranking.bevel")
    np.testing.assert_array_equal(loaded.predict(X), one.predict(X))
    assert loaded.evals_result_ == one.evals_result_


def test_iterations_added_later_are_those_of_one_fit() -> None:
    X, y, query = _problem()
    whole = ObliqueBoostingRanker(**SETTINGS).fit(X, y, groups=query)
    grown = ObliqueBoostingRanker(**{**SETTINGS, "max_iter": 3}, warm_start=True)
    grown.fit(X, y, groups=query).set_params(max_iter=6).fit(X, y, groups=query)
    np.testing.assert_allclose(grown.predict(X), whole.predict(X), rtol=1e-12)


def test_early_stopping_holds_out_whole_queries_and_keeps_the_best_iteration() -> None:
    X, y, query = _problem(60)
    shuffled = np.random.default_rng(1).permutation(len(y))
    model = ObliqueBoostingRanker(max_iter=40, early_stopping=True, refit=False, random_state=0)
    model.fit(X[shuffled], y[shuffled], groups=query[shuffled])
    best = model.validation_score_.max()
    assert model.best_iteration_ == model.n_iter_ == 1 + int(model.validation_score_.argmax())
    assert 0.0 < best <= 1.0
    assert list(model.evals_result_["validation"]) == ["ndcg@10"]


def test_validation_queries_give_their_ndcg() -> None:
    X, y, query = _problem(60)
    new = query >= 40
    train = (X[~new], y[~new])
    settings = {**SETTINGS, "early_stopping": True}
    model = ObliqueBoostingRanker(**settings).fit(
        *train, groups=query[~new], X_val=X[new], y_val=y[new], groups_val=query[new]
    )
    same = ObliqueBoostingRanker(**settings).fit(
        *train,
        groups=query[~new],
        eval_set=[(X[new], y[new])],
        eval_group=[np.bincount(query[new] - 40)],
    )
    np.testing.assert_array_equal(model.validation_score_, same.validation_score_)
    expected = model.score(X[new], y[new], groups=query[new])
    assert model.validation_score_[model.n_iter_ - 1] == pytest.approx(expected, rel=1e-12)


def test_ranking_in_onnx_gives_the_same_scores() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    model, X = _fitted()
    session = onnxruntime.InferenceSession(model.to_onnx(dtype="float64").SerializeToString())
    (found,) = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_allclose(found.ravel(), model.predict(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "one of groups, group and qid; got none of them"),
        ({"groups": "query", "qid": "query"}, "got groups and qid"),
        ({"groups": "rows"}, "a query for each of the"),
        ({"groups": "one"}, "groups must be two or more"),
        ({"group": [3, 4]}, "group must add up to the"),
        ({"group": [0.5]}, "group must be a list of whole numbers above 0"),
        ({"groups": "query", "groups_val": [1]}, "groups_val must be None without validation"),
        ({"groups": "query", "X_val": "X", "y_val": "y"}, "groups_val and eval_group; got neither"),
    ],
)
def test_queries_that_do_not_fit_are_refused(given: dict[str, Any], message: str) -> None:
    X, y, query = _problem()
    values = {
        "query": query,
        "rows": np.arange(len(y)),
        "one": np.zeros(len(y), int),
        "X": X,
        "y": y,
    }
    arguments = {
        name: values.get(value, value) if isinstance(value, str) else value
        for name, value in given.items()
    }
    with pytest.raises((TypeError, ValueError), match=message):
        ObliqueBoostingRanker(**SETTINGS).fit(X, y, **arguments)


def test_one_query_validates_and_is_scored() -> None:
    X, y, query = _problem(40)
    new = query == 39
    same = np.full(np.count_nonzero(new), "a query")
    train = {"groups": query[~new], "X_val": X[new], "y_val": y[new], "groups_val": same}
    settings = {**SETTINGS, "early_stopping": True}
    model = ObliqueBoostingRanker(**settings).fit(X[~new], y[~new], **train)
    expected = model.score(X[new], y[new], groups=same)
    assert model.validation_score_[model.n_iter_ - 1] == pytest.approx(expected, rel=1e-12)


def test_queries_to_score_are_read_as_those_of_the_fit_are() -> None:
    X, y, query = _problem()
    model = ObliqueBoostingRanker(**SETTINGS).fit(X, y, groups=query)
    mixed = [f"q{each}" if each % 2 else int(each) for each in query]
    assert model.score(X, y, groups=mixed) == model.score(X, y, groups=query)
    with pytest.raises(ValueError, match="groups must have no missing values; got 1"):
        model.score(X, y, groups=[None, *query[1:]])


@pytest.mark.parametrize("relevance", [-1.0, 31.0])
def test_relevance_out_of_range_is_refused(relevance: float) -> None:
    X, y, query = _problem()
    y = y.astype(float)
    y[7] = relevance
    with pytest.raises(ValueError, match=r"relevances from 0 to 30; got .* \(row index 7\)"):
        ObliqueBoostingRanker(**SETTINGS).fit(X, y, groups=query)


def test_a_query_without_relevant_rows_alone_gives_equal_scores() -> None:
    X, _, query = _problem()
    model = ObliqueBoostingRanker(**SETTINGS).fit(X, np.zeros(len(X)), groups=query)
    np.testing.assert_array_equal(model.predict(X), 0.0)


def test_rankings_of_frames_with_labels_are_explained_by_shapley_values() -> None:
    X, y, query = _problem()
    frame = pd.DataFrame(X, columns=[f"x{each}" for each in range(16)])
    frame["kind"] = np.where(y > 1, "good", "other")
    model = ObliqueBoostingRanker(**SETTINGS).fit(frame, y, groups=query)
    values = analysis.shapley_values(model, frame[:5], background=frame)
    assert values.output_name == "prediction"
    assert analysis.importance(model, kind="gini").values.argmax() == 16


def test_errors_of_single_rows_and_commands_are_refused() -> None:
    model, X = _fitted()
    with pytest.raises(ValueError, match="got the relevances of a ranking model"):
        analysis.importance(model, "permutation", X, np.zeros(len(X)), out_of_bag=False)
    with pytest.raises(ValueError, match="got a ranking model"):
        workflow.tasks.task_of(model)
