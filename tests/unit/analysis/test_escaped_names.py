"""Names of features and labels with escape sequences are never shown raw, whatever the result."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueForestClassifier, analysis

NAMES = ["\x1b[31mred", "\x1b[2Jclear", "plain"]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=NAMES)
    y = np.where(X[NAMES[0]] + X[NAMES[1]] > 0, "\x1b]0;title\x07", "no")
    forest = ObliqueForestClassifier(20, projection="sparse", random_state=0, n_jobs=1)
    return forest.fit(X, y), X, y


RESULTS = {
    "partial dependence": lambda f, X, _: analysis.partial_dependence(f, X, (0, 1)),
    "accumulated": lambda f, X, _: analysis.accumulated_local_effects(f, X, [0]),
    "along": lambda f, X, _: analysis.effect_along(f, X, np.ones(3)),
    "interactions": lambda f, X, _: analysis.interactions(f, X, max_rows=20, random_state=0),
    "shapley": lambda f, X, _: analysis.shapley_values(f, X[:3], X, random_state=0),
    "pairs": lambda f, X, _: analysis.shapley_interactions(f, X[:2], X, random_state=0),
    "test": lambda f, X, y: analysis.importance_test(f, X, y, method="janitza", random_state=0),
    "rules": lambda f, X, y: analysis.rule_set(f, X, y),
    "surrogate": lambda f, X, _: analysis.surrogate_tree(f, X),
    "importance": lambda f, X, _: analysis.importance(f, effects_on=X),
    "directions": lambda f, _X, _y: analysis.importance(f, "projection"),
    "calibration": lambda f, X, y: analysis.calibration(f, X, y),
    "path": lambda f, X, _: analysis.path_rules(f, X[:1]),
    "top": lambda f, X, y: analysis.top_rules(f, X, y),
    "tree": lambda f, _X, _y: f.forest_.tree(0),
}


@pytest.mark.filterwarnings("ignore:Janitza")
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_results_show_names_and_labels_escaped(fitted, result):
    found = result(*fitted)
    shown = [str(found), repr(found)]
    if hasattr(found, "_repr_html_"):
        shown.append(found._repr_html_())
    assert not any("\x1b" in text or "\x07" in text for text in shown)
